"""Finds the whole number that makes a cell larger than its earlier runs: mostly the batch size.

A cell's code without its whole numbers is its form. Two runs of one form that differ in one number, in the
code or in a variable that the code names, had two sizes. Their peaks of memory show what a size takes.
Numbers in other cells' code are not considered. An exponent (`2**20`) is part of the form: memory does not
grow in proportion to it.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from jupyter_mlgpu.record.flight.flight_record import LARGEST_SIZE, MOST_RUNS, SizeRun, Sizes
from jupyter_mlgpu.record.redact import beginning

#: Returns the whole numbers among the variables that a cell's code names.
Named = Callable[[str], Mapping[str, int]]
#: The key of a number in a form: its position among the numbers of the code, or its variable's name.
NumberKey = int | str

#: How many runs are remembered, of all forms together.
_REMEMBERED = 64
#: A cell with more characters or more numbers holds data, and is not compared.
_MOST_CODE, _MOST_NUMBERS = 64 * 1024, 200
_NUMBER = re.compile(r"(?<![\w.])(?<!\*\*)(?<!\*\* )\d(?:_?\d){0,11}(?![\w.])(?! ?\*\*)")
#: The name before a number: `batch = `, `batch_size=`, `"batch": `.
_NAME_BEFORE = re.compile(r"([^\W\d]\w*)[\"']?\s*[=:]\s*$")
_NAME_ROOM = 80


class CodeForm(Struct, frozen=True):
    """A cell's code without its numbers, as a digest, and the numbers by their keys."""

    digest: bytes
    numbers: Mapping[NumberKey, int]


def code_form(code: str, named: Mapping[str, int]) -> CodeForm | None:
    """Return the form of a cell; `named` are its variables with whole numbers. None if it holds data."""
    if len(code) > _MOST_CODE:
        return None
    found = _NUMBER.findall(code)
    if len(found) > _MOST_NUMBERS:
        return None
    digest = hashlib.sha256(_NUMBER.sub("0", code).encode(errors="replace")).digest()
    numbers: dict[NumberKey, int] = {place: int(text) for place, text in enumerate(found)}
    numbers.update(named.items())
    return CodeForm(digest, numbers)


class SizesSeen:
    """Remembers the peak memory of successful runs and compares the next run with them."""

    def __init__(self) -> None:
        self._runs: deque[tuple[CodeForm, int]] = deque(maxlen=_REMEMBERED)

    @property
    def any(self) -> bool:
        """True if a run is remembered."""
        return bool(self._runs)

    def remember(self, run: CodeForm, peak: int) -> None:
        """Remember a run and its peak memory of the process, in bytes."""
        self._runs.append((run, peak))

    def of(self, now: CodeForm, code: str) -> Sizes | None:
        """Return the number in which this run differs from earlier ones, with their sizes and peaks.

        If some runs differ in one number and others in another, the newest of them decides. Returns None if
        no run differs in exactly one number.
        """
        differing = list(self._differing(now))
        if not differing:
            return None
        which, _ = differing[-1]
        size = now.numbers[which]
        if not 1 <= size <= LARGEST_SIZE:
            return None
        runs = tuple(run for other, run in differing if other == which)
        return Sizes(size, runs[-MOST_RUNS:], _name(which, code))

    def _differing(self, now: CodeForm) -> Iterator[tuple[NumberKey, SizeRun]]:
        """Yield the runs that differ in exactly one number, with that number's key."""
        for run, peak in tuple(self._runs):
            if run.digest != now.digest or run.numbers.keys() != now.numbers.keys():
                continue
            others = [which for which, number in run.numbers.items() if number != now.numbers[which]]
            if len(others) == 1 and 1 <= run.numbers[others[0]] <= LARGEST_SIZE:
                yield others[0], SizeRun(run.numbers[others[0]], peak)


def _name(which: NumberKey, code: str) -> str | None:
    """Return the name of a number in the code, None if it has none."""
    if isinstance(which, str):
        return beginning(which)
    start = [match.start() for match in _NUMBER.finditer(code)][which]
    before = _NAME_BEFORE.search(code, max(0, start - _NAME_ROOM), start)
    return None if before is None else beginning(before[1])
