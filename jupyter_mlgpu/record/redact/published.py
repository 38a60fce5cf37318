"""How services begin their secrets, after the rules of gitleaks: `published.json`, with version and licence.

docs/measurements/2026-11-23-redaction/published_secrets.py writes it, and says how. `prefixes.json` has ours.
"""

from __future__ import annotations

import json
from pathlib import Path

_FILE, _OURS = (
    json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    for name in ("published.json", "prefixes.json")
)

#: Fixed letters -> which characters follow (a class of a regular expression), how many at least.
PREFIXES: dict[str, tuple[str, int]] = {fixed: tuple(given) for fixed, given in _FILE["prefixes"].items()}

#: The same of forms that gitleaks does not have, and of those of which a shorter piece will do.
OWN_PREFIXES: dict[str, tuple[str, int]] = {fixed: tuple(given) for fixed, given in _OURS.items()}

#: Services whose secrets have no letters of their own: a value given to such a name.
SERVICES: tuple[str, ...] = tuple(_FILE["services"])
