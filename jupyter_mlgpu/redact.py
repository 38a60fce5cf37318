"""Take out of a text what should not leave this machine: home folders, user names, tokens, its own name.

Applied once, when a record is made, so that receipts, saved records, reports and the sidebar can
only ever show redacted text. What counts as a token: the published prefixes of common services'
keys, and any long value given to a name such as `token`, `password` or `api_key`.
"""

from __future__ import annotations

import functools
import os
import re
from pathlib import Path

# Prefixes as their services document them: OpenAI, Anthropic, GitHub, GitLab, Hugging Face, AWS, Slack,
# Google, and signed web tokens.
_TOKEN = re.compile(
    r"\b(?:sk-[\w-]{8,}|gh[pousr]_\w{8,}|github_pat_\w{8,}|glpat-[\w-]{8,}|hf_\w{8,}|AKIA\w{8,}"
    r"|xox[abprs]-[\w-]{8,}|AIza[\w-]{8,}|eyJ[\w-]+\.[\w-]+\.[\w-]*)"
)
# `tokens` and `tokenizer` are what language models are made of, and no secrets.
_ASSIGNED = re.compile(
    r"(?i)(\b[\w-]*(?:token(?!s(?![a-z])|i[sz])|secret|password|passwd|api_?key|access_?key|credential)"
    r"[\w-]*[\"']?\]?\s*[=:]\s*)"
    r"(\"[^\"]*\"?|'[^']*'?|[^\s,;)]+)"
)
_BEARER = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}")
_URL_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")
_HOME = re.compile(r"(?:/home/|/Users/|[A-Z]:\\Users\\)[^/\\\s'\":]+")
# A profiler names its file after the machine, and ours writes into a temporary folder of its own.
_PROFILE = re.compile(
    r"(?:[^\s'\"]*/jupyter_mlgpu-[^\s/]+/)?(plugins/profile/[^\s/]+/)?[^\s/'\"]+(?=\.xplane\.pb)"
)


def redact(text: str) -> str:
    """The text with home folders as `~`, the user's name as `<user>`, secrets as `<redacted>`."""
    if ".xplane.pb" in text:
        text = _PROFILE.sub(r"\1machine", text)
    text = _BEARER.sub(r"\1 <redacted>", text)
    text = _TOKEN.sub("<redacted>", text)
    text = _ASSIGNED.sub(r"\1<redacted>", text)
    text = _URL_LOGIN.sub("<redacted>@", text)
    home, user = _identity()
    if home is not None:
        text = home.sub("~", text)
    text = _HOME.sub("~", text)
    return user.sub("<user>", text) if user is not None else text


@functools.cache
def _identity() -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    home = os.path.expanduser("~")
    # A home of "/" (some containers) would turn every path into "~".
    home_pattern = re.compile(re.escape(home) + r"(?![\w.-])") if len(Path(home).parts) > 1 else None
    name = Path(home).name if home_pattern is not None else ""
    name = os.environ.get("USER") or os.environ.get("LOGNAME") or name
    # "root" and very short names are ordinary words in code; replacing them would only spoil the text.
    usable = len(name) > 2 and name not in {"root", "user", "home", "jovyan"}
    return home_pattern, re.compile(rf"\b{re.escape(name)}\b") if usable else None


def shorten(text: str, limit: int = 80) -> str:
    """The text, cut to `limit` characters with an ellipsis where it is longer."""
    return text if len(text) <= limit else text[: limit - 1] + "…"
