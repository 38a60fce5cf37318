"""Finds secrets by their form: published prefixes, private keys, logins in addresses, headers, cookies.

Secrets that are recognised only by their name or call are in `assigned.py`, `code.py` and `environment.py`,
those recognised by their place on a command line in `commands.py`.

Each rule first searches for a word, and its pattern is compiled when a text contains the word. A rule never
needs more than the first 36 characters of a secret, so that it also finds one that is cut. It then hides
everything that follows.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from jupyter_mlgpu.record.redact import assigned, calls, commands, letters
from jupyter_mlgpu.record.redact.patterns import any_of, compiled

HIDDEN = "<redacted>"

#: Least characters after a prefix, because the text may be cut.
_ENOUGH = 20
# What follows these may also occur in names (`sk-estimator-doc-link`), but then only in lower case.
_DRAWN = {"sk-": r"(?=[a-z_-]{0,19}+[0-9A-Z])"}
# Such prefixes must begin a word, because they also occur inside ordinary words and data. A preceding `\n`
# in a string, or a colour code, does not count as a part of the word.
_ALONE = re.compile(r"[0-9A-Za-z]+|.{1,4}")

# A private key is hidden to its end marker, or to the end of the text. A begin marker without a key is code
# that searches for one.
_PEM = (
    r"----[- ]BEGIN[ A-Z0-9]{1,60}PRIVATE KEY(?: BLOCK| )?----"
    r"(?=-?(?:[\s\\nr'\"+#|>]|%0[AD]|&#1[03];){0,200}"
    r"(?:[A-Za-z0-9+/]{8}|(?:Proc-Type|Version|Comment|Charset|Hash|DEK-Info|MessageID|Subject):)"
    # A list of lines.
    r"|-?[\"'](?:[\s\\nr'\"+,()frb]{0,200}[\"'])(?=[A-Za-z0-9+/]{0,40}[A-Z])(?=[A-Za-z0-9+/]{0,40}[a-z])"
    r"[A-Za-z0-9+/]{16})-?"
)
_PEM_END = r"----[- ]END"
# A line from the middle of such a block, as long as PEM or OpenSSH makes them.
_PEM_LINE = (
    r"(?m)^([ \t\"']{0,8})(?=[^\n]{0,70}[a-z])(?=[^\n]{0,70}[A-Z])(?=[^\n]{0,70}[0-9])"
    r"(?:[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70})(?=[\"']?[ \t\r]{0,8}(?:\\n|$))"
)
_ADDRESS = r"://[^\s'\"<>]+"
# Values that a program fills in are not secrets: {password}, ${PASSWORD}, %s.
_PUT_IN = re.compile(r"(?:\{[^{}]{0,80}\}|\$\{?\w{1,80}\}?|%s|%\(\w{1,80}\)s|:){1,9}")
_PORT = re.compile(r"\d{1,5}[/?#]")
_HOOK = (
    r"(?i)(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/"
    r"|\.webhook\.office\.com/webhookb2/)[\w/@-]+"
)
_TELEGRAM = r"(?<!\d)\d{8,10}:AA[\w-]{20,}"
_AUTHORIZATION = (
    r"(?i)(authorization\\{0,2}['\"]?\s{0,3}[:=]\s{0,3}(?:[fb]{1,2}(?=[\\'\"]))?\\{0,2}['\"]?"
    r"(?:(?:bearer|basic|token|digest|apikey|negotiate)\s{1,3})?+)"
    r"(?!bearer\b|basic\b|token\b|negotiate\b|none\b|true\b|false\b)([\w.~+/=-]{4,})"
)
_BEARER = r"(?i)\b(bearer|basic)(\s{1,3})([\w.~+/=-]{8,})"
_COOKIE = r"(?i)(\b(?:set-)?cookie2?['\"]?[ \t]{0,3}:[ \t]{0,3}['\"]?)(?=[^\s=;,'\"]{1,80}=[^\s=])[^'\"\r\n]+"
_PAIR = (
    r"(?i)(\bauth['\"]?\s{0,3}[=:]\s{0,3}(?:[\w.]{0,40}Auth)?\(\s{0,3})"
    r"(?:'[^'\n]{0,200}'|\"[^\"\n]{0,200}\")\s{0,3},\s{0,3}(?:'[^'\n]{0,200}'|\"[^\"\n]{0,200}\")"
)
_NETRC = r"(?i)(\bmachine\s{1,4}\S{1,100}\s{1,4}(?:login\s{1,4}\S{1,100}\s{1,4})?password\s{1,4})[^\s'\"]+"
_SAID = (
    r"(?i)(\b(?:password|passwort|passphrase|passcode)\s(?:is|was|ist|lautet)\s{1,2}[`'\"]?)"
    r"(?=[^\s`'\"\d]{0,60}\d)[^\s`'\"]+"
)

_SQL = (
    r"(?i)(\b(?:identified\s{1,4}by|(?:user|role)\s[^'\"\n]{1,100}?\spassword)\s{1,4}(?:=\s{0,4})?\\?['\"])"
    r"[^'\"\n\\]{1,200}"
)

_Rule = tuple[tuple[str, ...], str, str | Callable[[re.Match[str]], str]]


def _judged_bearer(match: re.Match[str]) -> str:
    # "bearer of" and "Basic authentication" are words. A token is long, or not made of letters of one case
    # alone.
    value = match[3].rstrip(".")
    is_word = value.isalpha() and len(value) < 20 and (value.islower() or value.isupper() or value.istitle())
    return match[0] if is_word else f"{match[1]}{match[2]}{HIDDEN}"


def _judged_authorization(match: re.Match[str]) -> str:
    # TOKEN and ACCESS_TOKEN are placeholders. get_token() and tokens[0] are code.
    is_place = match[2].replace("_", "").isalpha() and match[2].isupper()
    is_code = match.string[match.end() : match.end() + 1] in ("(", "[")
    return match[0] if is_place or is_code else match[1] + HIDDEN


def _without_logins(match: re.Match[str]) -> str:
    return "://".join(_without_login(one) if "@" in one else one for one in match[0].split("://"))


def _without_login(address: str) -> str:
    """Return an address with the login before its last `@` hidden.

    A path may contain an `@`, and a password a `/`.
    """
    login, at, host = address.rpartition("@")
    user, colon, password = login.partition(":")
    in_path = "/" in user or "?" in user or "#" in user or (colon and _PORT.match(password))
    no_host = not host[:1].isalnum() and not host.startswith("[")
    if not at or no_host or in_path or login == "git" or _PUT_IN.fullmatch(login):
        return address
    return f"{HIDDEN}@{host}"


# The words of which a text must contain one (in lower case), the rule's pattern, and the replacement of a
# match.
_RULES: tuple[_Rule, ...] = (
    (("hooks.slack", "webhook"), _HOOK, rf"\1{HIDDEN}"),
    ((":aa",), _TELEGRAM, HIDDEN),
    (("://",), _ADDRESS, _without_logins),
    (("authorization",), _AUTHORIZATION, _judged_authorization),
    (("bearer", "basic"), _BEARER, _judged_bearer),
    (("auth",), _PAIR, rf"\1{HIDDEN}"),
    (("cookie",), _COOKIE, rf"\1{HIDDEN}"),
    (("identified", "password"), _SQL, rf"\1{HIDDEN}"),
    (("machine",), _NETRC, rf"\1{HIDDEN}"),
    (("password ", "passwort ", "passphrase ", "passcode "), _SAID, rf"\1{HIDDEN}"),
)


def hide(text: str) -> str:
    """Return the text without secrets."""
    text = published().sub(HIDDEN, text)
    if len(text) >= 64:
        text = compiled(_PEM_LINE).sub(rf"\1{HIDDEN}", text)
    lower = text.lower()
    if "private key" in lower:
        text = _without_private_keys(text)
    for words, pattern, instead in _RULES:
        if any(word in lower for word in words):
            text = compiled(pattern).sub(instead, text)
    return _without_named(commands.hide(text, lower))


def _without_named(text: str) -> str:
    """Return the text without values that are secrets because of the name they are given to."""
    lower, written = letters.lower(text), letters.small(text)
    in_writing = written != lower and assigned.suspicious_words_pattern().search(written)
    if not (
        calls.openings_or_sounds().search(lower) or in_writing or "--" in lower or letters.may_move(text)
    ):
        return text
    from jupyter_mlgpu.record.redact import code, environment  # most texts have no such name or call

    # Each search reads the unchanged text: one must not hide what another needs to recognise a secret.
    places = [*environment.find(text), *code.find(text, lower), *assigned.find(text, lower)]
    if in_writing:  # a letter that is plain to Python may end a name for a reader
        places += assigned.find(text, written)
    parts, last = [], 0
    for start, end in sorted(places):
        if start >= last:
            parts += [text[last:start], HIDDEN]
        last = max(last, end)
    return "".join([*parts, text[last:]])


def _without_private_keys(text: str) -> str:
    found, parts, end = compiled(_PEM).search(text), [], 0
    while found is not None:
        parts += [text[end : found.end()], HIDDEN]
        last = compiled(_PEM_END).search(text, found.end())
        end = last.start() if last else len(text)
        found = compiled(_PEM).search(text, end)
    return "".join([*parts, text[end:]])


@functools.cache
def published() -> re.Pattern[str]:
    """Return a pattern for every published prefix with the characters that follow it."""
    from jupyter_mlgpu.record.redact.published import OWN_PREFIXES, PREFIXES

    after = {}
    for prefix, (characters, least) in {**PREFIXES, **OWN_PREFIXES}.items():
        least = least if prefix in OWN_PREFIXES else min(least, _ENOUGH)
        fixed = re.escape(prefix)
        # The look-behind comes after the letters: evaluating it at each letter of a text would take longer.
        alone = rf"(?:(?<![0-9A-Za-z]{fixed})|(?<=\\[nrt]{fixed})|(?<=[\d\[]m{fixed}))"
        begins = (alone if _ALONE.fullmatch(prefix) else "") + _DRAWN.get(prefix, "")
        after[prefix] = rf"{begins}[{characters}]{{{least},}}"
    return re.compile(any_of(after))
