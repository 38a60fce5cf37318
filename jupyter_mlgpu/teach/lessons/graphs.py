"""`picture`: a small drawing of a TensorFlow graph, and the same in words for who cannot see it."""

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
    """One operation of a graph: its name and type, and the names of those whose results it takes."""

    name: str
    type: str
    takes: tuple[str, ...]


def picture(function: Any) -> Drawing:
    """The graph of a function that TensorFlow has compiled (`get_concrete_function` gives one)."""
    return drawing(
        [
            Operation(one.name, one.type, tuple(tensor.op.name for tensor in one.inputs))
            for one in function.graph.get_operations()
        ]
    )


def drawing(operations: Sequence[Operation]) -> Drawing:
    """A graph from left to right: an operation stands to the right of all it takes."""
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


#: As notebooks call it.
Picture = drawing


def _words(one: Operation) -> str:
    told = f"{one.name} ({one.type})"
    if not one.takes:
        return f"  {told}"
    takes = reduce(lambda some, other: say("{some} and {other}", some=some, other=other), one.takes)
    return f"  {translate(say('{operation} takes {others}', operation=told, others=takes))}"
