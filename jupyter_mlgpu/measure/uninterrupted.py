"""Delays a Ctrl-C while the main thread does something that must not be left half done.

Python calls a signal's handler between two steps of the main thread, and ipykernel's raises KeyboardInterrupt
there. Output would be shown but not counted as shown, or a lock taken and never released. Other threads are
never interrupted, so this does nothing for them.
"""

from __future__ import annotations

# The module `signal` itself spends 14 microseconds on making enumerations of numbers.
import _signal as c_signal  # type: ignore[import-not-found]
import ctypes
import sys
import threading
from signal import SIGINT
from types import FrameType, MethodType
from typing import Any

# PyDLL keeps the GIL: releasing it would cost a busy cell far more.
_sigaction = ctypes.PyDLL(None).sigaction
_sigaction.restype = None  # saves a tenth of the time
#: `struct sigaction`, only stored and restored. The largest, glibc's, has 152 bytes.
_Action = ctypes.c_char * 256
_NUMBER = int(SIGINT)


class Uninterrupted:
    """A context, to be made anew each time, at whose end the user's handler runs for a Ctrl-C inside it.

    Our handler may stay installed in two cases: another signal's handler raises as the context begins or
    ends, or another thread forks a child meanwhile. So the handler delays a Ctrl-C only while the function
    that has the context is among the interrupted calls; else it reinstalls the user's handler.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._action = _Action()  # with what `signal.siginterrupt` has set, which `signal` resets
        self._frame: FrameType | None = None
        self._delayed: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> None:
        if threading.get_ident() != threading.main_thread().ident:
            return
        before = c_signal.getsignal(SIGINT)
        if not callable(before):  # then nothing would be raised
            return
        self._before, self._frame = before, sys._getframe(1)
        _sigaction(_NUMBER, None, self._action)
        try:
            c_signal.signal(SIGINT, self._handle)
        except ValueError:  # the main thread of another interpreter in this process, where no handler runs
            self._before = self._frame = None

    def __exit__(self, *_: object) -> None:
        before = self._before
        if before is None:
            return
        self._restore()
        self._frame = None
        while self._delayed:
            before(*self._delayed.pop())  # removed first: else its traceback would keep all objects alive

    def _handle(self, number: int, frame: FrameType | None) -> None:
        at = frame
        while at is not None and at is not self._frame:
            at = at.f_back
        if at is not None:
            self._delayed.append((number, frame))
            return
        self._restore()
        self._before(number, frame)

    def _restore(self) -> None:
        now = c_signal.getsignal(SIGINT)
        # By identity: a user's handler may define its own comparison.
        if type(now) is MethodType and now.__self__ is self:
            c_signal.signal(SIGINT, self._before)
            _sigaction(_NUMBER, self._action, None)
