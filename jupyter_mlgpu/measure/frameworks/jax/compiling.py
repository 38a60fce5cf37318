"""How long JAX has traced, lowered and compiled, as it tells by `jax.monitoring`.

JAX calls a listener at the end of each phase; what is heard takes about a microsecond. A phase may lie within
another one (a constant that is computed while a function is traced), and is counted once.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.record.clock import real_time

#: What the names of all phases begin with, and the one that makes a program (JAX 0.4 to 0.11).
_PHASES = "/jax/core/compile/"
_PROGRAM = "/jax/core/compile/backend_compile_duration"
#: Phases that are remembered: those that may lie within the next one to end.
_REMEMBERED = 256
#: Seconds by which a phase may seem to begin before the one around it: both are heard a little late.
_LATE = 1e-4


class CompilingClock:
    """The seconds that one thread has spent in these phases, and the programs; none until `listen`."""

    def __init__(self) -> None:
        self._thread: int | None = None
        self._compiled: Compiled | None = None
        # Where each phase began, and how long it was, that lies in no longer one.
        self._phases: list[tuple[float, float]] = []

    def listen(self) -> None:
        """Hear what this thread compiles from now on."""
        self._thread = threading.get_ident()
        if self._compiled is None or not self._listening():
            module("jax").monitoring.register_event_duration_secs_listener(self._heard)
            self._compiled = self._compiled or Compiled(0.0, 0)

    def told(self) -> Compiled | None:
        """What was heard so far."""
        return self._compiled

    def release(self) -> None:
        """Hear nothing, until `listen`."""
        if self._compiled is not None and self._listening():
            # The user's code may have cleared all listeners; before JAX 0.5 one could not be taken away.
            with suppress(Exception):
                module("jax").monitoring.unregister_event_duration_listener(self._heard)

    def _listening(self) -> bool:
        # Private: `jax.monitoring` tells no listeners, and the user's code may clear them.
        from jax._src import monitoring

        listeners = getattr(monitoring, "get_event_duration_listeners", None)
        return listeners is None or self._heard in listeners()

    def _heard(self, event: str, seconds: float, **_: object) -> None:
        if self._compiled is None or threading.get_ident() != self._thread or not event.startswith(_PHASES):
            return
        began, inner = real_time.perf_counter() - seconds, 0.0
        while self._phases and self._phases[-1][0] >= began - _LATE:
            inner += self._phases.pop()[1]
        self._phases.append((began, seconds))
        del self._phases[:-_REMEMBERED]
        programs = (self._compiled.programs or 0) + (event == _PROGRAM)
        self._compiled = Compiled(self._compiled.seconds + max(0.0, seconds - inner), programs)
