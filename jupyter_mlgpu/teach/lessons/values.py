"""Results of answers without their framework: arrays of numbers, words, and lists of these."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, eq=False)
class Numbers:
    """A tensor of any framework as a NumPy array; a single number has shape []."""

    array: np.ndarray[Any, Any]

    @property
    def shape(self) -> list[int]:
        """The shape as a list."""
        return list(self.array.shape)


@dataclass(frozen=True)
class SeveralValues:
    """Several values: a tuple, a list that is no tensor, or a dictionary, whose keys are the labels."""

    labels: tuple[str, ...]
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Open:
    """A value that is not there yet: three dots, or None."""


@dataclass(frozen=True)
class Unreadable:
    """A value that is neither numbers nor words, with a description."""

    what: Sentence


#: A text is a `str`.
Value = Numbers | str | SeveralValues | Open | Unreadable


def read(value: object, like: Value | None = None) -> Value:
    """Convert a result to a value that can be compared; `like` is the value to compare it with."""
    if value is None or value is ...:
        return Open()
    if isinstance(value, str):
        return value if isinstance(value, Sentence) else str(value)
    if isinstance(value, Mapping):
        # Keys are sorted as in `like`: the order of a dictionary does not matter.
        names = [one if isinstance(one, str) else str(one) for one in value]
        wanted = [one for one in like.labels if one in names] if isinstance(like, SeveralValues) else []
        named = dict(zip(names, value.values(), strict=True))
        labels = [*wanted, *(name for name in named if name not in wanted)]
        return _parts(labels, [named[label] for label in labels], like)
    if isinstance(value, Set):
        value = sorted(value, key=str)
    if isinstance(value, list | tuple):
        several = isinstance(like, SeveralValues) if like is not None else isinstance(value, tuple)
        array = None if several else _array(value)
        if array is None:
            return _parts([f"[{number}]" for number in range(len(value))], value, like)
        return Numbers(array)
    array = _array(value)
    if array is not None and array.dtype.kind in "US":
        return read(array.tolist(), like)
    return Unreadable(say("a {kind}", kind=type(value).__name__)) if array is None else Numbers(array)


def _parts(labels: list[str], values: Any, like: Value | None) -> SeveralValues:
    likes = dict(zip(like.labels, like.values, strict=True)) if isinstance(like, SeveralValues) else {}
    return SeveralValues(
        tuple(labels),
        tuple(read(one, likes.get(label)) for label, one in zip(labels, values, strict=True)),
    )


def _array(value: Any) -> np.ndarray[Any, Any] | None:
    """Return a NumPy array of numbers, or None; `value` may be a tensor on a GPU."""
    import numpy as np

    try:
        if hasattr(value, "detach"):  # PyTorch converts no tensor on a GPU or with gradients
            value = value.detach().cpu()
            value = value.float() if "bfloat16" in str(value.dtype) else value
        array = np.asarray(value)
        if array.dtype.kind == "V":  # bfloat16 and similar types, unknown to NumPy
            array = array.astype(np.float32)
    except Exception:  # an unfinished object may raise any error; it is no array
        return None
    if array.dtype.kind in "biufc":
        return array
    single = not isinstance(value, list | tuple)
    return array if single and array.dtype.kind in "US" else None
