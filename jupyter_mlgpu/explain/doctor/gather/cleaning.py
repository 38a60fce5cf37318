"""Redacts facts: names of users and hosts, home folders, and tokens must not leave this machine.

This happens once, on all gathered facts, before anything is shown.
"""

from __future__ import annotations

import re
import socket
from functools import cache
from typing import Any

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.explain.doctor.shapes import MOST_LETTERS
from jupyter_mlgpu.record import sentence
from jupyter_mlgpu.record.redact import beginning

# An e-mail address or a login.
_MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
# Characters that a facts file may not contain: control characters except line ends and tabs, and undecodable
# bytes of file names.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def cleaned(facts: Facts) -> Facts:
    """Return the facts with every text redacted, and without texts that a facts file may not contain."""
    return reading.from_json(_clean(reading.to_json(facts)), gathered=True)


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        return [_clean(one) for one in value]
    if reading.is_unknown(value):
        reason = value["unknown"]
        return value | {
            "unknown": _clean_line(reason)
            if isinstance(reason, str)
            else sentence.from_json(reason).map(_clean_line).to_json()
        }
    if isinstance(value, dict):
        return {key: _clean(one) for key, one in value.items()}
    return value


def _clean_line(text: str) -> str:
    # An error's text may have several lines, but a reason is one sentence.
    return clean_text(" ".join(text.split()))


def clean_text(text: str) -> str:
    """Return a text as it may be shown to others."""
    text = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
    text = _MAIL.sub("<address>", beginning(text, MOST_LETTERS))
    host = _host()
    text = text if host is None else host.sub("<host>", text)
    return text[:MOST_LETTERS]


@cache
def _host() -> re.Pattern[str] | None:
    name = socket.gethostname()
    # To replace a very short name or an ordinary word would make texts unreadable.
    usable = len(name) > 2 and name.lower() not in {"localhost", "localhost.localdomain", "linux", "mac"}
    short = name.partition(".")[0]
    names = {name, short} if len(short) > 2 else {name}
    choices = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{choices})(?![\w-])") if usable else None
