"""Reads the frames of other threads without keeping one alive.

It uses `sys._current_frames`, which Python documents for debugging.
"""

from __future__ import annotations

import gc
import sys
import threading
from types import FrameType


class FramesOfOtherThreads:
    """The innermost frame of each other thread by its id. No frame is kept alive after the block.

    Garbage collection is off meanwhile. Python 3.11 creates a frame object when it is requested, here or by
    `f_back`. A collection that begins at that moment may run code that releases the GIL. The other thread
    then leaves the frame, and our object points to memory of something else, which crashes the process.
    Python 3.12 collects only between instructions.
    """

    __slots__ = ("_collects", "_frames")

    def __enter__(self) -> dict[int, FrameType]:
        self._collects = gc.isenabled()
        gc.disable()
        try:
            self._frames = sys._current_frames()
            # Our own frame refers to this table. If listed in it, it would keep all frames and values alive.
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
