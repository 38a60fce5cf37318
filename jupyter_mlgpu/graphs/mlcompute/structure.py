"""Graphs: layers joined by tensors, in the order in which they can be computed. Nothing is computed here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from jupyter_mlgpu import record
from jupyter_mlgpu.graphs.mlcompute.layers.base import Layer, Pass
from jupyter_mlgpu.graphs.mlcompute.names import insist
from jupyter_mlgpu.graphs.mlcompute.optimizers import Optimizer
from jupyter_mlgpu.graphs.mlcompute.tensors import TYPES, Tensor


@dataclass(eq=False)
class Step:
    """A layer in a graph with its sources and results. `seconds` is its own time in the last profiled run."""

    layer: Layer
    sources: tuple[Tensor, ...]
    results: tuple[Tensor, ...] = ()
    updates: bool = True
    seconds: float | None = None


@dataclass(frozen=True)
class Program:
    """A graph ready for an engine.

    Attributes:
        steps: each after those whose results it takes.
        inputs: tensors that are given values at each execution.
        own: tensors with values of their own: constants, weights, running means.
        trained: those of them that the optimizer updates.
        losses: the results to minimize, or their sum if there are several.
        stopped: tensors through which no gradient passes.
        optimizer: of a training graph, or None.
    """

    steps: tuple[Step, ...]
    inputs: tuple[Tensor, ...]
    own: tuple[Tensor, ...]
    trained: tuple[Tensor, ...]
    losses: tuple[Tensor, ...]
    stopped: frozenset[Tensor]
    optimizer: Optimizer | None

    @property
    def results(self) -> list[Tensor]:
        return [result for step in self.steps for result in step.results]

    def walk(self, run: Pass, around: Callable[[Step, Callable[[], Any]], Any]) -> None:
        """Compute every step; `around` wraps the computation of each."""
        run.leaves = dict(run.values)
        for tensor in self.stopped & run.values.keys():
            run.values[tensor] = run.ops.stop_gradient(run.values[tensor])
        for step in self.steps:
            made = around(step, partial(step.layer.compute, run, *map(run.__getitem__, step.sources)))
            for tensor, value in zip(step.results, made if isinstance(made, list) else [made], strict=True):
                run.values[tensor] = run.ops.stop_gradient(value) if tensor in self.stopped else value


class Graph:
    """Layers joined by tensors. A notebook displays its drawing."""

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def add_layer(
        self, layer: Layer, sources: Tensor | Sequence[Tensor], *, disable_update: bool = False
    ) -> Any:
        """Return the tensor that the layer makes of these sources, or a list of several.

        With `disable_update` no optimizer changes its weights.

        Raises:
            GraphError: the layer cannot take these; the message has what it needs and what it found.
        """
        given = [sources] if isinstance(sources, Tensor) else list(sources)
        fits = isinstance(layer, Layer) and all(isinstance(source, Tensor) for source in given)
        found = f"{layer!r:.60} and {given!r:.60}"
        insist(fits, f"add_layer takes a layer and tensors, and was given {found}.")
        another = "make another one, with the same tensors as weights if both are to learn the same"
        insist(not layer.joined, f"This {layer.title} is in a graph already: {another}.")
        forms = layer.results(given)
        step = Step(layer, tuple(given), updates=not disable_update)
        step.results = tuple(Tensor(form.shape, TYPES[form.dtype], step) for form in forms)
        layer.joined = True
        self.steps.append(step)
        return step.results[0] if len(step.results) == 1 else list(step.results)

    def ends(self) -> list[Tensor]:
        """Return the results that no layer takes."""
        taken = {source for step in self.steps for source in step.sources}
        return [result for step in self.steps for result in step.results if result not in taken]

    def described(self) -> Mapping[str, str]:
        """Return facts about the whole graph, for summary and drawing."""
        return {}

    def summary(self) -> str:
        """Return the layers as a table: sources, results, weights, and the time in a profiled run."""
        return record.renderer().graph_summary(self)

    __repr__ = summary

    def picture(self) -> Any:
        """Return the drawing, which a notebook displays."""
        return record.renderer().graph_picture(self)

    def _repr_html_(self) -> str:
        return str(self.picture()._repr_html_())


def in_order(steps: Iterable[Step]) -> list[Step]:
    """Return each step after those whose results it takes; they may come from several graphs in any order.

    Raises:
        GraphError: they wait for one another in a circle.
    """
    waiting, ordered = list(dict.fromkeys(steps)), []
    made_here = {result for step in waiting for result in step.results}
    done: set[Tensor] = set()
    while waiting:
        ready = [step for step in waiting if all(one in done or one not in made_here for one in step.sources)]
        insist(ready, f"{waiting[0].layer.title} waits for its own result: the graph is a circle.")
        ordered += ready
        done |= {result for step in ready for result in step.results}
        waiting = [step for step in waiting if step not in ready]
    return ordered
