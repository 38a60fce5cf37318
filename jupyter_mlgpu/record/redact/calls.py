"""Which calls are given secrets by their place: `login("...")`, `OpenAI("...")`, `"password: %s" % "..."`.

Such arguments are judged as if they were given to a name: `password`, or the text of the format.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator

from jupyter_mlgpu.record.redact import assigned, letters
from jupyter_mlgpu.record.redact.word_pattern import any_of

_OPENS = r"\s{0,2}\("
#: Functions by the end of their names, and clients whose first argument is a key.
_LOGINS = (
    *("login", "signin", "sign_in", "auth", "authenticate", "authenticate_user", "authorize"),
    *("credential", "credentials"),
)
_KEYED = (
    *("fernet", "aesgcm", "aes.new", "openai", "anthropic", "groq", "github", "gitlab", "webclient"),
    *("cohere.client", "replicate.client", "pinecone", "tavilyclient", "sendgridapiclient", "dropbox"),
)
_SETTERS = ("set_token", "set_access_token", "set_api_key", "set_password", "setpassword")
#: `connect(host, user, password)`: its arguments behind the first are hidden, if it has so many.
_CONNECT, _LEAST = "connect", 3

_WORDS = dict.fromkeys((*_LOGINS, *_KEYED, *_SETTERS, _CONNECT), _OPENS)
_BY_NAME = re.compile(
    r"(?:.*\.)?(?:(?!(?:get|load|read|find|has|is|delete)_)\w*"
    rf"(?:{'|'.join(_LOGINS)})|(?:async)?(?:{'|'.join(map(re.escape, _KEYED))})|{'|'.join(_SETTERS)})"
)
# What is put into a text, or follows it.
_PUTS = re.compile(r"%[(\w]|\{|[:=]\s{0,8}\Z")
_BLANKS = re.compile(r"\s+")
#: A format is judged by its beginning.
_FORMAT = 200


@functools.cache
def openings_or_sounds() -> re.Pattern[str]:
    """What begins such a call, or sounds of a secret."""
    sounding = assigned.sounding()
    both = {word: f"(?:{sounding[word]}|{_OPENS})" for word in _WORDS.keys() & sounding.keys()}
    return re.compile(any_of({**sounding, **_WORDS, **both}))


def arguments(call: ast.Call, function: str) -> list[ast.expr]:
    """Return the arguments that are secrets by what the function is; `function` is its name, with dots."""
    name = letters.normalized(function)
    if name.rpartition(".")[2] == _CONNECT:
        return call.args[1:] if sum(map(is_string, call.args)) >= _LEAST else []
    return call.args if _BY_NAME.fullmatch(name) else []


def put_into(node: ast.AST) -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield what is put into a text, or printed behind it: the text as a name, the text, and the value."""
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
    """Whether this is a string, also of bytes or with something computed in it."""
    if isinstance(value, ast.Constant):
        return isinstance(value.value, (str, bytes))
    return type(value).__name__ in ("JoinedStr", "TemplateStr")  # Python 3.14 has the second


def pieces(literal: ast.expr) -> tuple[str, ...]:
    """Return a string's letters, without what is computed in it."""
    parts = getattr(literal, "values", None) or [literal]
    values = [part.value for part in parts if isinstance(part, ast.Constant)]
    return tuple(one.decode("latin-1") if isinstance(one, bytes) else str(one) for one in values)
