"""The service's log on stderr. No token stands in it, whoever wrote the line and wherever a request had it.

tornado logs a refused request with its whole address, and a failure with the request itself.
"""

from __future__ import annotations

import logging
import re

# A query may hold anything that a stranger put there, also a token under a name that nobody knows.
_QUERY = re.compile(r"\?[^\s'\"]+")
_TOKEN = re.compile(r"\b(token|bearer)\b(\W{1,3})[\w.~+/=-]{16,}", re.IGNORECASE)


class _Formatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return _TOKEN.sub(r"\1\2<redacted>", _QUERY.sub("?<query>", super().format(record)))


def handler() -> logging.Handler:
    """What writes the log; all of the service's lines go through it."""
    found = logging.StreamHandler()
    found.setFormatter(_Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    return found
