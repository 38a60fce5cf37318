"""Whether somebody else's trace or profile function is on, which makes Python several times slower."""

from __future__ import annotations

import sys

_monitoring = getattr(sys, "monitoring", None)


def is_on() -> bool:
    """In this thread; from Python 3.12 on also what watches all of them (`sys.monitoring`)."""
    return sys.gettrace() is not None or sys.getprofile() is not None or is_on_in_all()


def is_on_in_all() -> bool:
    """A debugger or profiler in all threads, as can be told from any of them."""
    if _monitoring is None:
        return False
    return any(_monitoring.get_tool(one) for one in (_monitoring.DEBUGGER_ID, _monitoring.PROFILER_ID))
