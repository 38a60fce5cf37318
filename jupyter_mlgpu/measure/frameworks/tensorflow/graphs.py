"""The operations of a TensorFlow graph by device, learned when TensorFlow prepares it.

TensorFlow partitions a graph by device when the graph is first called from a device, and again when its
inputs come from other devices. Graph collection (`collection.py`) returns these partitions once. It is on
only during such a call: otherwise it would also return all other graphs that a cell prepares, as Keras does
for its data, which takes milliseconds. Calls that overlap share the collected graphs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow.collection import SharedCollection
from jupyter_mlgpu.measure.frameworks.tensorflow.context import eager_context

# Operations that TensorFlow adds to a partitioned graph for arguments, results and constants.
_BOOKKEEPING = frozenset(
    {"_Arg", "_Retval", "_DeviceArg", "_DeviceRetval", "_Send", "_Recv", "_HostSend", "_HostRecv"}
    | {"Const", "NoOp"}
)

_SENDS = ("_Send", "_HostSend")
_RECEIVES = ("_Recv", "_HostRecv")
_READS = ("ReadVariableOp", "_ReadVariablesOp")
_ASSIGNS = "Assign"  # AssignVariableOp, AssignAddVariableOp, AssignSubVariableOp

#: A graph as called from one device: its name, and the device set at the call.
Call = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class GraphParts:
    """The operations and copies of a prepared graph in one call; the body of a loop counts once.

    `operations` counts by device and type. `copies` counts the values of variables that are sent, by the
    device they leave and the one they reach.
    """

    operations: Counter[tuple[str, str]]
    copies: Counter[tuple[str, str]] = field(default_factory=Counter)


class GraphCollection:
    """The parts of every graph that was prepared in a call in this process."""

    def __init__(self) -> None:
        self._known: dict[Call, GraphParts] = {}
        self._collection = SharedCollection()
        # The devices, and TensorFlow's default one.
        self._default: tuple[Sequence[str], str | None] = ((), None)
        self._ran: set[str] = set()
        #: Seconds of first calls in which XLA compiled a graph, or graphs in it, and ran them once.
        self.first_runs = 0.0
        #: Why graphs could not be learned, or None.
        self.failure: str | None = None

    def share(self) -> None:
        """Separate the user's own collection of graphs from ours, from now on."""
        self._collection.share(eager_context())

    def parts(self, call: Call) -> GraphParts | None:
        """Return the parts of a graph; None if it was prepared while nothing was observed."""
        return self._known.get(self._resolved(call))

    def may_change(self) -> bool:
        """Return True if a known graph may be partitioned again, which needs more than one device."""
        return len(_devices()) > 1

    def only_device(self) -> str | None:
        """Return TensorFlow's name of the only device that graphs can run on; None if there are more."""
        names = _devices()
        return names[0] if len(names) == 1 else None

    def begin(self, key: object) -> None:
        """Learn the parts of a graph that is about to be called, if TensorFlow prepares it before `end`."""
        try:
            # If operations run asynchronously, learning would have to wait for them.
            if not _is_asynchronous():
                self._collection.begin(key)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"

    def end(self, key: object, call: Call, outputs: Any, seconds: float, *, failed: bool) -> None:
        """End a call that took `seconds`, with `outputs` unless it failed. Has no effect without `begin`."""
        try:
            collected = self._collection.end(key, failed=failed)
            known = self._resolved(call)
            # Otherwise it was prepared long ago, as in most cells.
            if collected or known not in self._known:
                definition = eager_context().get_function_def(call[0])
                if call[0] not in self._ran:
                    self._ran.add(call[0])
                    self.first_runs += seconds if _is_for_xla(definition) else 0.0
                found = _parts(definition, collected, outputs)
                if found is not None:
                    self._known[known] = found
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"

    def _resolved(self, call: Call) -> Call:
        """Return the call with the default device if none is set: TensorFlow prepares one graph for both."""
        name, device = call
        if device:
            return call
        names = _devices()
        if names is not self._default[0]:
            self._default = (names, next((one for one in names if "GPU" in one), names[0] if names else None))
        return name, self._default[1]


def _is_asynchronous() -> bool:
    """Return True if TensorFlow runs this thread's operations asynchronously.

    The context's own property would wait for them.
    """
    from tensorflow.python import pywrap_tfe

    executor = pywrap_tfe.TFE_ContextGetExecutorForThread(eager_context()._handle)
    try:
        return bool(pywrap_tfe.TFE_ExecutorIsAsync(executor))
    finally:
        pywrap_tfe.TFE_DeleteExecutor(executor)


def _devices() -> Sequence[str]:
    """Return TensorFlow's list of devices, the same object as long as they do not change."""
    names: Sequence[str] | None = eager_context().devices()
    return names or ()


def _is_for_xla(definition: Any) -> bool:
    """Return True if XLA compiles the graph or a graph that it calls, as in Keras's training step."""
    parts = (definition, *definition.node_def)
    return any("_XlaMustCompile" in one.attr and one.attr["_XlaMustCompile"].b for one in parts)


def _parts(definition: Any, collected: Any, outputs: Any) -> GraphParts | None:
    if definition.attr["_XlaMustCompile"].b:  # XLA turns the whole graph into one operation
        return GraphParts(Counter({(outputs[0].device, "XLA program"): 1})) if outputs else None
    signature = definition.signature
    nodes = {node.name for node in definition.node_def}
    nodes.update(one.name for one in signature.input_arg)
    nodes.update(f"{one.name}_RetVal" for one in signature.output_arg)
    for graphs in reversed(collected):
        if nodes and nodes == {node.name for node in graphs.pre_optimization_graph.node}:
            found = GraphParts(Counter())
            for partition in graphs.partition_graphs:
                found.operations.update(
                    (node.device, node.op) for node in partition.node if node.op not in _BOOKKEEPING
                )
            found.copies.update(_copies(graphs.partition_graphs))
            return found
    return None


def _copies(partitions: Any) -> Iterator[tuple[str, str]]:
    """Yield the copies of variables between partitions: of values just read, or to be assigned.

    A send and its receive carry the same name. Inputs and results must be sent wherever the weights are, and
    are left out.
    """
    sends = []
    assigned: set[bytes] = set()
    for partition in partitions:
        nodes = {node.name: node for node in partition.node}
        for node in partition.node:
            if node.op in _SENDS:
                sends.append((node, nodes.get(_source(node.input[0]))))
            elif node.op.startswith(_ASSIGNS):
                sources = (nodes.get(_source(one)) for one in node.input)
                assigned.update(
                    one.attr["tensor_name"].s for one in sources if one is not None and one.op in _RECEIVES
                )
    for node, source in sends:
        read = source is not None and source.op in _READS
        leaves, reaches = (node.attr[end].s.decode() for end in ("send_device", "recv_device"))
        if leaves != reaches and (read or node.attr["tensor_name"].s in assigned):
            yield leaves, reaches


def _source(name: str) -> str:
    """Return the node of an input: `a` of `a:1` and of `^a`."""
    return name.partition(":")[0].lstrip("^")
