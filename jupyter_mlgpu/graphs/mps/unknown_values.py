"""Stands in for values and sizes that are known only when a step runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from jupyter_mlgpu.graphs.mps.places import line_name
from jupyter_mlgpu.graphs.mps.traced import CodePlace
from jupyter_mlgpu.record.sentence import Sentence, say, with_commas

#: A size that depends on values, such as the number of results of `nonzero`.
SIZE = 2
#: Most lines that a sentence names.
_NAMED = 6
#: Reads of a value by one line before it gets the other value, so that a loop ends whichever it waits for.
_SAME = 4


class UnknownValues:
    """Gives numbers for what fake tensors have not, and remembers where.

    At the places in `contrary`, the first answer to a question for a value is 0 in place of 1.
    """

    def __init__(self, contrary: Collection[CodePlace] = ()) -> None:
        self.last: CodePlace | None = None  # where a value was read, if no other operation came after it
        self._contrary = contrary
        self._read: Counter[CodePlace] = Counter()
        self._sized: dict[CodePlace, str] = {}
        self._left: dict[CodePlace, str] = {}
        self._shortened: dict[tuple[int, int], None] = {}
        self._full: dict[CodePlace, None] = {}

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """The assumptions made, one sentence for each kind."""
        found = []
        if self._read:
            found.append(
                say(
                    "Values are read ({lines}) that are not known before the step runs: where a branch or a "
                    "loop depends on them, only one way was followed.",
                    lines=_lines(self._read),
                )
            )
        if self._sized:
            found.append(
                say(
                    "Sizes depend on values ({names}, {lines}): they were taken as {size}.",
                    names=", ".join(dict.fromkeys(f"`{one}`" for one in self._sized.values())),
                    lines=_lines(self._sized),
                    size=SIZE,
                )
            )
        if self._left:
            found.append(
                say(
                    "Values leave PyTorch ({lines}): zeros stood for them, and other libraries' work is not "
                    "planned.",
                    lines=_lines(self._left),
                )
            )
        if any(call != "tolist" for call in self._left.values()):
            found.append(
                say("On MPS, NumPy takes a tensor only after `.cpu()`, and raises TypeError before.")
            )
        if self._full:
            found.append(
                say(
                    "Lengths of packed sequences are values ({lines}): all were taken to be the longest.",
                    lines=_lines(self._full),
                )
            )
        for steps, length in self._shortened:
            found.append(
                say(
                    "A recurrent layer was traced for {steps} of its {length} steps of time, which have the "
                    "same operations: its counts are too low.",
                    steps=steps,
                    length=length,
                )
            )
        return tuple(found)

    def shorten(self, steps: int, length: int) -> None:
        """Remember that a recurrent layer was traced for fewer steps than it has."""
        self._shortened[steps, length] = None

    def take_full_length(self, place: CodePlace) -> None:
        """Remember where sequences were packed whose lengths are not known."""
        self._full[place] = None

    def scalar(
        self, tensor: Any, operation: str, place: CodePlace | None, *, ends: bool = False
    ) -> bool | int | float:
        """Return a number for the value of a tensor with one element: 1, and 0 when a line asks again.

        Without a place an optimizer of PyTorch asks. It is 1 then, as optimizers read the number of their
        steps, and False with `ends`, so that the optimizer goes on.
        """
        one = 1
        if place is None:
            one -= ends
        else:
            one -= (self._read[place] // _SAME + (place in self._contrary)) % 2
            self.last = place
            self._read[place] += 1
        if operation == "equal" or str(tensor.dtype) == "torch.bool":
            return bool(one)
        return float(one) if tensor.dtype.is_floating_point else one

    def sized(self, made: Any, operation: str, place: Callable[[], CodePlace]) -> Any:
        """Return an operation's results, with a number for each size that depends on values."""
        from torch import Tensor, empty
        from torch.utils._pytree import tree_leaves, tree_map

        def known(one: Any) -> Any:
            if not isinstance(one, Tensor) or all(type(size) is int for size in one.shape):
                return one
            self._sized.setdefault(place(), operation)
            return empty([size if type(size) is int else SIZE for size in one.shape], dtype=one.dtype)

        if all(
            type(size) is int for one in tree_leaves(made) if isinstance(one, Tensor) for size in one.shape
        ):
            return made
        return tree_map(known, made)

    def made_up(self, operation: str, given: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """Return results of an operation that fake tensors do not know, or know for CUDA's types alone."""
        if operation == "_grouped_mm":
            offsets = given[2] if len(given) > 2 else named.get("offs")
            return given[0].new_empty(_grouped_shape(given[0].shape, given[1].shape, offsets))
        if operation not in ("_ctc_loss", "_ctc_loss.Tensor"):
            return None
        scores = given[0]
        steps, batch = scores.shape[0], scores.shape[1] if scores.dim() == 3 else 1
        return scores.new_empty((batch,)), scores.new_empty((batch, steps, 2 * SIZE + 1))

    def outside(self, tensor: Any, call: str, place: CodePlace) -> Any:
        """Return zeros of a tensor's shape, as NumPy's array or as lists."""
        self._left[place] = call
        shape = tuple(tensor.shape)
        if call == "tolist":
            return _zeros(shape, False if str(tensor.dtype) == "torch.bool" else 0)
        import numpy

        kind = str(tensor.dtype).removeprefix("torch.")
        return numpy.zeros(shape, kind if hasattr(numpy, kind) else "float32")


def _grouped_shape(left: Any, right: Any, offsets: Any) -> tuple[int, ...]:
    """Return the shape of products by groups of rows, of columns, or of what is summed."""
    inner = left[-2], right[-1]
    if len(left) == len(right) == 2:
        return (len(offsets), *inner)
    return (left[0], *inner) if len(left) == len(right) else inner


def _zeros(shape: tuple[int, ...], zero: int | bool) -> Any:
    return [_zeros(shape[1:], zero) for _ in range(shape[0])] if shape else zero


def _lines(places: Iterable[CodePlace]) -> Sentence:
    """Return the lines of some places, as `line 3 of [2], line 5 of [2]`."""
    lines = sorted({one for one in places if one.line}, key=lambda one: (one.file, one.line))
    names: list[str] = [*dict.fromkeys(map(line_name, lines))]
    if not names:
        return say("in a module of a library")
    return with_commas(names if len(names) <= _NAMED else [*names[:_NAMED], "…"])
