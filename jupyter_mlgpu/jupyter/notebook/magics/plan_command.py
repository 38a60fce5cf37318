"""`%mlc_plan`: evaluates the words in the notebook and makes the plan."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.graphs.mps.forecast import MpsForecast
from jupyter_mlgpu.graphs.mps.places import MAGIC_LINE
from jupyter_mlgpu.graphs.planning.forecast import Plan, plan
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser
from jupyter_mlgpu.record.sentence import joined, say

_HELP = say(
    "For example `%mlc_plan model x y --target cuda`. Targets are metal, metal-community, "
    "cuda, mlcompute and mps; `%mlc_plan?` explains."
)


def plan_command(line: str, namespace: Mapping[str, Any]) -> Plan | MpsForecast:
    """Run `%mlc_plan LINE` and return the plan to show. Words are names or expressions of the user's."""
    parser = magic_parser("%mlc_plan", _HELP)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--target", default="metal")
    arguments = parser.parse_line(_words(line))
    if not arguments.words:
        raise UsageError(joined(say("%mlc_plan needs a model or a function."), _HELP))
    subject, *inputs = [one for word in arguments.words for one in _values(word, namespace)]
    target: str = arguments.target
    return plan(subject, *inputs, target=target)


def _words(line: str) -> list[str]:
    """Split a line into words at blanks and commas, but not within brackets or quotes."""
    words, word, depth, quote = [], "", 0, ""
    for letter in line:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif depth == 0 and (letter.isspace() or letter == ","):
            words.append(word)
            word = ""
            continue
        word += letter
    return [word for word in [*words, word] if word]


def _values(word: str, namespace: Mapping[str, Any]) -> list[Any]:
    """Return a word's value, the items of `*word`, or the dictionary of `**word`."""
    expression = word.lstrip("*")
    stars = len(word) - len(expression)
    value = _value(expression, namespace)
    if stars == 1:
        try:
            return [*value]
        except TypeError:
            kind = type(value).__name__
            raise UsageError(
                say(
                    "{word} after %mlc_plan: an object of type {kind} has no items.",
                    word=repr(word),
                    kind=kind,
                )
            ) from None
    return [value]


def _value(word: str, namespace: Mapping[str, Any]) -> Any:
    try:
        code = compile(ast.parse(word, mode="eval"), MAGIC_LINE, "eval")
    except SyntaxError:
        wrong = say(
            "{word} after %mlc_plan is not a name or an expression: put one with blanks in brackets.",
            word=repr(word),
        )
        raise UsageError(joined(wrong, _HELP)) from None
    try:
        return eval(code, dict(namespace))  # the user's own expression in the user's own notebook
    except NameError as error:
        if error.name == word:
            raise UsageError(
                say("{word} after %mlc_plan is not defined: run the cell that makes it.", word=repr(word))
            ) from None
        raise _failed(word, error) from None
    except Exception as error:
        raise _failed(word, error) from None


def _failed(word: str, error: Exception) -> UsageError:
    kind, text = type(error).__name__, str(error).partition("\n")[0].rstrip(".")
    wrong = say("{word} after %mlc_plan: {kind}: {error}.", word=repr(word), kind=kind, error=text)
    if not any(one in text for one in ("CUDA", "NVIDIA", "MPS backend")):
        return UsageError(wrong)
    advice = say(
        "To plan what needs a GPU to be made, make it in a function, and plan that: there it is made without."
    )
    return UsageError(joined(wrong, advice))
