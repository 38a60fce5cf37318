"""A Ctrl-C waits while the main thread does what must not be left half done.

Python calls a signal's handler between two steps of the main thread, and ipykernel's raises KeyboardInterrupt
there: output would be shown and not counted as shown, or a lock taken and never given back. Other threads are
never interrupted, so for them this does nothing.
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
_sigaction.restype = None  # which saves a tenth of the time
#: `struct sigaction`, which is only kept and given back; the greatest, glibc's, has 152 bytes.
_Action = ctypes.c_char * 256
_NUMBER = int(SIGINT)


class Uninterrupted:
    """A context, to be made anew each time: what the user's handler would do in it, it does at the end.

    Our handler may be left in place: where another signal's handler raises as the context begins or ends, and
    in a child that another thread forks meanwhile. So it holds a Ctrl-C only while the function that has the
    context is among the interrupted calls; else it gives the user's handler its place back.
    """

    def __init__(self) -> None:
        self._before: Any = None
        self._action = _Action()  # with what `signal.siginterrupt` has set, which `signal` resets
        self._frame: FrameType | None = None
        self._came: list[tuple[int, FrameType | None]] = []

    def __enter__(self) -> None:
        if threading.get_ident() != threading.main_thread().ident:
            return
        before = c_signal.getsignal(SIGINT)
        if not callable(before):  # nothing is raised
            return
        self._before, self._frame = before, sys._getframe(1)
        _sigaction(_NUMBER, None, self._action)
        try:
            c_signal.signal(SIGINT, self._hear)
        except ValueError:  # the main thread of another interpreter in this process, where no handler runs
            self._before = self._frame = None

    def __exit__(self, *_: object) -> None:
        before = self._before
        if before is None:
            return
        self._give_back()
        self._frame = None
        while self._came:
            before(*self._came.pop())  # else its traceback would keep all that was at work then

    def _hear(self, number: int, frame: FrameType | None) -> None:
        at = frame
        while at is not None and at is not self._frame:
            at = at.f_back
        if at is not None:
            self._came.append((number, frame))
            return
        self._give_back()
        self._before(number, frame)

    def _give_back(self) -> None:
        now = c_signal.getsignal(SIGINT)
        # By identity: a handler of the user's may compare itself as it likes.
        if type(now) is MethodType and now.__self__ is self:
            c_signal.signal(SIGINT, self._before)
            _sigaction(_NUMBER, self._action, None)
