"""Divide a graph into contiguous groups of operations on the same side.

A group is made by contracting edges. Every dependency (data or control) between two operations of the same
side joins their groups, unless a path from one to the other leads through a third group: then joining them
would make a cycle, and neither could run as a whole before the other. Edges are processed in the order of the
graph, so the result is always the same; it is a good division, not always the smallest. The device's edges
come first, then the CPU's. Functions are divided one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.graphs.planning.graph import Body, Node
from jupyter_mlgpu.record.errors import PlanError


@dataclass(frozen=True)
class Group:
    """Operations of one function and one side that can run as a whole."""

    function: str
    on_device: bool
    nodes: tuple[str, ...]


def divide(body: Body, on_device: Mapping[str, bool]) -> tuple[Group, ...]:
    """Return the groups of a function, in an order in which they could run."""
    nodes = in_order(body)
    places = {node.name: place for place, node in enumerate(nodes)}
    edges = [
        (places[source], places[node.name]) for node in nodes for source in node.sources if source in places
    ]
    sides = [on_device[node.name] for node in nodes]
    contraction = _Contraction(len(nodes), edges)
    for side in (True, False):
        for before, after in edges:
            if sides[before] is side and sides[after] is side:
                contraction.join(before, after)
    return tuple(
        Group(body.name, sides[members[0]], tuple(nodes[member].name for member in members))
        for members in contraction.groups()
    )


def in_order(body: Body) -> list[Node]:
    """Return the operations, each after those it depends on, otherwise in their order.

    Raises PlanError for a loop of TensorFlow 1.
    """
    known = {node.name: node for node in body.nodes}
    waiting = {node.name: {one for one in node.sources if one in known} for node in body.nodes}
    readers: dict[str, list[str]] = {}
    for name, sources in waiting.items():
        for source in sources:
            readers.setdefault(source, []).append(name)
    ready = [name for name, sources in waiting.items() if not sources]
    ordered = []
    for name in ready:  # the loop appends to this list
        ordered.append(known[name])
        for reader in readers.get(name, ()):
            waiting[reader].discard(name)
            if not waiting[reader]:
                ready.append(reader)
    if len(ordered) < len(known):
        raise PlanError(
            f"{body.name} holds a loop of TensorFlow 1, in which operations wait for one another in a "
            "circle: only functions of TensorFlow 2 can be planned."
        )
    return ordered


class _Contraction:
    """Groups of the numbers 0 to n-1, kept in an order that agrees with all edges between them."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]) -> None:
        self._group = list(range(count))  # of each number; a group is named by a member
        self._members = {number: [number] for number in range(count)}
        self._next: dict[int, set[int]] = {number: set() for number in range(count)}
        self._before: dict[int, set[int]] = {number: set() for number in range(count)}
        self._order = list(range(count))
        self._rank = list(range(count))
        for before, after in edges:
            self._next[before].add(after)
            self._before[after].add(before)

    def join(self, before: int, after: int) -> None:
        """Make one group of two, unless a path leads from the first through a third to the second."""
        first, second = self._group[before], self._group[after]
        if first == second:
            return
        low, high = self._rank[first], self._rank[second]
        below = self._successors(first, high)
        if second in below:
            return
        between = self._order[low + 1 : high]
        moved = [one for one in between if one not in below]
        moved += [first, *(one for one in between if one in below)]
        self._absorb(first, second)
        # The place of `second` is left empty at the end of the range.
        self._order[low : high + 1] = [*moved, second]
        for rank in range(low, high + 1):
            self._rank[self._order[rank]] = rank

    def _successors(self, first: int, high: int) -> set[int]:
        """Return what the group leads to, up to the rank `high`.

        The group with this rank counts only if it is reached through a third group.
        """
        found: set[int] = set()
        todo = [one for one in self._next[first] if self._rank[one] < high]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo += [after for after in self._next[one] if self._rank[after] <= high]
        return found

    def _absorb(self, first: int, second: int) -> None:
        for member in self._members[second]:
            self._group[member] = first
        self._members[first] += self._members.pop(second)
        after, before = self._next.pop(second), self._before.pop(second)
        for one in after:
            self._before[one].discard(second)
            self._before[one].add(first)
        for one in before - {first}:
            self._next[one].discard(second)
            self._next[one].add(first)
        self._next[first].discard(second)
        self._next[first] |= after
        self._before[first] |= before - {first}
        self._next[second] = set()

    def groups(self) -> list[list[int]]:
        return [sorted(self._members[one]) for one in self._order if one in self._members]


def columns(items: Sequence[str], sources: Callable[[str], Iterable[str]]) -> dict[str, int]:
    """Return the column of each item: one after the last of those it depends on."""
    column: dict[str, int] = {}
    for item in items:
        column[item] = max((column[one] + 1 for one in sources(item) if one in column), default=0)
    return column
