"""Threads of the process beside the cell's own: which of them works for it while that one waits."""

from __future__ import annotations

from collections.abc import Mapping
from types import FrameType

from jupyter_mlgpu.measure.activity.markers import Markers
from jupyter_mlgpu.measure.activity.stack import OfUser, Stack, read


class OtherThreads:
    """Reads the stacks of other threads; one that has not moved since is not read again."""

    def __init__(self, thread: int, of_user: OfUser, markers: Markers) -> None:
        """`thread` is Python's number of the cell's own."""
        self._thread = thread
        self._of_user = of_user
        self._markers = markers
        # Threads that do nothing for the cell, and where they stood.
        self._of_no_use: dict[int, tuple[int, int]] = {}

    def at_work_for_the_cell(self, frames: Mapping[int, FrameType]) -> Stack | None:
        """Return the stack of one that gets data ready, or runs code of the user's; None where none does."""
        for thread, frame in frames.items():
            # Most threads wait for work, and stand where they stood.
            at = (id(frame.f_code), frame.f_lasti)
            if thread == self._thread or self._of_no_use.get(thread) == at:
                continue
            stack = read(frame, self._of_user, self._markers)
            if stack.doing in ("loader", "input") or (stack.users is not None and stack.doing is None):
                return stack
            self._of_no_use[thread] = at
        return None
