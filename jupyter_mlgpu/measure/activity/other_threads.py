"""Finds other threads of the process that work for the cell while its own thread waits."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType

from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.activity.stack import OfUser, Stack, read


class OtherThreads:
    """Reads the stacks of other threads, except those that have not moved since they were last read."""

    def __init__(self, thread: int, of_user: OfUser, markers: Markers) -> None:
        """`thread` is Python's id of the cell's own thread."""
        self._thread = thread
        self._of_user = of_user
        self._markers = markers
        # Threads that do nothing for the cell, and the instruction at which each was.
        self._of_no_use: dict[int, tuple[int, int]] = {}

    def at_work_for_the_cell(self, frames: Mapping[int, FrameType]) -> Stack | None:
        """Return the stack of a thread that prepares data or runs user code, None if there is none."""
        for thread, frame in frames.items():
            # Most threads wait for work and have not moved.
            at = (id(frame.f_code), frame.f_lasti)
            if thread == self._thread or self._of_no_use.get(thread) == at:
                continue
            stack = read(frame, self._of_user, self._markers)
            if stack.doing in ("loader", "input") or (stack.users is not None and stack.doing is None):
                return stack
            self._of_no_use[thread] = at
        return None
