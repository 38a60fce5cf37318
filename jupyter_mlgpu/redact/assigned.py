"""Secrets by the name that they are given to: `password = "..."`, `--api-key=...`, `{"key": "..."}`.

What follows a name that sounds of a secret is most often none: `token = tokens[0]`, `password: str`,
`pad_token="[PAD]"`, `key=len`. So a name only asks the question, and what stands there answers it: it is hidden where
it cannot be code, and left where it reads as code, as a word, or as the place of something to come.
"""

from __future__ import annotations

import functools
import re

HIDDEN = "<redacted>"

# By how much their names say. What `_KEYS` and `_TOKENS` hold is longer than a word; a password may be one.
_PASSWORDS = (
    r"passw(?:or)?d|passwort|kennwort|passphrase|passcode|(?<![a-z])pwd|secret(?!ar)|密码|口令|密钥|contraseña"
)
_KEYS = (
    r"(?:api|account|private|signing|encryption|auth|subscription)[ _-]?key|access[_-]?key(?![_-]?id)"
    r"|private-mac|credential|令牌"
)
_TOKENS = r"token(?!s(?![a-z])|i[sz])|signature|(?<![a-z])jwt(?![a-z])"
# Only what looks drawn by chance is a secret under such a name.
_WEAK = r"(?<![a-z])(?:key|auth|sig|session(?:[_-]?id)?|sid|csrf)(?![a-z])"

# The rest of a name, what closes it (`"]`), what gives it a value, and how that is opened.
_GIVEN = (
    r"(?P<rest>[\w-]{0,40}+)(?P<closed>\\{0,3}[\"'`]?\]?)"
    r"(?P<gives>[ \t]{0,8}(?::=|=>|[=:](?![=:])|,(?=[ \t]{0,4}[\"']))[ \t]{0,8})"
    r"(?P<opening>(?:[rbfu]{0,2}(?P<escapes>\\{0,3})(?P<quote>[\"'`])(?:(?P=quote){2})?)?)(?=[^\s\"'`<])"
)
# `--password X`. Between a name and a value of other kinds there is more than a blank.
_FLAG = (
    rf"(?<![\w-])--(?=[\w-]{{0,30}}?(?:{_PASSWORDS}|{_KEYS}|token))([\w-]{{1,60}}+)[ \t]{{1,3}}"
    r"(?![-$<{[(=:|&])([^\s\"'`,;)]+|\"[^\"\n]+\"?|'[^'\n]+'?)"
)

# A name that goes on so says what else stands there: token_type_ids, password_file, secret_name, key_error.
_TAMED = re.compile(
    r"s?[_-]?(?:type|name|id|file|path|dir|url|uri|len|length|count|size|index|idx|mask|embed\w*|class|mode|format|env|"
    r"var|field|prompt|error|func|fn|policy|manager|provider|expir\w*|ttl|label|list|stdin|required|min|max|rate|limit|"
    r"budget|usage|str|string|dtype|shape|pattern|regex|scheme|backend|handler|callback|cls|cache|storage|store|"
    r"kwargs|args|info|level|version|hint|help|text|message)s?\b"
)
_WORDS = frozenset(
    "str string bytes int bool float none null true false any object optional dict list tuple set callable path self "
    "required missing incorrect invalid wrong empty unset expired denied error not is are was the a an of for to with "
    "and or in on from if as must should can will has option flag argument default value values no yes ok failed "
    "options arguments flags parameter parameters field fields password passwd secret token tokens key auth basic bearer undefined unknown hidden prompt text login file".split()
)
# The place of a value, or what a program puts in: "", ***, <token>, {token}, $TOKEN, %s, [PAD], your-key-here.
_PLACE = re.compile(
    r"[\W_]*|[<{$%\[].*|.*\.\.\.|.*\*{3}.*|(?i:(?:your|my|the)[ _-].*|x{4,}|change_?me|placeholder)", re.DOTALL
)
_NUMBER = re.compile(r"(?i)[+-]?[\d_.,:]+(?:e[+-]?\d+)?|0[xo][0-9a-f]+")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_VARIABLE = re.compile(r"[A-Za-z_]+\d{0,2}|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+")
_TOKEN = re.compile(r"[\w.~+/=|:%@!-]+")
_DRAWN = re.compile(r"[A-Za-z0-9]{16,}")
_CHANGES = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_HEADER = re.compile(r"x-.*|.*(?:api-key|private-token|auth-token|access-token|private-mac)")
_NAME = re.compile(r"[\w.-]*\Z")
_SHELL = re.compile(r"(?:\bexport|\benv|\bsetx?|%set_env)\s{1,3}\Z|[?&]\Z")

# A value is judged by its beginning; a secret then goes to its end.
_JUDGED = 400
_UNQUOTED = re.compile(rf"[^\s,;&)}}\]\"'`<>#|]{{1,{_JUDGED}}}")
_UNQUOTED_REST = re.compile(r"[^\s,;&)}\]\"'`<>#|]*")


def hide(text: str) -> str:
    """The text without values that are secrets by their names."""
    lower = _lower(text)
    if "--" in lower:
        text = _without_flags(text, lower)
        lower = _lower(text)
    if not any(mark in lower for mark in "=:,"):
        return text
    pattern = _pattern(_named(any(name in lower for name in _services())))
    parts: list[str] = []
    end = 0
    found = pattern.search(lower)
    while found is not None:
        go_on = found.end()
        stop = _end_of_value(text, found)
        if _is_secret(text, found, text[found.end() : stop]):
            stop = _end_of_secret(text, found)
            parts += [text[end : found.start("opening")], HIDDEN]
            end = go_on = stop
        found = pattern.search(lower, go_on)
    return "".join([*parts, text[end:]]) if parts else text


def _lower(text: str) -> str:
    """The text in small letters, each where it stood: there are letters that become two."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


@functools.cache
def _services() -> tuple[str, ...]:
    from jupyter_mlgpu.redact.published import SERVICES

    return SERVICES


@functools.cache
def _named(with_services: bool) -> str:
    weak = "|".join([_WEAK, *map(re.escape, _services())]) if with_services else _WEAK
    return rf"(?:(?P<password>{_PASSWORDS})|(?P<key>{_KEYS})|(?P<token>{_TOKENS})|(?:{weak})){_GIVEN}"


@functools.cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _end_of_value(text: str, found: re.Match[str]) -> int:
    """Where the beginning of the value that is judged ends."""
    start = found.end()
    if found["quote"]:
        end = _closing(text, found, start + _JUDGED)
        return min(start + _JUDGED, len(text)) if end < 0 else end
    value = _UNQUOTED.match(text, start)
    return value.end() if value else start


def _end_of_secret(text: str, found: re.Match[str]) -> int:
    """Where the whole secret ends, with what closes it."""
    start = found.end()
    if found["quote"]:
        end = _closing(text, found, len(text))
        closing = len(found["opening"].lstrip("rbfu"))
        return len(text) if end < 0 else min(end + closing, len(text))
    rest = _UNQUOTED_REST.match(text, start)
    return rest.end() if rest else start


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


def _is_secret(text: str, found: re.Match[str], value: str) -> bool:
    if found["gives"].lstrip().startswith(",") and not found["closed"]:
        return False
    if not value or _PLACE.fullmatch(value) or value.lower().rstrip(".:?!") in _WORDS:
        return False
    if not (found["password"] or found["key"] or found["token"]) or _TAMED.match(found["rest"]):
        return _looks_drawn(value) or (len(value) >= 6 and _is_weak_secret(text, found, value))
    if found["quote"]:
        return _is_quoted_secret(found, value)
    return _is_bare_secret(text, found, value)


def _looks_drawn(value: str) -> bool:
    """Whether it is long, and letters and digits change as by chance: no word, no number, no date."""
    run = _DRAWN.search(value)
    return run is not None and " " not in value and len(_CHANGES.findall(run[0])) >= 4


def _is_mixed(value: str) -> bool:
    return len(value) >= 6 and any(map(str.isdigit, value)) and any(map(str.isalpha, value))


def _is_weak_secret(text: str, found: re.Match[str], value: str) -> bool:
    """`login(key=...)`, `?key=...`, and `key=` before what is no name of a variable."""
    if "login(" in text[max(found.start() - 80, 0) : found.start()]:
        return bool(found["quote"])
    if found["quote"] or _TAMED.match(found["rest"]):
        return False
    if _is_shell(text, found):
        return not _NUMBER.fullmatch(value) and not value.rstrip(".").isupper()
    if found["gives"] != "=" or text[found.end() + len(value) :][:1] in tuple("([,)"):
        return False
    return len(value) >= 8 and _is_mixed(value) and not _reads_as_code(text, found, value)


def _is_quoted_secret(found: re.Match[str], value: str) -> bool:
    by_comma = found["gives"].lstrip().startswith(",")
    if found["password"] and not by_comma:
        # Prose about a password, not one.
        return value.count(" ") < 4 or _is_mixed(value.replace(" ", ""))
    if not _TOKEN.fullmatch(value) or _NUMBER.fullmatch(value) or _DOTTED.fullmatch(value) or value.startswith(("/", "~", "./")):
        return False
    if _is_mixed(value) and not (by_comma and _VARIABLE.fullmatch(value)):
        return True
    is_name = "_" in value or value.isupper() or "key" in value.lower() or "token" in value.lower()
    return not by_comma and not is_name and len(value) >= (8 if found["key"] else 16)


def _is_bare_secret(text: str, found: re.Match[str], value: str) -> bool:
    if _reads_as_code(text, found, value):
        return False
    if _is_shell(text, found) or _is_header(text, found):
        return len(value) >= 6 or bool(found["password"])
    after = text[found.end() + len(value) :][:1]
    if _looks_drawn(value):
        return True
    if value.isidentifier() and after in (",", ")"):
        return False  # f(password=entered, token=token1)
    if found["password"]:
        return _is_bare_password(text, found, value, after)
    if value.isidentifier() and found["gives"].strip() != found["gives"] and "=" in found["gives"]:
        return False  # signature = spline1d_signature
    return _is_mixed(value) and not _VARIABLE.fullmatch(value)


def _is_bare_password(text: str, found: re.Match[str], value: str, after: str) -> bool:
    if _is_mixed(value):
        return True
    before = text[_start_of_name(text, found) - 1] if _start_of_name(text, found) else ""
    if found["gives"] == "=":  # host=... password=... port=...
        return before in ("", " ", "'", '"', "!", ";") and after in ("", " ", "'", '"', ";", "\n") and len(value) >= 4
    # A line of YAML.
    is_line = before in ("", " ", "\n") and after in ("", "\n") and not text[: found.start()].split("\n")[-1].split()[:-1]
    return ":" in found["gives"] and is_line and value.islower() and len(value) >= 6


def _reads_as_code(text: str, found: re.Match[str], value: str) -> bool:
    """A call, an attribute, an item, a number, a path."""
    after = text[found.end() + len(value) :][:1]
    if "(" in value or "[" in value or _NUMBER.fullmatch(value) or _DOTTED.fullmatch(value):
        return True
    if value.startswith(("/", "~", "./", "../", "\\", "@", "*")):
        return not _looks_drawn(value)
    name = text[_start_of_name(text, found) : found.end("rest")]
    return value.strip("._") in (name, name.rpartition(".")[2]) or after in ("[", "(")


def _start_of_name(text: str, found: re.Match[str]) -> int:
    start = max(found.start() - 40, 0)
    head = _NAME.search(text[start : found.start()])
    return start + (head.start() if head else 0)


def _is_shell(text: str, found: re.Match[str]) -> bool:
    """`export TOKEN=`, `--token=`, `?token=`, and a name in capital letters with the value close to it."""
    start = _start_of_name(text, found)
    name = text[start : found.end("rest")]
    if found["gives"] != "=":
        return False
    return name.startswith("--") or name.isupper() or bool(_SHELL.search(text[max(start - 12, 0) : start]))


def _is_header(text: str, found: re.Match[str]) -> bool:
    name = text[_start_of_name(text, found) : found.end("rest")].lower()
    return ":" in found["gives"] and _HEADER.fullmatch(name) is not None


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
