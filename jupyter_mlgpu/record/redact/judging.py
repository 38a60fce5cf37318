"""Whether what is given to a name that sounds of a secret is one.

Most often it is none: `token = tokens[0]`, `password: str`, `pad_token="[PAD]"`, `key=len`. It is hidden
where it cannot be code, and left where it reads as code, as a word, or as the place of something to come.
What a word of a language could be is hidden after `password` only.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# A name that goes on so says what else stands there: token_type_ids, password_file, secret_name, key_error.
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
# The place of a value, or what a program puts in: "", ***, <token>, {token}, $TOKEN, %s, [PAD],
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
_DRAWN = re.compile(r"[A-Za-z0-9]{16,}")
_FILE = re.compile(r"[\w./~-]+\.[a-z]{2,5}")
_CHANGES = re.compile(r"[A-Za-z](?=\d)|\d(?=[A-Za-z])")
_HEADER = re.compile(r"x-.*|.*(?:api-key|private-token|auth-token|access-token|private-mac)")
# A variable of the environment, or of a service that keeps secrets.
_SETS = re.compile(r"(?:environ\[|setdefault\(|putenv\(|setenv\(|set_secret\()\s{0,4}[\"']\Z")
_SHELL = re.compile(r"(?:\bexport|\benv|\bsetx?|%set_env)\s{1,3}\Z|[?&]\Z")


class AssignedValue(NamedTuple):
    """A value and where it stands. `before` and `after` are what stands around the assignment."""

    name: str
    #: What gives the value: `=`, `: `, ` = `, `,`; `(` where a call makes of it what the name is given.
    gives: str
    #: `password`, `key`, `token`, or None for a name that says little.
    sounds: str | None
    text: str
    is_quoted: bool
    before: str
    after: str


def is_secret(value: AssignedValue) -> bool:
    """Whether this value is a secret."""
    text = value.text
    if value.sounds is None and len(text) < 6:
        return False
    if not text or text.lower().rstrip(".:?!") in _WORDS or _PLACE.fullmatch(text):
        return False
    if value.gives == "(":
        return _is_passed_secret(value)
    if value.sounds is None or _TAMED.search(value.name.lower()):
        return _looks_drawn(text) or _is_weak_secret(value)
    return _is_quoted_secret(value) if value.is_quoted else _is_bare_secret(value)


def _looks_drawn(text: str) -> bool:
    """Whether it is long, and letters and digits change as by chance: no word, no number, no date."""
    run = _DRAWN.search(text)
    return run is not None and " " not in text and len(_CHANGES.findall(run[0])) >= 4


def _is_passed_secret(value: AssignedValue) -> bool:
    """Whether it is one, and not what a call looks up or opens: getenv("HF_TOKEN"), open("key-2.txt")."""
    text = value.text
    if value.sounds is None or _TAMED.search(value.name.lower()):
        return _looks_drawn(text)
    if not _TOKEN.fullmatch(text) or _FILE.fullmatch(text) or _VARIABLE.fullmatch(text):
        return False
    return len(text) >= 8 and len(_CHANGES.findall(text)) >= 2 and not text.startswith(("/", "~", "./"))


def _is_mixed(text: str, least: int = 6) -> bool:
    return len(text) >= least and any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def _is_weak_secret(value: AssignedValue) -> bool:
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


def _is_quoted_secret(value: AssignedValue) -> bool:
    text, by_comma = value.text, value.gives.strip(" \t\\\"'`]") == "," and not _SETS.search(value.before)
    if "login(" in value.before or _SETS.search(value.before):
        return True
    if value.sounds == "password" and not by_comma:
        if text.startswith(("/", "~/", "./")) and text.count("/") > 1:
            return False  # pwd = "/data/x"
        if text.startswith(("http://", "https://")):
            return False  # login("https://hub.example.org"); what is secret in it has a form
        # Prose about a password is none.
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
    if _looks_drawn(text):
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
    """A password that is a word: `host=... password=... port=...`, or a line of YAML."""
    before = value.before[-1:]
    if value.gives == "=":
        begins, ends = before in ("", " ", "'", '"', "!", ";"), value.after in ("", " ", "'", '"', ";", "\n")
        return begins and ends and len(value.text) >= 4
    return _is_line(value) and value.text.islower() and len(value.text) >= 6


def _is_line(value: AssignedValue) -> bool:
    """Whether `name: value` is a line by itself, as in YAML."""
    is_first = not value.before.rpartition("\n")[2].strip(" -")
    return value.gives.startswith(":") and is_first and value.after in ("", "\n")


def _reads_as_code(value: AssignedValue) -> bool:
    """A call, an attribute, an item, a number, a path, or the name again."""
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
        return not _looks_drawn(text)
    return text.strip("._") in (value.name, value.name.rpartition(".")[2])


def _is_shell(value: AssignedValue) -> bool:
    """`export TOKEN=`, `--token=`, `?token=`, and a name in capital letters with the value close to it."""
    if value.gives != "=":
        return False
    if value.name.startswith("--") or value.name.isupper() or "XLA_FLAGS" in value.before:
        return True
    return bool(_SHELL.search(value.before[-12:]))


def _is_header(value: AssignedValue) -> bool:
    return ":" in value.gives and _HEADER.fullmatch(value.name.lower()) is not None


def is_flags_secret(name: str, value: str) -> bool:
    """Whether it is one after `--name ` of a command."""
    bare = value.strip("'\"")
    # --token TOKEN, --password is required
    is_place = bare.isupper() and bare.replace("_", "").isalpha()
    return not (
        is_place or _PLACE.fullmatch(bare) or bare.lower().rstrip(".:") in _WORDS or _TAMED.search(name)
    )


def is_environments_secret(name: str, sounds: str | None, value: str) -> bool:
    """Whether it is one as the value of a variable of the environment, with its quotes."""
    bare = value.strip().strip("'\"")
    if not bare or bare.lower().rstrip(".:?!") in _WORDS or _PLACE.fullmatch(bare):
        return False
    if value.startswith(("$(", '"$(', "`", "/", "~", "./")) or _TAMED.search(name):
        return _looks_drawn(bare)
    if _NUMBER.fullmatch(bare):
        return sounds == "password" and len(bare) >= 4
    if sounds is None:
        return len(bare) >= 6 and " " not in bare and not bare.rstrip(".").isupper()
    return len(bare) >= 4 or sounds == "password"
