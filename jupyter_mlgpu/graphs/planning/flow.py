"""Find the operation that makes a tensor which functions pass to one another.

Before it places anything, TensorFlow inlines the operations of called functions, and those of both branches
of an `If`: an argument is then the caller's tensor itself. A loop has separate places for the values that go
around in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
BRANCHES = frozenset({"If", "StatelessIf", "Case", "StatelessCase"})
LOOPS = frozenset({"While", "StatelessWhile"})
#: The operations that take a batch from a data set.
ITERATORS = frozenset({"IteratorGetNext", "IteratorGetNextSync", "IteratorGetNextAsOptional"})

#: An operation: the names of its function and of itself.
Key = tuple[str, str]


class Maker(NamedTuple):
    """The output of an operation, or a function's argument that comes from outside.

    `ways` are the branches into which it was passed: TensorFlow gives each of them a tensor of its own.
    """

    function: str
    name: str
    output: int
    ways: tuple[str, ...] = ()

    @property
    def key(self) -> Key:
        return self.function, self.name


class Flow:
    """The tensors of a graph on their way from function to function."""

    def __init__(self, graph: FunctionGraph) -> None:
        self.bodies = {body.name: body for body in graph.bodies}
        self.nodes = {(body.name, node.name): node for body in graph.bodies for node in body.nodes}
        self.callers: dict[str, list[tuple[Body, Node, str]]] = {}
        for body in graph.bodies:
            for node in body.nodes:
                for attribute, called in node.calls:
                    self.callers.setdefault(called, []).append((body, node, attribute))

    def makers(self, body: Body, operand: Operand, *, around: bool = False) -> Iterable[Maker]:
        """Return the makers of a tensor, in the order of the calls.

        With `around`, loops are passed, too, as handles pass them.
        """
        found: dict[Maker, None] = {}
        todo, seen = [Maker(body.name, operand.node, operand.output)], set()
        while todo:
            one = todo.pop()
            if one in seen:
                continue
            seen.add(one)
            before = list(self._before(one, around))
            todo += reversed(before)
            if not before:
                found[one] = None
        return found

    def result(self, maker: Maker) -> GivenTensor | None:
        """Return the tensor, or None if the graph does not describe it."""
        node = self.nodes.get(maker.key)
        if node is None:
            return self.bodies[maker.function].arguments.get(maker.name)
        return node.results[maker.output] if maker.output < len(node.results) else None

    def called(self, node: Node) -> Body | None:
        """Return the function whose operations replace this one, or None."""
        if node.operation in CALLS or any(attribute == "" for attribute, _ in node.calls):
            return next((self.bodies[name] for _, name in node.calls if name in self.bodies), None)
        return None

    def _before(self, one: Maker, around: bool) -> Iterator[Maker]:
        body, node = self.bodies[one.function], self.nodes.get(one.key)
        if node is not None:
            called = self.called(node)
            if called is not None and one.output < len(called.returns):
                given = called.returns[one.output]
                yield Maker(called.name, given.node, given.output, one.ways)
            elif around and node.operation in LOOPS and one.output < len(node.operands):
                yield Maker(body.name, node.operands[one.output].node, node.operands[one.output].output)
            return
        place = list(body.arguments).index(one.name) if one.name in body.arguments else -1
        for caller, call, _ in self.callers.get(body.name, ()):
            if place >= 0 and (first := self._first(call, around)) is not None:
                ways = (body.name, *one.ways) if call.operation in BRANCHES else one.ways
                for given in call.operands[place + first : place + first + 1]:
                    yield Maker(caller.name, given.node, given.output, ways)

    def _first(self, call: Node, around: bool) -> int | None:
        """Return which operand is the function's first argument, or None if they do not correspond."""
        if call.operation in BRANCHES:
            return 1  # operand 0 selects the branch
        return 0 if self.called(call) is not None or (around and call.operation in LOOPS) else None
