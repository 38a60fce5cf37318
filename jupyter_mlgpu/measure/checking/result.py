"""The answer of a check: how many operations were right, and the first that were wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jupyter_mlgpu.measure.checking.compare import Deviation
from jupyter_mlgpu.measure.checking.user_lines import CalledAt
from jupyter_mlgpu.record.displayable import Bundled


@dataclass(frozen=True)
class WrongResult:
    """An operation whose error its number type does not explain.

    `output` counts its results from 0, `line` is None if no line of the user's code called it, and `where`
    names the line for people. `times` counts its wrong results at that line, of which this is the first.
    `known` says which of PyTorch's issues is about it, or is empty.
    """

    operation: str
    line: CalledAt | None
    device: str
    dtype: str
    shape: tuple[int, ...]
    output: int
    deviation: Deviation
    where: str = ""
    times: int = 1
    known: str = ""


@dataclass(frozen=True, repr=False)
class ResultCheck(Bundled):
    """The operations of a run that were checked, and those that were not.

    `random` drew random numbers, `not_comparable` has counts of others by operation, `left_out` came after
    the time for checking was spent or were too large. `wrong` counts all wrong operations; `first` has the
    first of them.
    """

    checked: int
    random: int
    not_comparable: Mapping[str, int]
    left_out: int
    wrong: int
    first: tuple[WrongResult, ...]
    seconds: float
    budget: float
