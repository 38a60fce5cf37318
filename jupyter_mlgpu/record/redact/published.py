"""How services begin their secrets, after the rules of gitleaks: `published.json`, with version and licence.

scripts/published_secrets.py writes it, and says how.
"""

from __future__ import annotations

import json
from pathlib import Path

_TOLD = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))

#: Fixed letters -> which characters follow (a class of a regular expression), how many at least.
PREFIXES: dict[str, tuple[str, int]] = {fixed: tuple(given) for fixed, given in _TOLD["prefixes"].items()}

#: Services whose secrets have no letters of their own: a value given to such a name.
SERVICES: tuple[str, ...] = tuple(_TOLD["services"])
