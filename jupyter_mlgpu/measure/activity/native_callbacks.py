"""Whether native threads run Python while the cell's thread waits, as those of a pipeline of data do.

Such a thread has frames only while a function of Python runs in it, and gives the interpreter's lock up as
that ends. So whoever wants the lock gets it a little later, and sees nobody. What tells is that the lock was
kept, by somebody who can only be such a thread: for how long our own thread waited for a processor, which
makes it late as well, the system tells (Linux).
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from jupyter_mlgpu.measure.activity.states import KEPT
from jupyter_mlgpu.measure.probes.systemfile import SystemFile

_SCHEDSTAT = "/proc/thread-self/schedstat"


class NativeCallbackDetector:
    """What is known of Python in native threads; all calls come from the thread that looks."""

    def __init__(self, calls_back: Callable[[], bool]) -> None:
        """`calls_back`: whether native threads of a framework may call Python."""
        self._calls_back = calls_back
        self._waits: SystemFile | None = None
        self._before: float | None = None
        self.called_back = False

    def ask(self) -> None:
        """Find out whether there may be such threads; from then on `ran_python` can tell."""
        if not self.called_back and self._calls_back():
            self.called_back = True
            self._waits = SystemFile(_SCHEDSTAT, 64)
            self._before = self._waited()

    def ran_python(self, asked: float) -> bool:
        """Whether one kept the lock in the seconds for which this look waited for it; ask in every look."""
        if self._waits is None:
            return False
        before, self._before = self._before, self._waited()
        if before is None or self._before is None:
            return False
        return asked - (self._before - before) >= KEPT * sys.getswitchinterval()

    def close(self) -> None:
        """End the asking."""
        if self._waits is not None:
            self._waits.close()

    def _waited(self) -> float | None:
        """For how long this thread has been ready to run, without a processor (sched-stats.rst)."""
        fields = self._waits.read().split() if self._waits is not None else []
        return int(fields[1]) / 1e9 if len(fields) > 1 else None
