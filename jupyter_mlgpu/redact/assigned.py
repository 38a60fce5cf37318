"""Secrets by the name that they are given to: `password = "..."`, `--api-key=...`, `{"key": "..."}`.

What follows a name that sounds of a secret is most often none: `token = tokens[0]`, `password: str`,
`pad_token="[PAD]"`, `key=len`. So a name only asks the question, and what stands there answers it: it is hidden where
it cannot be code, and left where it reads as code, as a word, or as the place of something to come.
"""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

from jupyter_mlgpu.redact.words import any_of

HIDDEN = "<redacted>"

# What a name has in it that sounds of a secret, and what must stand behind it, by how much it says. A password may be a
# word; keys and tokens are longer.
_PASSWORDS = {
    **dict.fromkeys(("password", "passwd", "passwort", "kennwort", "passphrase", "passcode", "contraseña"), ""),
    **dict.fromkeys(("密码", "口令", "密钥"), ""),
    "secret": "(?!ar)",
    "pwd": "(?<![a-z]pwd)",
}
_KEYS = {
    **{
        f"{which}{mark}key": ""
        for which in ("api", "account", "private", "signing", "encryption", "auth", "subscription")
        for mark in ("", "_", "-")
    },
    **{f"access{mark}key": "(?![_-]?id)" for mark in ("", "_", "-")},
    **dict.fromkeys(("private-mac", "credential", "令牌"), ""),
}
_TOKENS = {"token": "(?!s(?![a-z])|i[sz])", "signature": "", "jwt": "(?<![a-z]jwt)(?![a-z])"}
# Only what looks drawn by chance is a secret under such a name, and under that of a service.
_WEAK = {
    word: rf"(?<![a-z]{word})(?![a-z])"
    for word in ("key", "auth", "sig", "sid", "csrf", "session", "sessionid", "session_id", "session-id")
}

# A whole name, what closes it (`"]`), and what gives it a value. That the name sounds of a secret is asked last, for
# most names are followed by something else.
_NAME = r"[\w.-]{2,80}+"
_GIVES = r"\\{0,3}[\"'`]?\]?[ \t]{0,8}(?::=|=>|[=:：](?![=:])|(?<=[\"'`]),(?=[ \t]{0,4}[\"']))[ \t]{0,8}"
_OPENING = r"(?P<opening>(?:[rbfu]{0,2}(?P<escapes>\\{0,3})(?P<quote>[\"'`])(?:(?P=quote){2})?)?)(?=[^\s\"'`<])"

# `--password X`. Between a name and a value of other kinds there is more than a blank.
_FLAG = (
    rf"(?<![\w-])--(?=[\w-]{{0,30}}?{any_of({**_PASSWORDS, **_KEYS, 'token': ''})})([\w-]{{1,60}}+)[ \t]{{1,3}}"
    r"(?![-$<{[(=:|&])([^\s\"'`,;)]+|\"[^\"\n]+\"?|'[^'\n]+'?)"
)

# A name that goes on so says what else stands there: token_type_ids, password_file, secret_name, key_error.
_TAMED = re.compile(
    r"(?:passw(?:or)?d|passphrase|secret|key|credential|token|signature|auth|session)s?[_-]?"
    r"(?:type|name|id|file|path|dir|url|uri|len|length|count|size|index|idx|mask|embed\w*|class|mode|format|env|var|"
    r"field|prompt|error|func|fn|policy|manager|provider|expir\w*|ttl|label|list|stdin|required|min|max|rate|limit|"
    r"budget|usage|str|string|dtype|shape|pattern|regex|scheme|backend|handler|callback|cls|cache|storage|store|"
    r"kwargs|args|info|level|version|hint|help|text|message)s?\b"
)
_WORDS = frozenset(
    "str string bytes int bool float none null true false any object optional dict list tuple set callable path self "
    "required missing incorrect invalid wrong empty unset expired denied error not is are was the a an of for to with "
    "and or in on from if as must should can will has option options flag flags argument arguments parameter "
    "parameters field fields default value values no yes ok failed password passwd secret token tokens key auth basic "
    "bearer undefined unknown hidden prompt text login file".split()
)
# The place of a value, or what a program puts in: "", ***, <token>, {token}, $TOKEN, %s, [PAD], your-key-here.
_PLACE = re.compile(
    r"[\W_]*|<[^<>]*>?|\{[^{}]*\}*|\$\{\w*\}?|\$(?:[A-Z_]+|[a-z_]+)|%\(?\w*\)?s|\[[A-Z\d_]*\]?|.*\.\.\.|.*\*{3}.*"
    r"|(?i:your[ _-].*|x{4,}|change_?me|placeholder)",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?i)[+-]?[\d_.,:]+(?:e[+-]?\d+)?|0[xo][0-9a-f]+")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_VARIABLE = re.compile(r"[A-Za-z_]+\d{0,2}|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+")
_TOKEN = re.compile(r"[\w.~+/=|:%@!-]+")
_DRAWN = re.compile(r"[A-Za-z0-9]{16,}")
_CHANGES = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_HEADER = re.compile(r"x-.*|.*(?:api-key|private-token|auth-token|access-token|private-mac)")
_SHELL = re.compile(r"(?:\bexport|\benv|\bsetx?|%set_env)\s{1,3}\Z|[?&]\Z")

# A value is judged by its beginning; a secret then goes to its end.
_JUDGED = 100
_MOST_JUDGED = 500
_LONG = 2_000
_BARE = r"[^\s,;&)}\]\"'`<>#|]"
_BARE_BEGINNING = re.compile(rf"{_BARE}{{1,{_JUDGED}}}")
_BARE_REST = re.compile(rf"{_BARE}*")


class _Value(NamedTuple):
    """A value and where it stands. `before` and `after` are what stands around the assignment."""

    name: str
    #: What gives the value: `=`, `: `, ` = `, `,`.
    gives: str
    #: `password`, `key`, `token`, or None for a name that says little.
    sounds: str | None
    text: str
    is_quoted: bool
    before: str
    after: str


def hide(text: str) -> str:
    """The text without values that are secrets by their names."""
    lower = _lower(text)
    if "--" in lower:
        text = _without_flags(text, lower)
        lower = _lower(text)
    if not any(mark in lower for mark in "=:,："):
        return text
    # In a long text, looking for each of them takes longer than the pattern does.
    if len(lower) > _LONG or any(map(lower.__contains__, _sounds())):
        return _without_values(text, lower, _assigned())
    return text


def _without_values(text: str, lower: str, pattern: re.Pattern[str]) -> str:
    parts: list[str] = []
    end = judged = 0
    found = pattern.search(lower)
    while found is not None:
        judged += 1
        if judged > _MOST_JUDGED:
            # No ordinary text has so many, and judging takes time: what is left of it goes as it is.
            return "".join([*parts, text[end : found.start("opening")], HIDDEN])
        go_on = found.end()
        if _is_secret(_value(text, found)):
            parts += [text[end : found.start("opening")], HIDDEN]
            end = go_on = _end_of_secret(text, found)
        found = pattern.search(lower, go_on)
    return "".join([*parts, text[end:]]) if parts else text


def _lower(text: str) -> str:
    """The text in small letters, each where it stood: of all letters, one becomes two."""
    return text.replace("\u0130", "i").lower()


@functools.cache
def _sounds() -> dict[str, str]:
    from jupyter_mlgpu.redact.published import SERVICES

    return {**dict.fromkeys(SERVICES, ""), **_WEAK, **_TOKENS, **_KEYS, **_PASSWORDS}


@functools.cache
def _assigned() -> re.Pattern[str]:
    name_last = rf"(?=[\w.-]{{0,76}}?{any_of(_sounds())})"
    return re.compile(rf"(?<![\w.-])(?={_NAME}{_GIVES}){name_last}(?P<name>{_NAME})(?P<gives>{_GIVES}){_OPENING}")


@functools.cache
def _kinds() -> dict[str, re.Pattern[str]]:
    kinds = {"password": _PASSWORDS, "key": _KEYS, "token": _TOKENS}
    return {kind: re.compile(any_of(words)) for kind, words in kinds.items()}


def _sound(name: str) -> str | None:
    """`password`, `key` or `token`, None for a name that says less."""
    return next((kind for kind, pattern in _kinds().items() if pattern.search(name)), None)


@functools.cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _value(text: str, found: re.Match[str]) -> _Value:
    start = found.end()
    if found["quote"]:
        end = _closing(text, found, start + _JUDGED)
        end = min(start + _JUDGED, len(text)) if end < 0 else end
    else:
        value = _BARE_BEGINNING.match(text, start)
        end = value.end() if value else start
    before = text[max(found.start() - 80, 0) : found.start()]
    name = text[found.start("name") : found.end("name")]
    return _Value(name, found["gives"], _sound(found["name"]), text[start:end], bool(found["quote"]), before, text[end : end + 1])


def _end_of_secret(text: str, found: re.Match[str]) -> int:
    """Where the whole secret ends, with what closes it."""
    if found["quote"]:
        end = _closing(text, found, len(text))
        return len(text) if end < 0 else end + len(found["opening"].lstrip("rbfu"))
    rest = _BARE_REST.match(text, found.end())
    return rest.end() if rest else found.end()


def _closing(text: str, found: re.Match[str], limit: int) -> int:
    """Where what closes this opening stands, -1 where it does not up to there."""
    mark = found["opening"].lstrip("rbfu")
    end = text.find(mark, found.end(), limit)
    while end > 0 and not found["escapes"] and _is_escaped(text, end):
        end = text.find(mark, end + 1, limit)
    return end


def _is_escaped(text: str, at: int) -> bool:
    before = text[max(at - 16, 0) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _is_secret(value: _Value) -> bool:
    text = value.text
    if value.sounds is None and len(text) < 6:
        return False
    if not text or text.lower().rstrip(".:?!") in _WORDS or _PLACE.fullmatch(text):
        return False
    if value.sounds is None or _TAMED.search(value.name.lower()):
        return _looks_drawn(text) or _is_weak_secret(value)
    return _is_quoted_secret(value) if value.is_quoted else _is_bare_secret(value)


def _looks_drawn(text: str) -> bool:
    """Whether it is long, and letters and digits change as by chance: no word, no number, no date."""
    run = _DRAWN.search(text)
    return run is not None and " " not in text and len(_CHANGES.findall(run[0])) >= 4


def _is_mixed(text: str) -> bool:
    return len(text) >= 6 and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_weak_secret(value: _Value) -> bool:
    """`login(key=...)`, `?key=...`, and `key=` before what is no name of a variable."""
    if "login(" in value.before and value.is_quoted:
        return True
    if len(value.text) < 6 or value.is_quoted or _TAMED.search(value.name.lower()):
        return False
    if _is_shell(value):
        return not _NUMBER.fullmatch(value.text) and not value.text.rstrip(".").isupper()
    if value.gives != "=" or value.after in ("(", "[", ",", ")"):
        return False
    return len(value.text) >= 8 and _is_mixed(value.text) and not _reads_as_code(value)


def _is_quoted_secret(value: _Value) -> bool:
    text, by_comma = value.text, value.gives.strip(" \t\\\"'`]") == ","
    if value.sounds == "password" and not by_comma:
        # Prose about a password is none.
        return text.count(" ") < 4 or _is_mixed(text.replace(" ", ""))
    if not _TOKEN.fullmatch(text) or _NUMBER.fullmatch(text) or _DOTTED.fullmatch(text):
        return False
    if text.startswith(("/", "~", "./")):
        return False
    if _is_mixed(text) and not (by_comma and _VARIABLE.fullmatch(text)):
        return True
    is_name = "_" in text or text.isupper() or "key" in text.lower() or "token" in text.lower()
    return not by_comma and not is_name and len(text) >= (8 if value.sounds == "key" else 16)


def _is_bare_secret(value: _Value) -> bool:
    text = value.text
    if _reads_as_code(value):
        return False
    if _is_shell(value) or _is_header(value):
        return len(text) >= 6 or value.sounds == "password"
    if _looks_drawn(text):
        return True
    if text.isidentifier() and value.after in (",", ")"):
        return False  # f(password=entered, token=token1)
    if value.sounds == "password":
        return _is_mixed(text) or _is_bare_word(value)
    if text.isidentifier() and "=" in value.gives and value.gives.strip() != value.gives:
        return False  # signature = spline1d_signature
    return _is_mixed(text) and not _VARIABLE.fullmatch(text)


def _is_bare_word(value: _Value) -> bool:
    """A password that is a word: `host=... password=... port=...`, or a line of YAML."""
    before = value.before[-1:]
    if value.gives == "=":
        begins, ends = before in ("", " ", "'", '"', "!", ";"), value.after in ("", " ", "'", '"', ";", "\n")
        return begins and ends and len(value.text) >= 4
    is_line = not value.before.rpartition("\n")[2].strip(" -") and value.after in ("", "\n")
    return value.gives.startswith(":") and is_line and value.text.islower() and len(value.text) >= 6


def _reads_as_code(value: _Value) -> bool:
    """A call, an attribute, an item, a number, a path, or the name again."""
    text = value.text
    if "(" in text or "[" in text or value.after in ("(", "[") or _NUMBER.fullmatch(text) or _DOTTED.fullmatch(text):
        return True
    if text.startswith(("/", "~", "./", "../", "\\", "@", "*")):
        return not _looks_drawn(text)
    return text.strip("._") in (value.name, value.name.rpartition(".")[2])


def _is_shell(value: _Value) -> bool:
    """`export TOKEN=`, `--token=`, `?token=`, and a name in capital letters with the value close to it."""
    if value.gives != "=":
        return False
    return value.name.startswith("--") or value.name.isupper() or bool(_SHELL.search(value.before[-12:]))


def _is_header(value: _Value) -> bool:
    return ":" in value.gives and _HEADER.fullmatch(value.name.lower()) is not None


def _without_flags(text: str, lower: str) -> str:
    """The text without what follows `--password` in any case."""
    parts, end = [], 0
    for found in _pattern(_FLAG).finditer(lower):
        if _is_flags_secret(found[1], text[found.start(2) : found.end(2)]):
            parts += [text[end : found.start(2)], HIDDEN]
            end = found.end(2)
    return "".join([*parts, text[end:]])


def _is_flags_secret(name: str, value: str) -> bool:
    bare = value.strip("'\"")
    # --token TOKEN, --password is required
    is_place = bare.isupper() and bare.replace("_", "").isalpha()
    return not (is_place or _PLACE.fullmatch(bare) or bare.lower().rstrip(".:") in _WORDS or _TAMED.search(name))
