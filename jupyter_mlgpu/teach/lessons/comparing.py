"""`cmp`: compares two tensors that should be equal, in one line and a picture.

The line follows Andrej Karpathy's lessons on makemore: exact, approximate, largest difference.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.markup import joined
from jupyter_mlgpu.teach.lessons.differences import compare
from jupyter_mlgpu.teach.lessons.display import ShownValue, number, yes
from jupyter_mlgpu.teach.lessons.values import Numbers, Open, read


@dataclass(eq=False, repr=False)
class ArrayComparison:
    """The result of `cmp`.

    `exact` is True if both are equal, `approximate` if they are equal except for rounding. Both are None if
    one of the two is still open. `largest` is the largest difference, or None if there is none.
    """

    line: Sentence
    exact: bool | None
    approximate: bool | None
    largest: float | None
    shown: tuple[ShownValue, ...]

    def __repr__(self) -> str:
        return "\n".join([translate(self.line), *(text for one in self.shown for text in one.text())])

    def _repr_html_(self) -> str:
        # `cmp` has printed the line already.
        return str(joined(*(one.html() for one in self.shown)))


def cmp(what: str, yours: object, wanted: object, tolerance: float = 1e-5) -> ArrayComparison:
    """Compare a tensor of yours with the one it should be, print a line, and return a picture.

    `approximate` allows a difference of `tolerance` of each number, or a tenth of `tolerance` of the largest
    number in the array. No error is raised: if yours is still open or has another shape, the line says so.

    >>> found = cmp("the slope", [2.0], [2.0])
    the slope: exact: yes, approximate: yes, largest difference: 0
    """
    comparison = _compare(what, yours, wanted, tolerance)
    print(translate(comparison.line))
    return comparison


def _compare(what: str, yours: object, wanted: object, tolerance: float) -> ArrayComparison:
    right = read(wanted)
    mine = read(yours, like=right)
    if isinstance(right, Open):
        return ArrayComparison(
            say("{what}: there is nothing to compare it with yet.", what=what), None, None, None, ()
        )
    found = compare(mine, right, tolerance, {})
    if found.same is None:
        return ArrayComparison(say("{what}: yours is still open.", what=what), None, None, None, found.shown)
    if not (isinstance(mine, Numbers) and isinstance(right, Numbers) and mine.shape == right.shape):
        return ArrayComparison(
            _in_words(what, found.same, found.what), found.same, found.same, None, found.shown
        )
    exact = bool((mine.array == right.array).all())
    largest = _largest(mine, right)
    line = say(
        "{what}: exact: {exact}, approximate: {approximate}, largest difference: {largest}",
        what=what,
        exact=yes(exact),
        approximate=yes(found.same),
        largest=say("not a number") if largest is None else number(largest),
    )
    return ArrayComparison(line, exact, found.same, largest, found.shown)


def _largest(mine: Numbers, right: Numbers) -> float | None:
    import numpy as np

    with np.errstate(invalid="ignore"):
        off = np.where(mine.array == right.array, 0.0, np.abs(mine.array - right.array.astype(float)))
    most = float(off.max(initial=0.0))
    return None if most != most else most


def _in_words(what: str, same: bool, why: Sentence) -> Sentence:
    return say("{what}: the same", what=what) if same else say("{what}: {why}", what=what, why=why)
