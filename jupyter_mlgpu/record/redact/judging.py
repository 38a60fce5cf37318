"""Decides if a value assigned to a suspicious name is a secret.

In most cases it is not: `token = tokens[0]`, `password: str`, `pad_token="[PAD]"`, `key=len`. A value is
hidden if it cannot be code. It is left if it reads as code, as a word, or as a placeholder. A value that
could be an ordinary word is hidden only after `password`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Names with such an ending hold something else: token_type_ids, password_file, secret_name, key_error.
_TAMED = re.compile(
    r"(?:passw(?:or)?d|passphrase|secret|key|credential|token|signature|auth|session)s?[_-]?"
    r"(?:type|name|id|file|path|dir|url|uri|len|length|count|size|index|idx|mask|embed\w*|class|mode|format|env|var|"
    r"field|prompt|error|func|fn|policy|manager|provider|expir\w*|ttl|label|list|stdin|required|min|max|rate|limit|"
    r"budget|usage|str|string|dtype|shape|pattern|regex|scheme|backend|handler|callback|cls|cache|storage|store|"
    r"kwargs|args|info|level|version|hint|help|text|message)s?\b"
)
_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
    str string bytes int bool float none null true false any object optional dict list tuple set
    callable path self required missing incorrect invalid wrong empty unset expired denied error not is
    are was the a an of for to with and or in on from if as must should can will has option options flag
    flags argument arguments parameter parameters field fields default value values no yes ok failed
    password passwd secret token tokens key auth basic bearer undefined unknown hidden prompt text login
    file
        """,
    )
)
# A placeholder, or a value that a program fills in: "", ***, <token>, {token}, $TOKEN, %s, [PAD],
# your-key-here.
_PLACE = re.compile(
    r"[\W_]*|<[^<>]*>?|\{[^{}]*\}*|\$\{\w*\}?|\$(?:[A-Z_]+|[a-z_]+)|%\(?\w*\)?s|\[[A-Z\d_]*\]?|.*\.\.\.|.*\*{3}.*"
    r"|(?i:your[ _-].*|x{4,}|change_?me|placeholder)",
    re.DOTALL,
)
_NUMBER = re.compile(r"(?i)[+-]?[\d_.,:]+(?:e[+-]?\d+)?|0[xo][0-9a-f]+")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_VARIABLE = re.compile(r"[A-Za-z_]+\d{0,2}|[a-z]+(?:_[a-z0-9]+)+|[A-Z]+(?:_[A-Z0-9]+)+")
_TOKEN = re.compile(r"[\w.~+/=|:%@!-]+")
_RANDOM = re.compile(r"[A-Za-z0-9]{16,}")
_FILE = re.compile(r"[\w./~-]+\.[a-z]{2,5}")
_CHANGES = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_HEADER = re.compile(r"x-.*|.*(?:api-key|private-token|auth-token|access-token|private-mac)")
# An assignment to an environment variable, or to a service that keeps secrets.
_SETS = re.compile(r"(?:environ\[|setdefault\(|putenv\(|setenv\(|set_secret\()\s{0,4}[\"']\Z")
_SHELL = re.compile(r"(?:\bexport|\benv|\bsetx?|%set_env)\s{1,3}\Z|[?&]\Z")


class AssignedValue(NamedTuple):
    """A value and its context. `before` and `after` are the text around the assignment."""

    name: str
    #: The text that assigns the value: `=`, `: `, ` = `, `,`; or `(` if a call converts it first.
    gives: str
    #: `password`, `key`, `token`, or None for a less specific name.
    sounds: str | None
    text: str
    is_quoted: bool
    before: str
    after: str


def is_secret(value: AssignedValue) -> bool:
    """Return True if this value is a secret."""
    text = value.text
    if value.sounds is None and len(text) < 6:
        return False
    if not text or text.lower().rstrip(".:?!") in _WORDS or _PLACE.fullmatch(text):
        return False
    if value.gives == "(":
        return _is_passed_secret(value)
    if value.sounds is None or _TAMED.search(value.name.lower()):
        return _looks_random(text) or _is_weak_secret(value)
    return _is_quoted_secret(value) if value.is_quoted else _is_bare_secret(value)


def _looks_random(text: str) -> bool:
    """Return True if a text looks random: long, with many changes between letters and digits.

    Words, numbers and dates do not look random.
    """
    run = _RANDOM.search(text)
    return run is not None and " " not in text and len(_CHANGES.findall(run[0])) >= 4


def _is_passed_secret(value: AssignedValue) -> bool:
    """Return True for a secret, False for what a call looks up or opens.

    Examples of the latter are getenv("HF_TOKEN") and open("key-2.txt").
    """
    text = value.text
    if value.sounds is None or _TAMED.search(value.name.lower()):
        return _looks_random(text)
    if not _TOKEN.fullmatch(text) or _FILE.fullmatch(text) or _VARIABLE.fullmatch(text):
        return False
    return len(text) >= 8 and len(_CHANGES.findall(text)) >= 2 and not text.startswith(("/", "~", "./"))


def _is_mixed(text: str, least: int = 6) -> bool:
    return len(text) >= least and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_weak_secret(value: AssignedValue) -> bool:
    """Return True for `login(key=...)`, `?key=...`, and `key=` before something else than a variable."""
    if "login(" in value.before and value.is_quoted:
        return True
    if len(value.text) < 6 or value.is_quoted or _TAMED.search(value.name.lower()):
        return False
    if _is_shell(value):
        return not _NUMBER.fullmatch(value.text) and not value.text.rstrip(".").isupper()
    if value.gives != "=" or value.after in ("(", "[", ",", ")"):
        return False
    return len(value.text) >= 8 and _is_mixed(value.text) and not _reads_as_code(value)


def _is_quoted_secret(value: AssignedValue) -> bool:
    text, by_comma = value.text, value.gives.strip(" \t\\\"'`]") == "," and not _SETS.search(value.before)
    if "login(" in value.before or _SETS.search(value.before):
        return True
    if value.sounds == "password" and not by_comma:
        if text.startswith(("/", "~/", "./")) and text.count("/") > 1:
            return False  # pwd = "/data/x"
        if text.startswith(("http://", "https://")):
            return False  # login("https://hub.example.org"); a secret in a URL is found by its form
        # Prose about a password is not a secret.
        return text.count(" ") < 4 or _is_mixed(text.replace(" ", ""))
    if not _TOKEN.fullmatch(text) or _NUMBER.fullmatch(text) or _DOTTED.fullmatch(text):
        return False
    if text.startswith(("/", "~", "./")):
        return False
    if _is_mixed(text, 3 if value.sounds == "key" else 6) and not (by_comma and _VARIABLE.fullmatch(text)):
        return True
    is_name = "_" in text or text.isupper() or "key" in text.lower() or "token" in text.lower()
    return not by_comma and not is_name and len(text) >= (8 if value.sounds == "key" else 16)


def _is_bare_secret(value: AssignedValue) -> bool:
    text = value.text
    if _reads_as_code(value):
        return False
    if _is_shell(value) or _is_header(value):
        return len(text) >= 4 or value.sounds == "password" or _is_header(value)
    if _looks_random(text):
        return True
    if text.isidentifier() and value.after in (",", ")"):
        return False  # f(password=entered, token=token1)
    if value.sounds == "password":
        return _is_mixed(text) or _is_bare_word(value)
    if text.isidentifier() and "=" in value.gives and value.gives.strip() != value.gives:
        return False  # signature = spline1d_signature
    if value.sounds == "key" and len(text) >= 6 and not text.isidentifier() and value.gives == "=":
        return True
    if value.sounds == "key" and len(text) >= 8 and _is_line(value) and text.islower():
        return True
    return _is_mixed(text) and (value.gives == "=" or not _VARIABLE.fullmatch(text))


def _is_bare_word(value: AssignedValue) -> bool:
    """Return True for a password that is a word: `host=... password=... port=...`, or a line of YAML."""
    before = value.before[-1:]
    if value.gives == "=":
        begins, ends = before in ("", " ", "'", '"', "!", ";"), value.after in ("", " ", "'", '"', ";", "\n")
        return begins and ends and len(value.text) >= 4
    return _is_line(value) and value.text.islower() and len(value.text) >= 6


def _is_line(value: AssignedValue) -> bool:
    """Return True if `name: value` is a line of its own, as in YAML."""
    is_first = not value.before.rpartition("\n")[2].strip(" -")
    return value.gives.startswith(":") and is_first and value.after in ("", "\n")


def _reads_as_code(value: AssignedValue) -> bool:
    """Return True for a call, an attribute, an item, a number, a path, or the name again."""
    text = value.text
    if (
        "(" in text
        or "[" in text
        or value.after in ("(", "[")
        or _NUMBER.fullmatch(text)
        or _DOTTED.fullmatch(text)
    ):
        return True
    if text.startswith(("/", "~", "./", "../", "\\", "@", "*")):
        return not _looks_random(text)
    return text.strip("._") in (value.name, value.name.rpartition(".")[2])


def _is_shell(value: AssignedValue) -> bool:
    """Return True for `export TOKEN=`, `--token=`, `?token=`, and for a name in capitals before `=`."""
    if value.gives != "=":
        return False
    if value.name.startswith("--") or value.name.isupper() or "XLA_FLAGS" in value.before:
        return True
    return bool(_SHELL.search(value.before[-12:]))


def _is_header(value: AssignedValue) -> bool:
    return ":" in value.gives and _HEADER.fullmatch(value.name.lower()) is not None


def is_flags_secret(name: str, value: str) -> bool:
    """Return True if the value after `--name ` in a command is a secret."""
    bare = value.strip("'\"")
    # --token TOKEN, --password is required
    is_place = bare.isupper() and bare.replace("_", "").isalpha()
    return not (
        is_place or _PLACE.fullmatch(bare) or bare.lower().rstrip(".:") in _WORDS or _TAMED.search(name)
    )


def is_environments_secret(name: str, sounds: str | None, value: str) -> bool:
    """Return True if a value of an environment variable, with its quotes, is a secret."""
    bare = value.strip().strip("'\"")
    if not bare or bare.lower().rstrip(".:?!") in _WORDS or _PLACE.fullmatch(bare):
        return False
    if value.startswith(("$(", '"$(', "`", "/", "~", "./")) or _TAMED.search(name):
        return _looks_random(bare)
    if _NUMBER.fullmatch(bare):
        return sounds == "password" and len(bare) >= 4
    if sounds is None:
        return len(bare) >= 6 and " " not in bare and not bare.rstrip(".").isupper()
    return len(bare) >= 4 or sounds == "password"
