"""What every layer is: a formula in the words of ops.py, and what it must be given for the formula to make
sense.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, dataclass_transform

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.names import choose, spelt
from jupyter_mlgpu.mlcompute.ops import Ops, Value
from jupyter_mlgpu.mlcompute.shapes import Form, ShapeOps
from jupyter_mlgpu.mlcompute.tensors import FLOATS, Tensor

MANY = 10**6
PICTURE = "[batch, channels, height, width]"
Sizes = Any
"""A whole number, or two, for height and width."""


@dataclass
class Run:
    """One execution of a graph, as its layers see it.

    Attributes:
        ops: the engine's operations.
        values: of every tensor computed so far.
        training: whether dropout drops, and batch normalisation uses and learns the batch's own figures.
        seed: of a layer's seed makes a pair of whole numbers, another one at each execution.
        updates: the new values of tensors that a layer keeps, such as running means.
    """

    ops: Ops
    values: dict[Tensor, Value]
    training: bool
    seed: Callable[[int], Value]
    updates: dict[Tensor, Value] = field(default_factory=dict)

    def __getitem__(self, tensor: Tensor | None) -> Value:
        return None if tensor is None else self.values[tensor]


@dataclass_transform(eq_default=False)
class Layer:
    """One kind of layer with what it was given.

    Attributes:
        least, most: how many sources it takes.
        words: of those that it is given, the ones that are words of an enumeration.
        named: the one that is its title, too.
        ranges: of those that it is given, numbers: from the first on, and below the second.
        takes: `floats` of one type, as its weights; `numbers` of one type; or `any`.
        axes: of the first source, where it must have certain ones.
        title: as it is called in messages and drawings.
        parameters: the weights that an optimizer updates.
        kept: tensors of its own that no optimizer updates.
        limits: of its sources that hold whole numbers to choose by, their place: how many there are.
        joined: whether a graph has it.
    """

    least, most = 1, 1
    takes, axes, title, joined = "floats", "", "", False
    parameters: tuple[Tensor, ...] = ()
    kept: tuple[Tensor, ...] = ()
    limits: Mapping[int, int] = {}
    words: Mapping[str, str] = {}
    ranges: Mapping[str, tuple[float, float]] = {}
    named = ""

    def __init_subclass__(cls) -> None:
        words = "".join(f" {one.lower()}" if one.isupper() else one for one in cls.__name__)
        cls.title = cls.__dict__.get("title") or words.strip()
        # What is annotated in a layer's class is what the layer is given.
        dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        for name, enumeration in self.words.items():
            setattr(self, name, choose(enumeration, getattr(self, name), self.title))
        for name, (low, below) in self.ranges.items():
            number_within(self.title, name, getattr(self, name), low, below)
        self.title = spelt(getattr(self, self.named)) if self.named else self.title
        self.settle()

    def settle(self) -> None:
        """What follows from what it was given."""

    def compute(self, run: Run, *sources: Value) -> Value:
        """Its formula: a value, or a list of several."""
        raise NotImplementedError

    def verify(self, *sources: Tensor) -> None:
        """What the formula itself would not find wrong; `refuse` says why."""

    def results(self, sources: Sequence[Tensor]) -> list[Form]:
        """The shapes and types of what it makes of these sources.

        Raises:
            GraphError: it cannot make anything of them; the layer and their shapes are named.
        """
        if not self.least <= len(sources) <= self.most:
            wanted = f"{self.least}" if self.least == self.most else f"{self.least} to {self.most}"
            wanted = f"{self.least} or more" if self.most == MANY else wanted
            plural = "s" * (wanted != "1")
            raise GraphError(f"{self.title} takes {wanted} tensor{plural} and was given {_listed(sources)}.")
        types = sorted({source.data_type for source in sources})
        if self.takes == "floats" and not FLOATS.issuperset(types):
            self.refuse(sources, f"it needs floats, and these are {', '.join(types)}")
        if self.takes == "numbers" and "Boolean" in types:
            self.refuse(sources, "it needs numbers, and these are Boolean")
        rank = self.axes.count(",") + 1
        if self.axes and len(sources[0].shape) != rank:
            self.refuse(sources, f"it needs {rank} axes, {self.axes}, and finds {len(sources[0].shape)}")
        if isinstance(dimension := getattr(self, "dimension", None), int):
            self.axis(sources[0], dimension)
        self.verify(*sources)
        forms = {one: Form(one.shape, one.dtype) for one in (*sources, *self.parameters, *self.kept)}
        run = Run(ShapeOps(), dict(forms), False, lambda seed: seed)
        try:
            made = self.compute(run, *(forms[source] for source in sources))
        except (ValueError, IndexError) as error:  # a MismatchError, or another number of axes
            self.refuse(sources, str(error))
        made = made if isinstance(made, list) else [made]
        if any(0 in one.shape for one in made):
            self.refuse(sources, f"nothing would be left: {[list(one.shape) for one in made]}")
        return made

    def refuse(self, sources: Sequence[Tensor], why: str) -> NoReturn:
        raise GraphError(f"{self.title} cannot take {_listed(sources)}: {why}.")

    def axis(self, source: Tensor, dimension: int) -> int:
        """The axis counted from 0; one below 0 counts from the end."""
        rank = len(source.shape)
        if not -rank <= dimension < rank:
            self.refuse([source], f"there is no dimension {dimension} among its {rank}")
        return dimension % rank

    def need(self, **given: tuple[Any, Sequence[int | None]]) -> tuple[Tensor, ...]:
        """Those tensors of its own that are given: floats with values, of these shapes (None is any size)."""
        for name, (tensor, shape) in given.items():
            if tensor is None and name in ("biases", "beta", "gamma"):
                continue
            if not isinstance(tensor, Tensor) or not tensor.own or tensor.data_type not in FLOATS:
                raise GraphError(
                    f"{self.title} needs a tensor of floats with values for its {name} and was given "
                    f"{tensor!s:.60}; make one: tensor(shape, random='glorot_uniform'), data=... or fill=..."
                )
            sizes = zip(shape, tensor.shape, strict=False)
            if len(tensor.shape) != len(shape) or any(wanted not in (None, size) for wanted, size in sizes):
                wanted = ", ".join("any" if size is None else str(size) for size in shape)
                raise GraphError(f"{self.title} needs {name} of shape [{wanted}] and was given {tensor}.")
        return tuple(tensor for tensor, _ in given.values() if tensor is not None)

    def pair(self, name: str, least: int = 1) -> tuple[int, int]:
        """(height, width) of an attribute that is a number or two."""
        value = getattr(self, name)
        both = (value, value) if isinstance(value, int) else tuple(value)
        if len(both) != 2 or not all(isinstance(one, int) and one >= least for one in both):
            raise GraphError(
                f"{self.title} takes a whole number from {least} on, or two, as {name}, not {value!r}."
            )
        return both[0], both[1]

    def details(self) -> Mapping[str, Any]:
        """What it was given, for the summary."""
        hidden = ("least", "most", "joined", "title", "takes", "parameters", "kept")
        shown = {name: one for name, one in vars(self).items() if name not in hidden and name[0] != "_"}
        return {name: one for name, one in shown.items() if _plain(one)}


def number_within(who: str, name: str, value: float, low: float, below: float = math.inf) -> None:
    """That a number is in [low, below).

    Raises:
        GraphError: it is not.
    """
    if not low <= value < below:
        limit = f" and below {below:g}" if below < math.inf else ""
        raise GraphError(f"{who} takes a {name} from {low:g} on{limit}, not {value!r}.")


def _plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_plain, value)) and len(value) > 0
    return isinstance(value, int | float | str)


def _listed(sources: Sequence[Tensor]) -> str:
    return " and ".join(map(str, sources)) or "none"
