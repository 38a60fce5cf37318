"""The base class of layers: a formula in the operations of ops.py, with checks of its inputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, dataclass_transform

from jupyter_mlgpu.graphs.mlcompute.names import choose, insist, plain_words
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value
from jupyter_mlgpu.graphs.mlcompute.shapes import Form, ShapeOps
from jupyter_mlgpu.graphs.mlcompute.tensors import FLOATS, Tensor
from jupyter_mlgpu.record.errors import GraphError

MANY = 10**6
PICTURE = "[batch, channels, height, width]"
Ranges = dict[str, tuple[float, float]]
# Ranges of numbers by name, in all layers: from the first value on, and below the second.
RANGES: Ranges = dict.fromkeys(("rate", "dropout", "label_smoothing"), (0.0, 1.0))
RANGES |= dict.fromkeys(("epsilon", "variance_epsilon", "delta"), (0.0, math.inf))
RANGES |= {"group_count": (1.0, math.inf), "momentum": (0.0, 1.0000001)}
Sizes = Any
"""A whole number, or two, for height and width."""


@dataclass
class Pass:
    """One execution of a graph, as its layers see it.

    Attributes:
        ops: the engine's operations.
        values: of every tensor computed so far.
        training: true if dropout drops, and batch normalization uses and learns the batch's own statistics.
        seed: turns a layer's seed into a pair of whole numbers, another one at each execution.
        updates: the new values of tensors that a layer keeps, such as running means.
        leaves: values of the tensors that no layer makes, before gradients through them are stopped.
    """

    ops: Ops
    values: dict[Tensor, Value]
    training: bool
    seed: Callable[[int], Value]
    updates: dict[Tensor, Value] = field(default_factory=dict)
    leaves: dict[Tensor, Value] = field(default_factory=dict)

    def __getitem__(self, tensor: Tensor | None) -> Value:
        return None if tensor is None else self.values[tensor]


@dataclass_transform(eq_default=False)
class Layer:
    """One kind of layer with its arguments.

    The head of its class has these settings, such as `class Gather(Layer, sources=2, takes="any")`:

    * sources: the number of sources, or the least and the most.
    * takes: `floats` of one type, like its weights; `numbers` of one type; or `any`.
    * axes: of the first source, if it must have certain ones.
    * words: the arguments that are words, with the enumeration or list of each.
    * title: its name in messages and drawings; `named` is the same with such words inserted.

    Attributes:
        parameters: the weights that an optimizer updates.
        statistics: tensors of its own that no optimizer updates.
        limits: by the place of a source that holds indices: the number of possible values.
        joined: true if it is in a graph.
    """

    sources: int | tuple[int, int] = 1
    takes, axes, title, named, joined = "floats", "", "", "", False
    words: Mapping[str, str | Iterable[str]] = {}
    parameters: tuple[Tensor, ...] = ()
    statistics: tuple[Tensor, ...] = ()
    limits: Mapping[int, int] = {}

    compute: Callable[..., Value]
    """The formula: takes a Pass and the sources' values, and returns a value or a list of several."""

    def __init_subclass__(cls, **head: Any) -> None:
        for name, setting in ({"title": plain_words(cls.__name__)} | head).items():
            setattr(cls, name, setting)
        # The annotations in a layer's class are its arguments.
        dataclass(eq=False, repr=False)(cls)

    def __post_init__(self) -> None:
        for name, words in self.words.items():
            setattr(self, name, choose(words, getattr(self, name), self.title))
        if self.named:
            self.title = self.named.format(**{name: plain_words(getattr(self, name)) for name in self.words})
        check_numbers(self.title, self)
        self.settle()

    def settle(self) -> None:
        """Compute what follows from the arguments."""

    def verify(self, *sources: Any, **nothing: Any) -> None:
        """Check what the formula itself would not find wrong."""

    def results(self, sources: Sequence[Tensor]) -> list[Form]:
        """Return the shapes and types of what it makes of these sources.

        Raises:
            GraphError: it cannot make anything of them; the message has the layer and their shapes.
        """
        least, most = self.sources if isinstance(self.sources, tuple) else (self.sources, self.sources)
        wanted = f"{least}" if least == most else f"{least} or more" if most == MANY else f"{least} to {most}"
        wanted = f"{wanted} tensor{'s' * (wanted != '1')}"
        given = " and ".join(map(str, sources)) or "none"
        insist(least <= len(sources) <= most, f"{self.title} takes {wanted} and was given {given}.")
        forms = {one: Form(one.shape, one.dtype) for one in (*sources, *self.parameters, *self.statistics)}
        try:
            self._check(sources)
            made = self.compute(Pass(ShapeOps(), forms, False, int), *(forms[source] for source in sources))
            made = made if isinstance(made, list) else [made]
            left = not any(0 in one.shape for one in made)
            insist(left, f"nothing would be left: {[list(one.shape) for one in made]}")
        except (GraphError, ValueError, IndexError) as error:  # the last two: a wrong number of axes
            raise GraphError(f"{self.title} cannot take {given}: {error}.") from error
        return list(made)

    def _check(self, sources: Sequence[Tensor]) -> None:
        types, rank = sorted({source.data_type for source in sources}), len(sources[0].shape)
        floats = self.takes != "floats" or FLOATS.issuperset(types)
        insist(floats, f"it needs floats, and these are {', '.join(types)}")
        insist(self.takes != "numbers" or "Boolean" not in types, "it needs numbers, and these are Boolean")
        fits = not self.axes or rank == self.axes.count(",") + 1
        insist(fits, f"it needs {self.axes.count(',') + 1} axes, {self.axes}, and finds {rank}")
        if isinstance(dimension := getattr(self, "dimension", None), int):
            axis_of(sources[0], dimension)
        self.verify(*sources)

    def own(self, name: str, *shapes: Sequence[int | None]) -> tuple[Tensor, ...]:
        """Return the tensors in the argument of this name, one for each shape, or none if it is optional.

        They must be floats with values; None in a shape means any size.
        """
        given, words = getattr(self, name), name.replace("_", " ")
        if given is None and name in ("biases", "attention_biases", "beta", "gamma"):
            return ()
        tensors = given if isinstance(given, list | tuple) else [given]
        insist(len(tensors) == len(shapes), f"{self.title} needs {len(shapes)} {words}, not {len(tensors)}.")
        make = "make one: tensor(shape, random='glorot_uniform'), data=... or fill=..."
        for tensor, shape in zip(tensors, shapes, strict=True):
            floats = isinstance(tensor, Tensor) and tensor.own and tensor.data_type in FLOATS
            needs = f"{self.title} needs a tensor of floats with values for its {words}"
            insist(floats, f"{needs} and was given {tensor!s:.60}; {make}")
            sizes = list(zip(shape, tensor.shape, strict=False))
            fits = len(tensor.shape) == len(shape) and all(wanted in (None, size) for wanted, size in sizes)
            wanted = ", ".join("any" if size is None else str(size) for size in shape)
            insist(fits, f"{self.title} needs {words} of shape [{wanted}] and was given {tensor}.")
        return tuple(tensors)

    def pair(self, name: str, least: int = 1) -> tuple[int, int]:
        """Return (height, width) for an attribute that is one number or two."""
        value = getattr(self, name)
        both = (value, value) if isinstance(value, int) else tuple(value)
        whole = len(both) == 2 and all(isinstance(one, int) and one >= least for one in both)
        wanted = f"a whole number from {least} on, or two, as {name}"
        insist(whole, f"{self.title} takes {wanted}, not {value!r}.")
        return both[0], both[1]

    def details(self) -> Mapping[str, Any]:
        """Return the layer's arguments that the summary lists."""
        given = {name: one for name, one in vars(self).items() if name[0] != "_" and _plain(one)}
        return {name: one for name, one in given.items() if not hasattr(Layer, name)}


def axis_of(array: Any, dimension: int) -> int:
    """Return the axis counted from 0; a dimension below 0 counts from the end."""
    rank = len(array.shape)
    insist(-rank <= dimension < rank, f"there is no dimension {dimension} among its {rank}")
    return dimension % rank


def check_numbers(who: str, given: object, more: Ranges | None = None) -> None:
    """Check that the numbers among some arguments are within RANGES, or within `more`.

    Raises:
        GraphError: one is not.
    """
    for name, (low, below) in (RANGES | (more or {})).items():
        limit = f" and below {below:g}" if below < math.inf else ""
        value = getattr(given, name, low)
        insist(low <= value < below, f"{who} takes a {name} from {low:g} on{limit}, not {value!r}.")


def _plain(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return all(map(_plain, value)) and len(value) > 0
    return isinstance(value, int | float | str)
