"""A plugin of pytest for scripts/peers.py: keeps how each test ended, also of a run that dies."""

from __future__ import annotations

import json
import os
from typing import Any


def pytest_runtest_logreport(report: Any) -> None:
    """Each phase of each test; those that set up or clean up and pass say nothing."""
    if report.passed and report.when != "call":
        return
    with open(os.environ["PEERS_RESULTS"], "a", encoding="utf-8") as kept:
        kept.write(json.dumps({"name": report.nodeid, "ended": report.outcome}) + "\n")
