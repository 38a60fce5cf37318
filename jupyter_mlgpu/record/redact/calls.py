"""Finds arguments that are secrets by their position.

Examples are `login("...")`, `OpenAI("...")` and `"password: %s" % "..."`. Such arguments are judged as if
they were assigned to the name `password`, or to the text of the format string.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from jupyter_mlgpu.record.redact import assigned, letters
from jupyter_mlgpu.record.redact.patterns import any_of

_OPENS = r"\s{0,2}\("
#: Functions, by the end of their names, and clients whose first argument is a key.
_LOGINS = (
    *("login", "signin", "sign_in", "auth", "authenticate", "authenticate_user", "authorize"),
    *("credential", "credentials"),
)
_KEYED = (
    *("fernet", "aesgcm", "aes.new", "openai", "anthropic", "groq", "github", "gitlab", "webclient"),
    *("cohere.client", "replicate.client", "pinecone", "tavilyclient", "sendgridapiclient", "dropbox"),
)
_SETTERS = ("set_token", "set_access_token", "set_api_key", "set_password", "setpassword")
#: `connect(host, user, password)`: if it has at least three strings, all after the first are candidates.
_CONNECT, _LEAST = "connect", 3

_WORDS = dict.fromkeys((*_LOGINS, *_KEYED, *_SETTERS, _CONNECT), _OPENS)
_BY_NAME = re.compile(
    r"(?:.*\.)?(?:(?!(?:get|load|read|find|has|is|delete)_)\w*"
    rf"(?:{'|'.join(_LOGINS)})|(?:async)?(?:{'|'.join(map(re.escape, _KEYED))})|{'|'.join(_SETTERS)})"
)
# A placeholder for a value in a text, or the end of a text that a value follows.
_PUTS = re.compile(r"%[(\w]|\{|[:=]\s{0,8}\Z")
_BLANKS = re.compile(r"\s+")
#: Characters of a format string that are judged.
_FORMAT = 200


@functools.cache
def openings_or_sounds() -> re.Pattern[str]:
    """Return a pattern for the beginning of such a call and for suspicious words."""
    sounding = assigned.suspicious_words()
    both = {word: f"(?:{sounding[word]}|{_OPENS})" for word in _WORDS.keys() & sounding.keys()}
    return re.compile(any_of({**sounding, **_WORDS, **both}))


def arguments(call: ast.Call, function: str) -> list[ast.expr]:
    """Return the arguments that are secrets because of the function. `function` is its dotted name."""
    name = letters.normalized(function)
    if name.rpartition(".")[2] == _CONNECT:
        return call.args[1:] if sum(map(is_string, call.args)) >= _LEAST else []
    return call.args if _BY_NAME.fullmatch(name) else []


def put_into(node: ast.AST) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield each value formatted into a text or printed after it: the text as a name, the text, the value."""
    text, values = _format(node)
    if text is not None and values:
        written = "".join(pieces(text))[:_FORMAT]
        if _PUTS.search(written):
            name = _BLANKS.sub("_", written)
            yield from ((name, text, value) for value in values)


def _format(node: ast.AST) -> tuple[ast.expr | None, list[ast.expr]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_string(node.left):
        return node.left, [node.right]
    if isinstance(node, ast.Call):
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr == "format" and is_string(function.value):
            return function.value, [*node.args, *(one.value for one in node.keywords)]
        if node.args and is_string(node.args[0]):
            return node.args[0], node.args[1:]
    return None, []


def is_string(value: ast.expr) -> bool:
    """Return True if this is a string, a bytes literal or a formatted string."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (str, bytes))
    return type(value).__name__ in ("JoinedStr", "TemplateStr")  # TemplateStr is new in Python 3.14


def pieces(literal: ast.expr) -> tuple[str, ...]:
    """Return a string's constant parts, without the computed ones."""
    parts = getattr(literal, "values", None) or [literal]
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return tuple(one.decode("latin-1") if isinstance(one, bytes) else str(one) for one in values)
