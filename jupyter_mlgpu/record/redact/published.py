"""Prefixes of services' secrets from the rules of gitleaks: `published.json`, with version and licence.

docs/measurements/2026-11-23-redaction/published_secrets.py generates it and explains how. `prefixes.json` has
the package's own additions.
"""

from __future__ import annotations

import json
from pathlib import Path

_FILE, _OURS = (
    json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("published.json", "prefixes.json")
)

#: Prefix -> the characters that follow it (a regular expression's class), and their least number.
PREFIXES: dict[str, tuple[str, int]] = {fixed: tuple(given) for fixed, given in _FILE["prefixes"].items()}

#: The same for forms that gitleaks lacks, and for those that are secrets even if shorter.
OWN_PREFIXES: dict[str, tuple[str, int]] = {fixed: tuple(given) for fixed, given in _OURS.items()}

#: Services whose secrets have no prefix. They are found by a name that contains the service's.
SERVICES: tuple[str, ...] = tuple(_FILE["services"])
