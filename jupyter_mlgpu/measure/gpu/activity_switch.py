"""Switches CUPTI's activity records on where possible, reads them as columns, and switches them off.

They are switched on once the user's code has started CUDA, which takes 15 ms once, and stay on between cells.
They are switched off before a profiler of the user's starts.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.measure.gpu.driver import Driver
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
    from jupyter_mlgpu.measure.gpu.activity_records import ActivityColumns
    from jupyter_mlgpu.measure.gpu.cupti import Cupti

#: Set by tools that trace the whole process with CUPTI: injected libraries, Nsight Systems, Nsight Compute.
TOOLS = ("CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID", "NV_COMPUTE_PROFILER_PERFWORKS_DIR")

#: Seconds before CUDA's driver is searched for again if the user's code had not loaded it.
_SEARCH_AGAIN = 0.5

#: Seconds after which the driver is taken to hang. A flush waits for no GPU and takes a few milliseconds.
_HANGS = 2.0

NO_GPU = say("No CUDA GPU was in use when this cell began: its time is known from the next cell on.")
NO_CUDA = say("GPU time is measured on NVIDIA GPUs only.")
NO_NUMPY = say("GPU time needs NumPy, which is not loaded here.")
PROFILER = say("A profiler was on in this cell, and NVIDIA's records were left to it.")


class Profilers(Protocol):
    """The interface of `frameworks.profiler_hooks.ProfilerHooks`."""

    def is_on(self) -> bool:
        """Return True if a profiler is on."""
        ...

    def before(self, tell: Callable[[], None]) -> None:
        """Have `tell` called before a profiler begins. A second registration has no effect."""

    def leave(self) -> None:
        """Stop calling it."""


class ActivitySwitch:
    """The records of this process.

    `profilers` are those of the frameworks; CUPTI serves one profiler at a time. `give_way` is called before
    one of them begins. `load_driver` and `load_cupti` load NVIDIA's libraries, and raise OSError without
    them.
    """

    def __init__(
        self,
        profilers: Profilers,
        give_way: Callable[[], None],
        load_driver: Callable[[], Driver] = Driver,
        load_cupti: Callable[[], tuple[Cupti, ActivityBuffers]] | None = None,
    ) -> None:
        self._profilers = profilers
        self._give_way = give_way
        self._load_driver = load_driver
        self._load_cupti = load_cupti or _load_cupti
        self._buffers: ActivityBuffers | None = None
        self._sizes: dict[int, int] = {}
        self._reading = threading.Lock()
        self._never: Sentence | None = None
        self._search_at = -math.inf
        self._flushed_at = math.inf
        self.driver: Driver | None = None
        self.cupti: Cupti | None = None
        self.on = False
        #: CUPTI's clock and ours at the time of switching on.
        self.switched_on = (0, 0)

    def ready(self) -> Sentence | None:
        """Switch the records on if they are off. Returns the reason if that is not possible."""
        if self._never is not None:
            return self._never
        variable = None if self.on else next((tool for tool in TOOLS if os.environ.get(tool)), None)
        if variable is not None:
            return say(
                "Another tool traces this process ({variable} is set), so GPU time was left to it.",
                variable=variable,
            )
        if self.driver is None and not self._find_driver():
            return NO_CUDA
        assert self.driver is not None
        if not self.driver.active():
            return NO_GPU
        if self._profilers.is_on():
            return PROFILER
        return None if self.on else self._switch_on()

    def is_profiled(self) -> bool:
        """Return True if a profiler of the user's is on."""
        return self._profilers.is_on()

    def devices(self) -> list[int]:
        """Return the GPUs that this process uses."""
        return [] if self.driver is None else self.driver.active()

    def clock(self) -> tuple[int, int]:
        """Return CUPTI's clock and ours at this moment."""
        return (0, 0) if self.cupti is None else self.cupti.clock()

    def dropped(self) -> int:
        """Return how many records were lost since the last call."""
        return 0 if self.cupti is None else self.cupti.dropped()

    def flush(self, *, forced: bool = False) -> None:
        """Request the buffers whose records are complete, without waiting for a GPU."""
        if self.cupti is None or not self.on or self.hangs():
            return
        self._flushed_at = real_time.monotonic()
        try:
            self.cupti.flush(forced=forced)
        finally:
            self._flushed_at = math.inf

    def hangs(self) -> bool:
        """Return True if a call of CUPTI has not returned for long: then it must not be called again."""
        return real_time.monotonic() - self._flushed_at > _HANGS

    def read(self) -> tuple[list[ActivityColumns], int]:
        """Return all records in returned buffers, and the number of buffers.

        CUPTI returns buffers in the order of launches, but they are found here in any order. So the search is
        repeated until it finds none. Earlier records are thus never missing from a result with later ones.
        """
        found: list[ActivityColumns] = []
        number = 0
        if self._buffers is not None:
            with self._reading:
                more = True
                while more:
                    more = False
                    for address, size in self._buffers.full():
                        number, more = number + 1, True
                        if size:
                            found += self._columns(address, size)
        return found, number

    def off(self) -> None:
        """Switch the records off. Those of work in progress are lost."""
        from jupyter_mlgpu.measure.gpu.cupti import KINDS, CuptiError

        if not self.on or self.cupti is None:
            return
        self.on = False
        if self.hangs():
            return
        with suppress(CuptiError):  # someone else has switched CUPTI off
            for kind in KINDS:
                self.cupti.disable(kind)
            self.cupti.flush(forced=True)

    def leave(self) -> None:
        """Switch off, and stop observing the frameworks' profilers."""
        self._profilers.leave()
        self.off()

    def forked(self) -> None:
        """Reset in a forked child, which has no CUDA of its parent's and no records."""
        self._reading = threading.Lock()
        self.on = False
        self._never = NO_CUDA

    def _find_driver(self) -> bool:
        """Search for the driver, not before every cell: it takes 40 microseconds if it is not loaded."""
        now = real_time.monotonic()
        if now < self._search_at:
            return False
        self._search_at = now + _SEARCH_AGAIN
        with suppress(OSError):
            self.driver = self._load_driver()
        return self.driver is not None

    def _switch_on(self) -> Sentence | None:
        if not imported("numpy"):
            return NO_NUMPY
        from jupyter_mlgpu.measure.gpu.cupti import KINDS, CuptiError

        try:
            if self.cupti is None:
                self.cupti, self._buffers = self._load_cupti()
            assert self._buffers is not None
            self.cupti.hand_over(self._buffers)
            for kind in KINDS:
                self.cupti.enable(kind)
            self.cupti.dropped()
        except (OSError, CuptiError) as error:
            self._never = say("NVIDIA's records could not be switched on ({error}).", error=error)
            return self._never
        self.on, self.switched_on = True, self.cupti.clock()
        self._profilers.before(self._give_way)
        return None

    def _columns(self, address: int, size: int) -> Sequence[ActivityColumns]:
        from jupyter_mlgpu.measure.gpu.activity_records import UnknownKindError, read, sizes_of, words_at

        words = words_at(address, size)
        try:
            return read(words, self._sizes)
        except UnknownKindError:
            assert self.cupti is not None
            places = [(record - address) // 8 for record in self.cupti.records(address, size)]
            self._sizes.update(sizes_of(words, places))
            return read(words, self._sizes)


@functools.cache
def _load_cupti() -> tuple[Cupti, ActivityBuffers]:
    """Return CUPTI and this process's buffers, cached: CUPTI may keep a buffer while it is switched off."""
    from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
    from jupyter_mlgpu.measure.gpu.cupti import Cupti, find

    path = find()
    if path is None:
        raise OSError("the library libcupti was not found")
    return Cupti(path), ActivityBuffers()
