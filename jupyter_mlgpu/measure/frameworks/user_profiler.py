"""A framework's profiler that is on for one cell, and ends before the cell starts its own.

A framework runs one profiler at a time. While ours is on, the names through which its Python code calls the
native profiler are replaced. They are restored when ours ends. Any call in between comes from the user's
code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.ops.events import CUT, Profile, ProfileEvents
from jupyter_mlgpu.measure.ops.profiler import Session
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

_USER_STARTED_ONE = say(
    "This cell started its own profiler, so ours stopped: times per operation end at that point."
)


class ReplacedNames:
    """Names of a module that are replaced until `put_back`."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._before: dict[str, tuple[Any, Any]] = {}

    def replace(self, name: str, value: Any) -> None:
        """Replace the module's `name` by `value`."""
        self._before[name] = (getattr(self._module, name), value)
        setattr(self._module, name, value)

    def put_back(self) -> None:
        """Restore the originals, except names that somebody else has replaced since."""
        for name, (before, ours) in self._before.items():
            if getattr(self._module, name) is ours:
                setattr(self._module, name, before)
        self._before.clear()


class ProfilerModuleProxy:
    """A module whose `ProfilerSession` calls `before_session` first."""

    def __init__(self, module: Any, before_session: Callable[[], None]) -> None:
        self._module = module
        self._before_session = before_session

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def ProfilerSession(self, *arguments: Any, **named: Any) -> Any:  # noqa: N802 - the module's own name
        """Return the module's own session, created after `before_session`."""
        self._before_session()
        return self._module.ProfilerSession(*arguments, **named)


class CellSession(Session):
    """A running profiler; a base class. `_turn_off` ends the profiler, `_read` returns its profile.

    `module` is the one through which the user's code would start a profiler. Subclasses replace its names
    with `_replaced`.
    """

    def __init__(self, module: Any, problems: tuple[Sentence, ...] = ()) -> None:
        self._problems = problems
        self._begun_ns = real_time.time_ns()
        self._ended_ns: int | None = None
        self._lost: Exception | None = None
        self._stopped_for_user = False
        self._replaced = ReplacedNames(module)

    def stop(self) -> Profile:
        """Turn the profiler off and return its profile; raises the error of turning it off."""
        self.turn_off()
        if self._lost is not None:
            raise self._lost
        return self._read()

    def abandon(self) -> None:
        """Turn the profiler off and read nothing."""
        self.turn_off()

    def _turn_off(self) -> None:
        raise NotImplementedError

    def _read(self) -> Profile:
        raise NotImplementedError

    def _stop_for_user(self) -> None:
        self._stopped_for_user = True
        self.turn_off()

    def turn_off(self) -> None:
        """Turn the profiler off, and keep an error for `stop`."""
        if self._ended_ns is None:
            self._ended_ns = real_time.time_ns()
            self._replaced.put_back()
            try:
                self._turn_off()
            except Exception as error:  # a full disk; another session, started from outside
                self._lost = error

    def _profile(
        self,
        framework: str,
        events: ProfileEvents,
        *problems: Sentence,
        left_out: int = 0,
        xspace: bytes | None = None,
        devices_unseen: bool = False,
    ) -> Profile:
        """Return the events as a profile; `left_out` events were dropped before they were read."""
        assert self._ended_ns is not None
        left_out += events.left_out
        return Profile(
            framework,
            say("{framework}'s profiler", framework=registry.title(framework)),
            events.events,
            self._begun_ns,
            self._ended_ns,
            left_out,
            CUT if left_out else None,
            (
                *self._problems,
                *problems,
                *([_USER_STARTED_ONE] if self._stopped_for_user else []),
                *events.problems,
            ),
            not self._stopped_for_user,
            xspace,
            devices_unseen,
        )
