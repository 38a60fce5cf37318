"""Reading the stack of a running thread: what it is at, without keeping a frame or looking into variables.

By Python's own `sys._current_frames` (documented, for debugging). A look takes some microseconds in which
the interpreter's lock is ours, so it notes addresses alone; `calls.py` makes words of them in the end.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from jupyter_mlgpu.measure.activity.activity import Doing
from jupyter_mlgpu.measure.activity.markers import ORDER, Markers

#: Frames looked at, from the innermost one: a recursion deeper than that is of the user's own making.
DEEPEST = 400
#: Whose frames those of the user's cell stand on: what is below is IPython's own work.
_BASE = "run_code"
_RANK: dict[Doing, int] = {doing: rank for rank, doing in enumerate(ORDER)}

#: Of a file with code of the user's: the execution count of its cell, 0 where it has none; else None.
OfUser = Callable[[str], int | None]


class Place(NamedTuple):
    """An instruction: in which code, where, in which line, and the globals that the code sees."""

    code: CodeType
    instruction: int
    line: int
    names: dict[str, Any]


class Stack(NamedTuple):
    """What a thread was at: what a library does, the innermost place, and the innermost of the user's."""

    doing: Doing | None
    inner: Place | None
    users: Place | None
    cell: int


class FramesOfOtherThreads:
    """The innermost frame of each other thread by its number; none is kept alive when the block ends.

    No garbage collection begins meanwhile. Python 3.11 makes a frame's object when somebody asks for it,
    here or by `f_back`. A collection that begins with that may run code that gives up the interpreter's
    lock; the other thread then leaves the frame, and the object that we get points at memory of something
    else, which ends the process. Python 3.12 collects between instructions alone.
    """

    __slots__ = ("_collects", "_frames")

    def __enter__(self) -> dict[int, FrameType]:
        self._collects = gc.isenabled()
        gc.disable()
        try:
            self._frames = sys._current_frames()
            # Our own frame holds this table: with it, the table would keep all frames and their values alive.
            del self._frames[threading.get_ident()]
        except BaseException:
            self._end()
            raise
        return self._frames

    def __exit__(self, *raised: object) -> None:
        self._frames.clear()
        self._end()

    def _end(self) -> None:
        if self._collects:
            gc.enable()


def read(frame: FrameType | None, of_user: OfUser, markers: Markers) -> Stack:
    """The stack from `frame` outwards, as far as IPython runs the user's code."""
    doing: Doing | None = None
    inner = users = None
    cell = 0
    depth = 0
    while frame is not None and depth < DEEPEST:
        code = frame.f_code
        name = code.co_name
        if name == _BASE and code.co_filename.endswith("interactiveshell.py"):
            break
        if inner is None:
            inner = _place(frame, code)
        if frame.f_trace is not None:  # of `sys.settrace`
            doing = "profiler"
        which = of_user(code.co_filename)
        if which is None:
            found = markers.doing(code.co_filename, name)
            # What a library's module does while it is imported is the import: that of `pdb` debugs nothing.
            imported = found == "importing" and users is None
            if found is not None and (imported or doing is None or _RANK[found] < _RANK[doing]):
                doing = found
        elif users is None:
            users, cell = (inner if depth == 0 else _place(frame, code)), which
        frame = frame.f_back
        depth += 1
    return Stack(doing, inner, users, cell)


def _place(frame: FrameType, code: CodeType) -> Place:
    return Place(code, frame.f_lasti, frame.f_lineno or 0, frame.f_globals)
