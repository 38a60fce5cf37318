"""Measure the part of a program's time that its cause took, without the engine that is judged."""

from __future__ import annotations

import importlib
import os
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from typing import Any

from tests.limits.cells import Cells
from tests.limits.load import beside, run_delay
from tests.limits.program import Program


class Clock:
    """A clock that runs while a cell does, and gives the part of the wall time that its cause took."""

    def __enter__(self) -> Clock:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def share(self, wall: float) -> float | None:
        """Return the part of these seconds, from 0 to 1; None where it is not known."""
        return None


class Difference(Clock):
    """The seconds that a counter has gained while the cell ran."""

    def __init__(self, read: Callable[[], float | None], rest: bool = False) -> None:
        """Read a counter at both ends; `rest` gives the part that it did not gain."""
        self._read, self._rest = read, rest
        self._gained: float | None = None

    def __enter__(self) -> Clock:
        self._begun = self._read()
        return self

    def __exit__(self, *error: object) -> None:
        ended = self._read()
        self._gained = None if ended is None or self._begun is None else ended - self._begun

    def share(self, wall: float) -> float | None:
        """Return the gained seconds, or the rest, as a part of the wall time."""
        if self._gained is None:
            return None
        part = min(1.0, self._gained / wall)
        return 1 - part if self._rest else part


class Calls(Clock):
    """Time spent in functions, of any thread; a call within a call counts with the outer one.

    A name is looked for among those that the cells have defined, and then among modules. With `()` behind it,
    it is a generator, and the time is that of making what it yields.
    """

    def __init__(self, targets: list[str], names: dict[str, Any]) -> None:
        self._targets, self._names = targets, names
        self._seconds = 0.0
        self._lock = threading.Lock()
        self._depth = threading.local()
        self._replaced = ExitStack()

    def __enter__(self) -> Clock:
        for target in self._targets:
            wrap = self._timed_generator if target.endswith("()") else self._timed
            self._replaced.enter_context(replaced(target.removesuffix("()"), self._names, wrap))
        return self

    def __exit__(self, *error: object) -> None:
        self._replaced.close()

    def share(self, wall: float) -> float | None:
        """Return the time in these calls as a part of the wall time; several threads count as one at most."""
        return min(1.0, self._seconds / wall)

    def _timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            with self._spell():
                return function(*arguments, **named)

        return timed

    def _timed_generator(self, function: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
        def timed(*arguments: Any, **named: Any) -> Iterator[Any]:
            iterator = iter(function(*arguments, **named))
            while True:
                with self._spell():
                    try:
                        item = next(iterator)
                    except StopIteration:
                        return
                yield item

        return timed

    @contextmanager
    def _spell(self) -> Iterator[None]:
        """Time one call; not again within itself."""
        self._depth.value = getattr(self._depth, "value", 0) + 1
        begun = time.perf_counter()
        try:
            yield
        finally:
            seconds = time.perf_counter() - begun
            self._depth.value -= 1
            if self._depth.value == 0:
                with self._lock:
                    self._seconds += seconds


@contextmanager
def replaced(target: str, names: dict[str, Any], by: Callable[[Any], Any]) -> Iterator[None]:
    """Replace a function by `by(function)` in this block: one of a cell, `module.name` or `Class.name`."""
    first, *path = target.split(".")
    if not path:
        original = names[first]
        names[first] = by(original)
        yield
        names[first] = original
        return
    holder = _holder([first, *path[:-1]], names)
    original = getattr(holder, path[-1])
    setattr(holder, path[-1], by(original))
    yield
    setattr(holder, path[-1], original)


def _holder(path: list[str], names: dict[str, Any]) -> Any:
    """Return the object that holds the function: found from a name of a cell, or from a module."""
    if path[0] in names:
        holder, rest = names[path[0]], path[1:]
    else:
        length = len(path)
        while True:
            try:
                holder, rest = importlib.import_module(".".join(path[:length])), path[length:]
                break
            except ModuleNotFoundError:
                length -= 1
    for name in rest:
        holder = getattr(holder, name)
    return holder


def without(targets: str, names: dict[str, Any]) -> ExitStack:
    """Let these functions only give back their first argument in this block."""
    stack = ExitStack()
    for target in targets.split(","):
        stack.enter_context(replaced(target.strip(), names, lambda _: lambda first, *rest, **named: first))
    return stack


def clock_of(program: Program, names: dict[str, Any]) -> Clock:
    """Return the clock of a program; `again`, `without` and `mended` compare this run with another."""
    word, _, targets = program.clock.partition(" ")
    match word:
        case "idle":
            return Difference(time.process_time, rest=True)
        case "main":
            # What waited for a core was at work, too.
            return Difference(lambda: time.thread_time() + (run_delay(os.getpid()) or 0.0))
        case "delay":
            return Difference(lambda: run_delay(os.getpid()))
        case "calls":
            return Calls([target.strip() for target in targets.split(",")], names)
        case "again" | "without" | "mended":
            return Clock()
    raise ValueError(f"{program.id} asks for no known clock: {program.clock!r}")


def measured(program: Program) -> dict[str, object]:
    """Run a program here, and return its seconds and the part of them that its cause took."""
    cells = Cells()
    for setup in program.before:
        cells.run(setup)
    clock, ready = clock_of(program, cells.names), cells.compiled(program.code)
    with beside(program.load), clock:
        seconds = timed(cells, ready)
    share = clock.share(seconds)
    word, _, targets = program.clock.partition(" ")
    if word in ("again", "without"):
        with without(targets, cells.names) if word == "without" else nullcontext():
            share = 1 - timed(cells, ready) / seconds
    after: float | None = None
    if program.mended is not None:
        for setup in program.mended_before:
            cells.run(setup)
        after = timed(cells, cells.compiled(program.mended))
    if program.clock == "mended":
        assert after is not None, program.id
        share = 1 - after / seconds
    return {"id": program.id, "seconds": seconds, "share": share, "mended": after}


def timed(cells: Cells, code: types.CodeType) -> float:
    """Run a cell and return its seconds."""
    begun = time.perf_counter()
    cells.run(code)
    return time.perf_counter() - begun
