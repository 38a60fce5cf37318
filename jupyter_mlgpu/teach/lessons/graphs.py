"""`picture`: a small drawing of a TensorFlow graph, with a description in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

from jupyter_mlgpu.graphs.planning.layout import Box, Frame, Scene
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say, say_count
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.planning.svg import draw


@dataclass(frozen=True)
class Operation:
    """One operation of a graph: its name, its type, and the names of the operations it takes results from."""

    name: str
    type: str
    takes: tuple[str, ...]


def picture(function: Any) -> Drawing:
    """Draw the graph of a compiled TensorFlow function, as returned by `get_concrete_function`."""
    return drawing(
        [
            Operation(one.name, one.type, tuple(tensor.op.name for tensor in one.inputs))
            for one in function.graph.get_operations()
        ]
    )


def drawing(operations: Sequence[Operation]) -> Drawing:
    """Draw a graph from left to right: each operation stands to the right of all its inputs."""
    kinds = {one.name: "shared" if one.takes else "given" for one in operations}
    boxes = tuple(Box(one.name, one.name, one.type, kinds[one.name], one.name) for one in operations)
    arrows = tuple((name, one.name) for one in operations for name in one.takes)
    head = translate(
        say_count(
            "A graph of {count} operation, from left to right:",
            "A graph of {count} operations, from left to right:",
            len(operations),
        )
    )
    words = "\n".join([head, *map(_words, operations)])
    return replace(draw(Scene(head, (Frame(boxes),), arrows)), words=words)


#: The name that notebooks use.
Picture = drawing


def _words(one: Operation) -> str:
    label = f"{one.name} ({one.type})"
    if not one.takes:
        return f"  {label}"
    takes = reduce(lambda some, other: say("{some} and {other}", some=some, other=other), one.takes)
    return f"  {translate(say('{operation} takes {others}', operation=label, others=takes))}"
