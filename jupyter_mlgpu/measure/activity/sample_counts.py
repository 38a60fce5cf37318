"""Counts samples of a thread: those that agree are one `Part`, with the time that they stand for."""

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
    """The samples so far, by what was sampled."""

    def __init__(self) -> None:
        self._sums: dict[_Key, _Sum] = {}
        self.count = 0
        self.seconds = 0.0

    def add(self, stack: Stack, state: State, seconds: float, waited: float, *, thread: bool = False) -> None:
        """Count a sample that stands for `seconds` and came `waited` seconds after it was due."""
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
        """Return a copy that later samples do not change."""
        other = SampleCounts()
        other._sums = {key: copy(sum_of_key) for key, sum_of_key in self._sums.items()}
        other.count, other.seconds = self.count, self.seconds
        return other

    def share(self, states: Collection[State]) -> float:
        """Return the part of the samples that have one of these states."""
        count = sum(sum_of_key.samples for key, sum_of_key in self._sums.items() if key.state in states)
        return count / self.count if self.count else 0.0

    def parts(self) -> tuple[Part, ...]:
        """Return the sums with calls and lines. It reads source files, so call it after the cell's end."""
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
                seconds=sum_of_key.seconds,
                samples=sum_of_key.samples,
                waited=sum_of_key.waited,
                doing=sum_of_key.stack.doing,
                call=called(sum_of_key.stack.inner),
                line=line_of(sum_of_key.stack),
                line_call=called(sum_of_key.stack.users),
                thread=key.thread,
            )
            for key, sum_of_key in self._sums.items()
        )


def _address(place: Place | None) -> tuple[int, int] | None:
    # Comparing code objects compares all that they contain. They are kept alive, so addresses identify them.
    return None if place is None else (id(place.code), place.instruction)


def line_of(stack: Stack) -> Line | None:
    """Return the user's innermost line, as compiled."""
    if stack.users is None or stack.users.line < 1:
        return None
    return Line(stack.users.line, stack.cell or None, stack.users.code.co_filename)
