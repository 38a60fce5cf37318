"""CUPTI's activity records: switched on where that is possible, read as columns, switched off.

They are switched on once the user's code has started CUDA, 15 ms once, and left on between cells; a profiler
of the user's finds them switched off.
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

#: Set by who traces the whole process with CUPTI: an injected library, Nsight Systems, Nsight Compute.
TOOLS = ("CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID", "NV_COMPUTE_PROFILER_PERFWORKS_DIR")

#: Seconds after which CUDA's driver is looked for again, where the user's code had not loaded it.
_LOOK_AGAIN = 0.5

#: Seconds after which the driver hangs. A flush waits for no GPU, and takes some milliseconds at most.
_HANGS = 2.0

NO_GPU = say("No CUDA GPU was in use when this cell began: its time is known from the next cell on.")
NO_CUDA = say("GPU time is measured on NVIDIA GPUs only.")
NO_NUMPY = say("GPU time needs NumPy, which is not loaded here.")
PROFILER = say("A profiler was on in this cell, and NVIDIA's records were left to it.")


class Profilers(Protocol):
    """`frameworks.profiler_hooks.ProfilerHooks`."""

    def is_on(self) -> bool:
        """Return whether a profiler is on."""
        ...

    def before(self, tell: Callable[[], None]) -> None:
        """Have `tell` called before one begins; twice does no harm."""

    def leave(self) -> None:
        """Call it no more."""


class ActivitySwitch:
    """The records of this process.

    `profilers` are those of the frameworks, which CUPTI serves one at a time; `give_way` is called before one
    of them begins. `load_driver` and `load_cupti` give NVIDIA's libraries, and raise OSError where there are
    none.
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
        self._look_again = -math.inf
        self._flushed_at = math.inf
        self.driver: Driver | None = None
        self.cupti: Cupti | None = None
        self.on = False
        #: CUPTI's clock and ours when they were switched on.
        self.switched_on = (0, 0)

    def ready(self) -> Sentence | None:
        """Switch the records on if they are not; returns why that is not possible."""
        if self._never is not None:
            return self._never
        variable = None if self.on else next((one for one in TOOLS if os.environ.get(one)), None)
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
        """Return whether a profiler of the user's is on."""
        return self._profilers.is_on()

    def devices(self) -> list[int]:
        """The GPUs that this process uses."""
        return [] if self.driver is None else self.driver.active()

    def clock(self) -> tuple[int, int]:
        """CUPTI's clock and ours at this moment."""
        return (0, 0) if self.cupti is None else self.cupti.clock()

    def dropped(self) -> int:
        """How many records were lost since this was asked last."""
        return 0 if self.cupti is None else self.cupti.dropped()

    def flush(self, *, forced: bool = False) -> None:
        """Have buffers returned whose records are complete; waits for no GPU."""
        if self.cupti is None or not self.on or self.hangs():
            return
        self._flushed_at = real_time.monotonic()
        try:
            self.cupti.flush(forced=forced)
        finally:
            self._flushed_at = math.inf

    def hangs(self) -> bool:
        """Return whether a question to CUPTI has not been answered for long: then nobody should ask again."""
        return real_time.monotonic() - self._flushed_at > _HANGS

    def read(self) -> tuple[list[ActivityColumns], int]:
        """All records that were returned, and from how many buffers.

        Buffers are returned in the order of launches, but stand here in any order: so it is looked until
        there are none, and what one of them holds is never given before what came earlier.
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
        """Switch the records off; those of work that goes on are lost."""
        from jupyter_mlgpu.measure.gpu.cupti import KINDS, CuptiError

        if not self.on or self.cupti is None:
            return
        self.on = False
        if self.hangs():
            return
        with suppress(CuptiError):  # somebody else has switched CUPTI off
            for kind in KINDS:
                self.cupti.disable(kind)
            self.cupti.flush(forced=True)

    def leave(self) -> None:
        """Switch off, and leave the frameworks' profilers alone."""
        self._profilers.leave()
        self.off()

    def forked(self) -> None:
        """A forked child has no CUDA of its parent's, and no records."""
        self._reading = threading.Lock()
        self.on = False
        self._never = NO_CUDA

    def _find_driver(self) -> bool:
        """Look for the driver, which takes 40 microseconds where it is not loaded: not before every cell."""
        now = real_time.monotonic()
        if now < self._look_again:
            return False
        self._look_again = now + _LOOK_AGAIN
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
            places = [(one - address) // 8 for one in self.cupti.records(address, size)]
            self._sizes.update(sizes_of(words, places))
            return read(words, self._sizes)


@functools.cache
def _load_cupti() -> tuple[Cupti, ActivityBuffers]:
    """CUPTI, with the buffers of this process: it may keep one of them while it is switched off."""
    from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
    from jupyter_mlgpu.measure.gpu.cupti import Cupti, find

    path = find()
    if path is None:
        raise OSError("the library libcupti was not found")
    return Cupti(path), ActivityBuffers()
