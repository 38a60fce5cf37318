"""The time that JAX has traced, lowered and compiled, from `jax.monitoring`.

JAX calls a listener at the end of each phase, which takes about a microsecond. A phase may lie within another
one (a constant that is computed while a function is traced), and is counted once.
"""

from __future__ import annotations

import threading
from contextlib import suppress

from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.record.clock import real_time

#: The prefix of the names of all phases, and the phase that creates a program (JAX 0.4 to 0.11).
_PHASES = "/jax/core/compile/"
_PROGRAM = "/jax/core/compile/backend_compile_duration"
#: The number of phases that are kept: those that may lie within the next one to end.
_REMEMBERED = 256
#: Seconds by which a phase may seem to begin before the one around it, because events arrive a little late.
_LATE = 1e-4


class CompilingClock:
    """The seconds that one thread has spent in these phases, and its programs; None until `listen`."""

    def __init__(self) -> None:
        self._thread: int | None = None
        self._compiled: Compiled | None = None
        # Begin and duration of each phase that lies in no longer one.
        self._phases: list[tuple[float, float]] = []

    def listen(self) -> None:
        """Count what this thread compiles from now on."""
        self._thread = threading.get_ident()
        if self._compiled is None or not self._listening():
            module("jax").monitoring.register_event_duration_secs_listener(self._on_event)
            self._compiled = self._compiled or Compiled(0.0, 0)

    def compiled(self) -> Compiled | None:
        """Return the total so far."""
        return self._compiled

    def release(self) -> None:
        """Stop counting until `listen`."""
        if self._compiled is not None and self._listening():
            # The user's code may have removed all listeners; JAX before 0.5 could not remove a single one.
            with suppress(Exception):
                module("jax").monitoring.unregister_event_duration_listener(self._on_event)

    def _listening(self) -> bool:
        # Private: `jax.monitoring` does not list its listeners, and the user's code may remove them.
        from jax._src import monitoring

        listeners = getattr(monitoring, "get_event_duration_listeners", None)
        return listeners is None or self._on_event in listeners()

    def _on_event(self, event: str, seconds: float, **_: object) -> None:
        if self._compiled is None or threading.get_ident() != self._thread or not event.startswith(_PHASES):
            return
        began, inner = real_time.perf_counter() - seconds, 0.0
        while self._phases and self._phases[-1][0] >= began - _LATE:
            inner += self._phases.pop()[1]
        self._phases.append((began, seconds))
        del self._phases[:-_REMEMBERED]
        programs = (self._compiled.programs or 0) + (event == _PROGRAM)
        self._compiled = Compiled(self._compiled.seconds + max(0.0, seconds - inner), programs)
