"""Replaces home folders by `~`, the user's name by `<user>` and the machine's name by `<host>`.

A home folder is recognised by its place: /home/NAME, /Users/NAME, C:\\Users\\NAME, and NAME below `home` or
`users` on a shared disk (/scratch/users/NAME). The user's own home and name are known and found everywhere.
"""

from __future__ import annotations

import functools
import os
import re
import socket
import unicodedata
from pathlib import Path
from typing import NamedTuple

from jupyter_mlgpu.record.redact.patterns import any_of, compiled

# Names that are ordinary words in code. Replacing them would only spoil the text.
_ORDINARY_USERS = {"root", "user", "home", "jovyan"}
_ORDINARY_HOSTS = set(
    re.findall(
        r"\w+",
        "localhost linux mac host server computer machine gpu cuda main data model train test notebook "
        "jupyter jupyterlab python torch tensorflow ubuntu debian fedora raspberrypi",
    )
)

# A quoted name may contain blanks if a folder follows or each word has a capital letter.
_NAME = r"[^\W_/\\][^/\\\s'\"`:;,<>{}$*?|()\[\]=&]{0,63}"
_FOLDER = (
    rf"(?>{_NAME}(?:(?:\\? |%20){_NAME}){{1,2}}(?=[/\\])"
    rf"|(?-i:{_NAME}(?:\\? [A-Z]{_NAME}){{1,2}}(?=['\"`]|$))|{_NAME})"
)
_SHARED_DISK = (
    r"(?:scratch|data|mnt|media|srv|export|nfs|net|gpfs|lustre|beegfs|work|projects?|storage|vol|cluster|fast|share|"
    r"shared|fs|hpc|ceph|pfs|ssd|nvme|raid|fsx|efs|var|private|Volumes|System/Volumes/Data|afs|global|panfs|home)\d{0,3}"
)
# Not `/Users/Shared`, which belongs to nobody, and not a page of a web site (example.org/home/page).
_HOMES = (
    r"(?i)(?:"
    rf"(?:(?:(?<![a-z0-9])[a-z]:|/(?:mnt|cygdrive)/[a-z](?=/))[/\\]{{1,4}}(?:home|users)"
    r"|(?:(?<![\w.~)}%-])|(?<=-[A-Z]))(?-i:/home|/Users))"
    rf"[/\\]{{1,4}}(?!shared\b){_FOLDER}"
    rf"|(?<![\w.~)}}%-])(/{_SHARED_DISK}(?:/[\w.-]{{1,40}}){{0,2}}?/(?:home|users|user|people)/){_FOLDER})"
)
# A profiler names its file after the machine, and the package's profiles are in temporary folders.
_OWN_FOLDER = (
    r"(?<![^\s'\"])[^\s'\"]{0,1000}?/jupyter_mlgpu-[^\s/'\"]{1,100}/"
    r"(?=(?:plugins/profile/[^\s/]{1,100}/)?[^\s/'\"]{1,255}\.xplane\.pb)"
)
_PROFILE = r"(?<![^\s/'\"])[^\s/'\"]{1,255}(?=\.xplane\.pb)"


class Identity(NamedTuple):
    """Patterns for the user's home and name and the host's name. None: no such name, or an ordinary word."""

    home: re.Pattern[str] | None
    user: re.Pattern[str] | None
    host: re.Pattern[str] | None


def hide(text: str) -> str:
    """Return the text without home folders and names."""
    if ".xplane.pb" in text:
        text = compiled(_PROFILE).sub("machine", compiled(_OWN_FOLDER).sub("", text))
    home, user, host = identity()
    if home is not None:
        text = home.sub("~", text)
    lower = text.lower()
    if "home" in lower or "user" in lower or "people" in lower:
        text = compiled(_HOMES).sub(_home, text)
    if user is not None:
        text = user.sub("<user>", text)
    return host.sub("<host>", text) if host is not None else text


def _home(match: re.Match[str]) -> str:
    return f"{match[1]}<user>" if match[1] else "~"


@functools.cache
def identity() -> Identity:
    """Return the identity patterns of this process, which are computed once."""
    home = os.path.expanduser("~")
    # A home of "/" (some containers) would turn every path into "~".
    is_home = len(Path(home).parts) > 1
    name = os.environ.get("USER") or os.environ.get("LOGNAME") or (Path(home).name if is_home else "")
    host = socket.gethostname()
    hosts = [
        one for one in (host, host.partition(".")[0]) if len(one) > 2 and one.lower() not in _ORDINARY_HOSTS
    ]
    return Identity(
        _names([home], before="", after=r"[\w.-]") if is_home else None,
        _names([name], before=r"\w", after=r"\w") if len(name) > 2 and name not in _ORDINARY_USERS else None,
        _names(hosts, before=r"[\w-]", after=r"[\w-]") if hosts and host != "localhost.localdomain" else None,
    )


def _names(names: list[str], *, before: str, after: str) -> re.Pattern[str]:
    """Return a pattern for these names, also with accents as separate characters, as macOS writes paths."""
    forms = {unicodedata.normalize(form, name) for name in names for form in ("NFC", "NFD")} | set(names)
    # A combining accent is not matched by `\w`, but belongs to the letter before it. The look-behind comes
    # last, because evaluating it at each letter of a text takes longer.
    not_after = rf"(?!{after}|[\u0300-\u036f])"
    not_before = {form: rf"(?<!{before}{re.escape(form)})" if before else "" for form in forms}
    choices = {form: not_before[form] + not_after for form in forms}
    return re.compile(any_of(choices))
