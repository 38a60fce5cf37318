"""The service's log on stderr, with all tokens removed.

tornado logs a refused request with its whole address, and an error with the request itself.
"""

from __future__ import annotations

import logging
import re

# A query may hold anything, also a token under an unknown name.
_QUERY = re.compile(r"\?[^\s'\"]+")
_TOKEN = re.compile(r"\b(token|bearer)\b(\W{1,3})[\w.~+/=-]{16,}", re.IGNORECASE)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _TOKEN.sub(r"\1\2<redacted>", _QUERY.sub("?<query>", super().format(record)))


def handler() -> logging.Handler:
    """Return the handler for all lines of the service's log."""
    found = logging.StreamHandler()
    found.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return found
