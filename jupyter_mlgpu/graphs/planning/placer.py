"""Predicts which operations TensorFlow's placer puts on the CPU although the device has a kernel for them.

The placer has few rules, and tests/metal_emulator compares the prediction with TensorFlow:

- Operations that use the same resource handle, such as a variable's, are colocated: they are all on the CPU
  if one of them has to be there.
- An operation that returns its input tensor unchanged, or only reads its shape, is where the tensor is.
- An operation without inputs, such as a constant, is on the CPU if all operations that depend on it are.
- All other operations are on the device if it has a kernel for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jupyter_mlgpu.graphs.planning.flow import BRANCHES, CALLS, ITERATORS, LOOPS, Flow, Key
from jupyter_mlgpu.graphs.planning.graph import Body, Node
from jupyter_mlgpu.graphs.planning.placing import Placement
from jupyter_mlgpu.record.sentence import Sentence, say

# Operations that TensorFlow places where their input tensor is.
_PLACED_WITH_INPUT = frozenset({"Identity", "Rank", "Shape", "Size"})
# Operations that pass a handle to a function, but do not use the resource that it refers to.
_PASSING_HANDLES = CALLS | BRANCHES | LOOPS


def move_to_cpu(flow: Flow, placements: Mapping[Key, Placement]) -> dict[Key, Placement]:
    """Return the placements, changed for operations that would be on the CPU despite a kernel on the device.

    Their `where` becomes `beside`, and their `reason` says why.
    """
    placer = _Placer(flow, placements)
    placer.first_pass()
    placer.second_pass()
    return {key: placer.placement(key, placement) for key, placement in placements.items()}


class _Placer:
    """Decides for each group of colocated operations if it is on the device.

    The two passes are called as in TensorFlow's placer. A group is represented by the key of one of its
    operations (`_group`).
    """

    def __init__(self, flow: Flow, placements: Mapping[Key, Placement]) -> None:
        self._flow, self._placements = flow, placements
        # The groups as a union-find structure: each operation leads to another one of its group, until one
        # that leads to none. That one represents the group.
        self._parents: dict[Key, Key] = {}
        # The operations that depend on an operation: they take its result, or run after it.
        self._dependents: dict[Key, list[Node]] = {}
        # Operations whose result is passed to a function or returned from one.
        self._passed: set[Key] = set()
        # Why an operation is on the CPU, unless it is because of a colocated one.
        self._reasons: dict[Key, Sentence] = {}
        # True if a group is on the device. Groups that are not decided yet are missing.
        self._on_device: dict[Key, bool] = {}
        for body in flow.bodies.values():
            for node in body.nodes:
                self._add_to_groups(body, node)
                self._add_dependencies(body, node)
            self._passed |= {(body.name, operand.node) for operand in body.returns}
        # For each group that is on the CPU, the operation because of which it is there.
        self._on_cpu: dict[Key, str] = {}
        for key, placement in placements.items():
            if placement.operation in ITERATORS:  # a data set is on the CPU, where its batches are prepared
                self._on_cpu[self._group(key)] = placement.operation
            elif not placement.on_device and placement.operation not in _PASSING_HANDLES:
                self._on_cpu.setdefault(self._group(key), placement.operation)

    def first_pass(self) -> None:
        """Decide the groups of all operations except those that `second_pass` places."""
        for body in self._flow.bodies.values():
            for node in body.nodes:
                key = (body.name, node.name)
                if self._depends_on_dependents(key, node):
                    continue
                group = self._group(key)
                if group not in self._on_device:
                    self._on_device[group] = group not in self._on_cpu and self._may_be_on_device(body, node)

    def second_pass(self) -> None:
        """Decide the groups of operations without inputs, by the operations that depend on them."""
        for key, node in self._flow.nodes.items():
            group = self._group(key)
            if group in self._on_device:
                continue
            dependents = self._dependents.get(key, ())
            all_on_cpu = bool(dependents) and all(
                self._on_device.get(self._group((key[0], dependent.name))) is False
                for dependent in dependents
            )
            self._on_device[group] = group not in self._on_cpu and not all_on_cpu
            if all_on_cpu:
                self._on_cpu.setdefault(group, node.operation)
                self._reasons[key] = say(
                    "{operation}: all operations that depend on it are on the CPU", operation=node.operation
                )

    def placement(self, key: Key, placement: Placement) -> Placement:
        """Return the placement of an operation after both passes."""
        if not placement.on_device or self._on_device[self._group(key)]:
            return placement
        reason = self._reasons.get(key)
        if reason is None and placement.operation in ITERATORS:
            reason = say("{operation}: dataset iterators are on the CPU", operation=placement.operation)
        if reason is None:
            reason = say(
                "{operation}: colocated with {beside}, which is on the CPU",
                operation=placement.operation,
                beside=self._on_cpu[self._group(key)],
            )
        return replace(placement, where="beside", reason=reason, host_memory=())

    def _add_to_groups(self, body: Body, node: Node) -> None:
        """Colocate an operation with those that its attributes name, and with those that made its handles."""
        key = (body.name, node.name)
        for name in node.colocated_with:
            if (body.name, name) in self._flow.nodes:
                self._merge_groups(key, (body.name, name))
        if node.operation in _PASSING_HANDLES or self._flow.called(node) is not None:
            return
        for operand in node.operands:
            for maker in self._flow.makers(body, operand, around=True):
                result = self._flow.result(maker)
                if result is not None and result.type == "resource":
                    self._merge_groups(key, maker.key)

    def _add_dependencies(self, body: Body, node: Node) -> None:
        """Add an operation to the dependents of those whose results it takes, or after which it runs."""
        for operand in node.operands:
            self._dependents.setdefault((body.name, operand.node), []).append(node)
            if node.operation in _PASSING_HANDLES:
                self._passed.add((body.name, operand.node))
        for name in node.after:
            self._dependents.setdefault((body.name, name), []).append(node)

    def _depends_on_dependents(self, key: Key, node: Node) -> bool:
        """Return True if the placer puts an operation where the operations are that depend on it."""
        no_inputs = not node.operands and len(node.results) == 1 and node.operation != "Placeholder"
        # For a result that is passed to or from a function, TensorFlow inserts a copy operation. The copy has
        # an input, so the rule for operations without inputs does not apply.
        return no_inputs and key not in self._passed

    def _may_be_on_device(self, body: Body, node: Node) -> bool:
        """Return False, and record the reason, if an operation is on the CPU because its input tensor is."""
        if node.operation not in _PLACED_WITH_INPUT or not node.operands:
            return True
        maker = next(iter(self._flow.makers(body, node.operands[0])))
        on_device = self._on_device.get(self._group(maker.key), True)
        if not on_device:
            self._on_cpu[self._group((body.name, node.name))] = node.operation
            self._reasons[body.name, node.name] = say(
                "{operation}: its input tensor is on the CPU", operation=node.operation
            )
        return on_device

    def _group(self, key: Key) -> Key:
        """Return the key that represents the group of an operation, and shorten the way to it."""
        while (parent := self._parents.get(key, key)) != key:
            self._parents[key] = self._parents.get(parent, parent)
            key = parent
        return key

    def _merge_groups(self, first: Key, second: Key) -> None:
        self._parents[self._group(first)] = self._group(second)
