"""`%mlc_plan`: the words typed, looked up in the notebook, handed to the plan."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.graphs.planning.forecast import Plan, plan
from jupyter_mlgpu.record.errors import UsageError

_HELP = "for example `%mlc_plan model x y`; `%mlc_plan?` explains."


def plan_command(line: str, namespace: Mapping[str, Any]) -> Plan:
    """`%mlc_plan LINE`: the plan to show. Words are names or expressions of the user's."""
    words = _words(line)
    target = "metal"
    if "--target" in words:
        place = words.index("--target")
        if place + 1 == len(words):
            raise UsageError("--target needs a name: metal, metal-community, cuda or mlcompute.")
        target = words[place + 1]
        del words[place : place + 2]
    unknown = next((word for word in words if word.startswith("--")), None)
    if unknown:
        raise UsageError(f"Unknown option {unknown!r} after %mlc_plan: the only one is --target.")
    if not words:
        raise UsageError(f"%mlc_plan needs a model or a function, {_HELP}")
    subject, *inputs = [_value(word, namespace) for word in words]
    return plan(subject, *inputs, target=target)


def _words(line: str) -> list[str]:
    """The words of a line; blanks within brackets or quotes do not part them, commas between do."""
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
    return [one for one in [*words, word] if one]


def _value(word: str, namespace: Mapping[str, Any]) -> Any:
    try:
        code = compile(ast.parse(word, mode="eval"), "<%mlc_plan>", "eval")
    except SyntaxError:
        raise UsageError(f"{word!r} after %mlc_plan is not a name or an expression, {_HELP}") from None
    try:
        return eval(code, dict(namespace))  # the user's own words, in the user's own notebook
    except Exception as error:
        raise UsageError(f"{word!r} after %mlc_plan: {type(error).__name__}: {error}.") from None
