"""Predict where TensorFlow's placer puts operations, among the devices that have a kernel for them.

The placer has few rules, and tests/metal_emulator compares the prediction with TensorFlow. Operations on one
handle are colocated. An operation that only passes on a tensor, or reads its shape, goes to the tensor. An
operation without inputs, such as a constant, goes to its readers if these are on one side. All else goes to
the device if possible.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jupyter_mlgpu.graphs.planning.flow import BRANCHES, CALLS, ITERATORS, LOOPS, Flow, Key
from jupyter_mlgpu.graphs.planning.graph import Body, Node
from jupyter_mlgpu.graphs.planning.placing import Placement
from jupyter_mlgpu.record.sentence import Sentence, say

_BY_THEIR_TENSOR = frozenset({"Identity", "Rank", "Shape", "Size"})
# They pass on handles without using what these refer to.
_PASSING_ON = CALLS | BRANCHES | LOOPS


def move_to_cpu(flow: Flow, placements: Mapping[Key, Placement]) -> dict[Key, Placement]:
    """Return the placements, with operations on the CPU that would not use their kernel on the device."""
    placer = _Placer(flow, placements)
    placer.first_pass()
    placer.second_pass()
    return {key: placer.placement(key, one) for key, one in placements.items()}


class _Placer:
    def __init__(self, flow: Flow, placements: Mapping[Key, Placement]) -> None:
        self._flow, self._placements = flow, placements
        self._above: dict[Key, Key] = {}
        self._readers: dict[Key, list[Node]] = {}
        self._passed_on: set[Key] = set()
        self._reasons: dict[Key, Sentence] = {}
        # True if a group is on the device, by the key that represents it; groups that are not decided yet are
        # missing.
        self._on_device: dict[Key, bool] = {}
        for body in flow.bodies.values():
            for node in body.nodes:
                self._join(body, node)
                self._read(body, node)
            self._passed_on |= {(body.name, one.node) for one in body.returns}
        self._on_cpu: dict[Key, str] = {}  # the operation for which a group is on the CPU
        for key, one in placements.items():
            if one.operation in ITERATORS:  # a data set is on the CPU, where its batches are prepared
                self._on_cpu[self._group(key)] = one.operation
            elif not one.on_device and one.operation not in _PASSING_ON:
                self._on_cpu.setdefault(self._group(key), one.operation)

    def first_pass(self) -> None:
        """Decide the groups of all operations except those without inputs."""
        for body in self._flow.bodies.values():
            for node in body.nodes:
                key = (body.name, node.name)
                if self._goes_to_readers(key, node):
                    continue
                group = self._group(key)
                if group not in self._on_device:
                    self._on_device[group] = group not in self._on_cpu and self._may_be_on_device(body, node)

    def second_pass(self) -> None:
        """Decide operations without inputs by their readers."""
        for key, node in self._flow.nodes.items():
            group = self._group(key)
            if group in self._on_device:
                continue
            places = {
                self._on_device.get(self._group((key[0], one.name))) for one in self._readers.get(key, ())
            }
            by_readers = places == {False}
            self._on_device[group] = group not in self._on_cpu and not by_readers
            if by_readers:
                self._on_cpu.setdefault(group, node.operation)
                self._reasons[key] = say(
                    "{operation}: everything that reads it is on the CPU", operation=node.operation
                )

    def placement(self, key: Key, one: Placement) -> Placement:
        if not one.on_device or self._on_device[self._group(key)]:
            return one
        reason = self._reasons.get(key)
        if reason is None and one.operation in ITERATORS:
            reason = say("{operation}: dataset iterators are on the CPU", operation=one.operation)
        if reason is None:
            beside = self._on_cpu[self._group(key)]
            reason = say(
                "{operation}: colocated with {beside}, which is on the CPU",
                operation=one.operation,
                beside=beside,
            )
        return replace(one, where="beside", reason=reason, host_memory=())

    def _join(self, body: Body, node: Node) -> None:
        """Unite the operation with those colocated with it, and with the makers of its handles."""
        key = (body.name, node.name)
        for name in node.colocated_with:
            if (body.name, name) in self._flow.nodes:
                self._unite(key, (body.name, name))
        if node.operation in _PASSING_ON or self._flow.called(node) is not None:
            return
        for operand in node.operands:
            for maker in self._flow.makers(body, operand, around=True):
                result = self._flow.result(maker)
                if result is not None and result.type == "resource":
                    self._unite(key, maker.key)

    def _read(self, body: Body, node: Node) -> None:
        for operand in node.operands:
            self._readers.setdefault((body.name, operand.node), []).append(node)
            if node.operation in _PASSING_ON:
                self._passed_on.add((body.name, operand.node))
        for name in node.after:
            self._readers.setdefault((body.name, name), []).append(node)

    def _goes_to_readers(self, key: Key, node: Node) -> bool:
        # TensorFlow puts a copy in the place of what it passes on, and this copy does have an input.
        alone = not node.operands and len(node.results) == 1 and node.operation != "Placeholder"
        return alone and key not in self._passed_on

    def _may_be_on_device(self, body: Body, node: Node) -> bool:
        """Return True if the operation may be on the device: some follow the tensor that they take."""
        if node.operation not in _BY_THEIR_TENSOR or not node.operands:
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
        while (above := self._above.get(key, key)) != key:
            self._above[key] = self._above.get(above, above)
            key = above
        return key

    def _unite(self, one: Key, other: Key) -> None:
        self._above[self._group(one)] = self._group(other)
