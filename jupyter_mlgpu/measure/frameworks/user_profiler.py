"""A framework's profiler that is on for one cell, and ends before the cell begins one of its own.

A framework runs one profiler at a time. The names by which its Python code reaches the native one are
replaced while ours is on, and put back with it; whoever calls them in between is the user's code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.ops.events import CUT, Profile, ProfileEvents
from jupyter_mlgpu.measure.ops.profiler import Session
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

GAVE_WAY = say("This cell started its own profiler, so ours stopped: times per operation end at that point.")


class Replaced:
    """Names of a module replaced until `put_back`."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._before: dict[str, tuple[Any, Any]] = {}

    def replace(self, name: str, value: Any) -> None:
        """Put `value` in the place of the module's `name`."""
        self._before[name] = (getattr(self._module, name), value)
        setattr(self._module, name, value)

    def put_back(self) -> None:
        """What was there before; a name that somebody else has replaced since stays theirs."""
        for name, (before, ours) in self._before.items():
            if getattr(self._module, name) is ours:
                setattr(self._module, name, before)
        self._before.clear()


class FirstStep:
    """Stands for a module: its `ProfilerSession` calls `first` and makes a session then."""

    def __init__(self, module: Any, first: Callable[[], None]) -> None:
        self._module = module
        self._first = first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def ProfilerSession(self, *arguments: Any, **named: Any) -> Any:  # noqa: N802 - the module's own name
        """The module's own session, begun after ours has ended."""
        self._first()
        return self._module.ProfilerSession(*arguments, **named)


class CellSession(Session):
    """A profiler that is on, to be derived from: `_turn_off` ends it, `_read` tells what it saw.

    `module` is that through which the user's code would begin one; its names are put into `_replaced`.
    """

    def __init__(self, module: Any, problems: tuple[Sentence, ...] = ()) -> None:
        self._problems = problems
        self._begun_ns = real_time.time_ns()
        self._ended_ns: int | None = None
        self._lost: Exception | None = None
        self._gave_way = False
        self._replaced = Replaced(module)

    def stop(self) -> Profile:
        """Turn it off, and read what it saw; raises what turning it off has raised."""
        self._end()
        if self._lost is not None:
            raise self._lost
        return self._read()

    def abandon(self) -> None:
        """Turn it off, and read nothing."""
        self._end()

    def _turn_off(self) -> None:
        raise NotImplementedError

    def _read(self) -> Profile:
        raise NotImplementedError

    def _step_aside(self) -> None:
        self._gave_way = True
        self._end()

    def _end(self) -> None:
        if self._ended_ns is None:
            self._ended_ns = real_time.time_ns()
            self._replaced.put_back()
            try:
                self._turn_off()
            except Exception as error:  # a full disk; another session, begun from outside
                self._lost = error

    def _profile(
        self,
        framework: str,
        seen: ProfileEvents,
        *problems: Sentence,
        left_out: int = 0,
        xspace: bytes | None = None,
        devices_unseen: bool = False,
    ) -> Profile:
        """What was seen as a profile; `left_out` events were cut from it before it was read."""
        assert self._ended_ns is not None
        left_out += seen.left_out
        return Profile(
            framework,
            say("{framework}'s profiler", framework=registry.title(framework)),
            seen.events,
            self._begun_ns,
            self._ended_ns,
            left_out,
            CUT if left_out else None,
            (*self._problems, *problems, *([GAVE_WAY] if self._gave_way else []), *seen.problems),
            not self._gave_way,
            xspace,
            devices_unseen,
        )
