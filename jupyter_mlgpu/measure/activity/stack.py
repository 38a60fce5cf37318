"""Reads the stack of a running thread, without keeping a frame alive or reading variables.

A sample takes some microseconds in which the sampler holds the GIL, so it stores only addresses; `calls.py`
turns them into text after the cell's end.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from jupyter_mlgpu.measure.activity.activity import Doing
from jupyter_mlgpu.measure.activity.markers import ORDER, Markers

#: How many frames are read, from the innermost one: a deeper recursion is the user's own.
DEEPEST = 400
#: The function whose frame is below those of the user's cell; all frames below it are IPython's.
_BASE = "run_code"
_RANK: dict[Doing, int] = {doing: rank for rank, doing in enumerate(ORDER)}

#: Returns the execution count of the cell of a file with user code, 0 if it has none, None for other files.
OfUser = Callable[[str], int | None]


class Place(NamedTuple):
    """An instruction in code: its offset, its line, and the globals of the code."""

    code: CodeType
    instruction: int
    line: int
    names: dict[str, Any]


class Stack(NamedTuple):
    """A stack: what a library does, the innermost place, the user's innermost place, and its cell."""

    doing: Doing | None
    inner: Place | None
    users: Place | None
    cell: int


def read(frame: FrameType | None, of_user: OfUser, markers: Markers) -> Stack:
    """Return the stack from `frame` outwards, down to where IPython runs the user's code."""
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
        if frame.f_trace is not None:  # set by `sys.settrace`
            doing = "profiler"
        which = of_user(code.co_filename)
        if which is None:
            found = markers.doing(code.co_filename, name)
            # All work of a library's module during its import is the import: importing `pdb` debugs nothing.
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
