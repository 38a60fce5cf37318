"""What every layer is: a rule for shapes, checked when it joins a graph, and a formula in the words of
ops.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, NoReturn

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Shape, Tensor


class Spec(NamedTuple):
    """What a layer will make: a shape and a type."""

    shape: Shape
    data_type: str


@dataclass
class Run:
    """One execution of a graph, as its layers see it.

    Attributes:
        ops: the engine's operations.
        values: of every tensor computed so far.
        training: whether dropout drops, and batch normalisation uses and learns the batch's own figures.
        seed: a pair of whole numbers, another one at each execution.
        updates: the new values of tensors that a layer keeps, such as running means.
    """

    ops: Ops
    values: dict[Tensor, Value]
    training: bool
    seed: Callable[[int], Value]
    updates: dict[Tensor, Value] = field(default_factory=dict)

    def __getitem__(self, tensor: Tensor) -> Value:
        return self.values[tensor]


class Layer:
    """One kind of layer with what it was given.

    Attributes:
        parameters: the weights that an optimizer updates.
        kept: tensors of its own that no optimizer updates.
        limits: of its sources that hold whole numbers to choose by, their place: how many there are.
    """

    least, most = 1, 1  # sources
    joined = False  # whether a graph has it
    parameters: tuple[Tensor, ...] = ()
    kept: tuple[Tensor, ...] = ()
    limits: Mapping[int, int] = {}

    @property
    def title(self) -> str:
        """As it is called in messages and drawings."""
        words = "".join(f" {one.lower()}" if one.isupper() else one for one in type(self).__name__)
        return words.strip()

    def details(self) -> Mapping[str, Any]:
        """What it was given, for the summary."""
        return {
            name: value
            for name, value in vars(self).items()
            if name not in ("least", "most", "joined") and not name.startswith("_") and _plain(value)
        }

    def results(self, *sources: Tensor) -> list[Spec]:
        """What it makes of these sources.

        Raises:
            GraphError: it cannot make anything of them.
        """
        raise NotImplementedError

    def compute(self, run: Run, *sources: Value) -> Value | list[Value]:
        """Its formula."""
        raise NotImplementedError

    def check(self, sources: Sequence[Tensor]) -> list[Spec]:
        """`results`, after a look at how many sources there are."""
        if not self.least <= len(sources) <= self.most:
            wanted = str(self.least) if self.least == self.most else f"{self.least} to {self.most}"
            if self.most == _MANY:
                wanted = f"{self.least} or more"
            raise GraphError(
                f"{self.title} takes {wanted} tensor{'s' * (wanted != '1')} and was given {_listed(sources)}."
            )
        return self.results(*sources)

    def refuse(self, sources: Sequence[Tensor], why: str) -> NoReturn:
        raise GraphError(f"{self.title} cannot take {_listed(sources)}: {why}.")

    def need_floats(self, *sources: Tensor) -> None:
        """All of one float type."""
        types = {source.data_type for source in sources}
        if not types <= FLOATS:
            self.refuse(sources, f"it needs floats, and these are {', '.join(sorted(types))}")
        self.need_one_type(*sources)

    def need_one_type(self, *sources: Tensor) -> None:
        if len(types := sorted({source.data_type for source in sources})) > 1:
            self.refuse(sources, f"they are of different types, {' and '.join(types)}")

    def need_rank(self, source: Tensor, rank: int, meaning: str) -> None:
        if len(source.shape) != rank:
            self.refuse([source], f"it needs {rank} axes, {meaning}, and finds {len(source.shape)}")

    def axis(self, source: Tensor, dimension: int) -> int:
        """The axis counted from 0; one below 0 counts from the end."""
        rank = len(source.shape)
        if not -rank <= dimension < rank:
            self.refuse([source], f"there is no dimension {dimension} among its {rank}")
        return dimension % rank


_MANY = 10**6


def _plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_plain, value)) and value != ()
    return isinstance(value, int | float | str)


def _listed(sources: Sequence[Tensor]) -> str:
    return " and ".join(map(str, sources)) or "none"


def weights(layer: str, name: str, given: Any, shape: Sequence[int | None]) -> Tensor:
    """A tensor for a layer's weights: it must have values, and this shape; None is any size.

    Raises:
        GraphError: otherwise.
    """
    if not isinstance(given, Tensor) or not given.own or given.data_type not in FLOATS:
        found = f"{given!r:.60}" if not isinstance(given, Tensor) else str(given)
        raise GraphError(
            f"{layer} needs a tensor of floats with values for its {name} and was given {found}; make one "
            "with tensor(shape, random='glorot_uniform'), or data=... or fill=..."
        )
    fits = len(given.shape) == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, given.shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if size is None else str(size) for size in shape)
        raise GraphError(f"{layer} needs {name} of shape [{wanted}] and was given {given}.")
    return given


def broadcast(layer: Layer, sources: Sequence[Tensor], shapes: Sequence[Shape] | None = None) -> Shape:
    """The shape that all fit into: sizes are equal, or 1, counted from the last (NumPy's rule)."""
    shapes = [source.shape for source in sources] if shapes is None else shapes
    result = []
    for axis in range(-max(map(len, shapes)), 0):
        sizes = {shape[axis] for shape in shapes if -axis <= len(shape)} - {1}
        if len(sizes) > 1:
            layer.refuse(
                sources,
                f"shapes fit where each size is equal or 1, counted from the last, and "
                f"{' and '.join(map(str, sorted(sizes)))} are not",
            )
        result.append(max(sizes, default=1))
    return tuple(result)


def pair(value: int | Sequence[int], name: str, layer: str, least: int = 1) -> tuple[int, int]:
    """(height, width) of a number or two.

    Raises:
        GraphError: other than whole numbers from `least` on.
    """
    both = (value, value) if isinstance(value, int) else tuple(value)
    if len(both) != 2 or not all(isinstance(one, int) and one >= least for one in both):
        raise GraphError(f"{layer} takes a whole number from {least} on, or two, as {name}, not {value!r}.")
    return both[0], both[1]


def number(value: float, name: str, layer: str, low: float, below: float = math.inf) -> float:
    """A number in [low, below).

    Raises:
        GraphError: another one.
    """
    if not low <= value < below:
        limit = f" and below {below:g}" if below < math.inf else ""
        raise GraphError(f"{layer} takes a {name} from {low:g} on{limit}, not {value!r}.")
    return value
