"""Which whole number makes a cell larger than its earlier runs were: the batch, mostly.

The code of a cell without its whole numbers is its form. Runs of one form that differ in one number, in the
code or in a variable that it names, were of two sizes, and their peaks of memory tell what a size takes.
Numbers in other cells' code are not seen, and an exponent (`2**20`) is part of the form: memory does not grow
in proportion to it.
"""

from __future__ import annotations

import hashlib
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from jupyter_mlgpu.record.flight.flight_record import LARGEST_SIZE, MOST_RUNS, SizeRun, Sizes
from jupyter_mlgpu.record.redact import beginning

#: Gives the whole numbers among the variables that a cell's code names.
Named = Callable[[str], Mapping[str, int]]
#: A number of a form: its place among those of the code, or its variable's name.
Which = int | str

#: Runs of any code that are remembered.
_REMEMBERED = 64
#: A cell with more code, or more numbers, holds data: it is not compared.
_MOST_CODE, _MOST_NUMBERS = 64 * 1024, 200
_NUMBER = re.compile(r"(?<![\w.])(?<!\*\*)(?<!\*\* )\d(?:_?\d){0,11}(?![\w.])(?! ?\*\*)")
#: What stands before a number that has a name: `batch = `, `batch_size=`, `"batch": `.
_NAME_BEFORE = re.compile(r"([^\W\d]\w*)[\"']?\s*[=:]\s*$")
_NAME_ROOM = 80


@dataclass(frozen=True, slots=True)
class CodeForm:
    """A cell's code without its numbers, as a digest, and these numbers by what they are."""

    digest: bytes
    numbers: Mapping[Which, int]


def code_form(code: str, named: Mapping[str, int]) -> CodeForm | None:
    """A cell as a form with numbers in it; `named` are its variables'. None for one that holds data."""
    if len(code) > _MOST_CODE:
        return None
    found = _NUMBER.findall(code)
    if len(found) > _MOST_NUMBERS:
        return None
    digest = hashlib.sha256(_NUMBER.sub("0", code).encode(errors="replace")).digest()
    numbers: dict[Which, int] = {place: int(text) for place, text in enumerate(found)}
    numbers.update(named.items())
    return CodeForm(digest, numbers)


class SizesSeen:
    """Remembers runs that ended well, with their peaks of memory, and compares the next one with them."""

    def __init__(self) -> None:
        self._runs: deque[tuple[CodeForm, int]] = deque(maxlen=_REMEMBERED)

    @property
    def any(self) -> bool:
        """Whether a run is remembered."""
        return bool(self._runs)

    def remember(self, run: CodeForm, peak: int) -> None:
        """A run has ended, with this peak of the process's memory in bytes."""
        self._runs.append((run, peak))

    def of(self, now: CodeForm, code: str) -> Sizes | None:
        """The number in which a run of this code differs from earlier ones, and these; None where none is.

        Where runs differ in one number and others in another, it is that of the newest of them.
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

    def _differing(self, now: CodeForm) -> Iterator[tuple[Which, SizeRun]]:
        """Runs that differ in one number, and in which."""
        for run, peak in tuple(self._runs):
            if run.digest != now.digest or run.numbers.keys() != now.numbers.keys():
                continue
            others = [which for which, number in run.numbers.items() if number != now.numbers[which]]
            if len(others) == 1 and 1 <= run.numbers[others[0]] <= LARGEST_SIZE:
                yield others[0], SizeRun(run.numbers[others[0]], peak)


def _name(which: Which, code: str) -> str | None:
    """What the code calls a number; None where it gives it no name."""
    if isinstance(which, str):
        return beginning(which)
    start = [one.start() for one in _NUMBER.finditer(code)][which]
    before = _NAME_BEFORE.search(code, max(0, start - _NAME_ROOM), start)
    return None if before is None else beginning(before[1])
