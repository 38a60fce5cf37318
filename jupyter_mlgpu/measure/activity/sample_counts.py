"""Looks at a thread, added up: those that saw the same are one `Part`, with the time that they stand for."""

from __future__ import annotations

from collections.abc import Collection
from copy import copy
from typing import NamedTuple

from jupyter_mlgpu.measure.activity.activity import Call, Line, Part, State
from jupyter_mlgpu.measure.activity.calls import call_at
from jupyter_mlgpu.measure.activity.stack import Place, Stack


class _Key(NamedTuple):
    state: State
    doing: str | None
    inner: tuple[int, int] | None
    users: tuple[int, int] | None
    thread: bool


class _Sum:
    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.seconds = self.waited = 0.0
        self.samples = 0


class SampleCounts:
    """What was seen so far, by what it was."""

    def __init__(self) -> None:
        self._sums: dict[_Key, _Sum] = {}
        self.count = 0
        self.seconds = 0.0

    def add(self, stack: Stack, state: State, seconds: float, waited: float, *, thread: bool = False) -> None:
        """A look that stands for so many seconds, and came `waited` seconds after it was due."""
        key = _Key(state, stack.doing, _address(stack.inner), _address(stack.users), thread)
        if key not in self._sums:
            self._sums[key] = _Sum(stack)
        of_key = self._sums[key]
        of_key.seconds += seconds
        of_key.waited += waited
        of_key.samples += 1
        self.seconds += seconds
        self.count += 1

    def copy(self) -> SampleCounts:
        """Return the same, to which nothing is added."""
        made = SampleCounts()
        made._sums = {key: copy(one) for key, one in self._sums.items()}
        made.count, made.seconds = self.count, self.seconds
        return made

    def share(self, states: Collection[State]) -> float:
        """The part of the looks that saw one of these."""
        seen = sum(one.samples for key, one in self._sums.items() if key.state in states)
        return seen / self.count if self.count else 0.0

    def parts(self) -> tuple[Part, ...]:
        """The sums in words; the sources are read here, so call it when the cell has ended."""
        calls: dict[tuple[int, int], Call | None] = {}

        def called(place: Place | None) -> Call | None:
            address = _address(place)
            if place is None or address is None:
                return None
            if address not in calls:
                calls[address] = call_at(place)
            return calls[address]

        return tuple(
            Part(
                state=key.state,
                seconds=one.seconds,
                samples=one.samples,
                waited=one.waited,
                doing=one.stack.doing,
                call=called(one.stack.inner),
                line=line_of(one.stack),
                line_call=called(one.stack.users),
                thread=key.thread,
            )
            for key, one in self._sums.items()
        )


def _address(place: Place | None) -> tuple[int, int] | None:
    # Code objects are compared by all that they hold. These are kept, so their addresses tell them apart.
    return None if place is None else (id(place.code), place.instruction)


def line_of(stack: Stack) -> Line | None:
    """The innermost line of the user's, as it was compiled."""
    if stack.users is None or stack.users.line < 1:
        return None
    return Line(stack.users.line, stack.cell or None, stack.users.code.co_filename)
