"""Which operations a TensorFlow graph has on which device, learned when TensorFlow prepares it.

TensorFlow cuts a graph into one part a device when the graph is first called from a device, and again when
its inputs come from other devices. Graph collection (`collection.py`) hands these parts over once. It
is on during such a call alone: all other graphs that a cell prepares, as Keras does for its data, would be
handed over, too, which takes milliseconds. Calls that overlap share what was handed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow.collection import SharedCollection

# What TensorFlow adds to a partitioned graph to pass arguments, results and constants around.
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
    """What a prepared graph does in one call; operations in the body of a loop count once.

    `operations` counts by device and type, `copies` the values of variables that are sent, by the device
    they leave and the one they reach.
    """

    operations: Counter[tuple[str, str]]
    copies: Counter[tuple[str, str]] = field(default_factory=Counter)


class GraphCollection:
    """What every graph does that was prepared in a call that ran here."""

    def __init__(self) -> None:
        self._known: dict[Call, GraphParts] = {}
        self._collection = SharedCollection()
        # The devices, and the one where TensorFlow begins if none is set.
        self._begins: tuple[Sequence[str], str | None] = ((), None)
        self._ran: set[str] = set()
        #: Seconds of first calls in which XLA compiled a graph, or graphs in it, and ran them once.
        self.first_runs = 0.0
        #: Why graphs could not be learned, or None.
        self.failure: str | None = None

    def share(self) -> None:
        """From now on the user's own collection of graphs and ours are kept apart."""
        self._collection.share(_context())

    def parts(self, call: Call) -> GraphParts | None:
        """What a graph does, or None for one prepared when nobody watched."""
        return self._known.get(self._resolved(call))

    def may_change(self) -> bool:
        """Whether a graph that is known may be cut up anew: where there are devices to cut it over."""
        return len(_devices()) > 1

    def only_device(self) -> str | None:
        """TensorFlow's name of the one device that graphs can run on; None where there are more."""
        names = _devices()
        return names[0] if len(names) == 1 else None

    def begin(self, who: object) -> None:
        """A graph is about to be called: learn what it does if TensorFlow prepares it, until `end`."""
        try:
            # Where operations are handed out and not waited for, to learn would be to wait.
            if not _hands_out():
                self._collection.begin(who)
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"

    def end(self, who: object, call: Call, outputs: Any, seconds: float, *, failed: bool) -> None:
        """The call has ended after so long, with `outputs` unless it failed. Does no harm without `begin`."""
        try:
            collected = self._collection.end(who, failed=failed)
            known = self._resolved(call)
            # Else, as in most cells, it was prepared long ago.
            if collected or known not in self._known:
                definition = _context().get_function_def(call[0])
                if call[0] not in self._ran:
                    self._ran.add(call[0])
                    self.first_runs += seconds if _is_for_xla(definition) else 0.0
                found = _parts(definition, collected, outputs)
                if found is not None:
                    self._known[known] = found
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}"

    def _resolved(self, call: Call) -> Call:
        """The call with the device where TensorFlow begins if none is set: for both it prepares one graph."""
        name, device = call
        if device:
            return call
        names = _devices()
        if names is not self._begins[0]:
            self._begins = (names, next((one for one in names if "GPU" in one), names[0] if names else None))
        return name, self._begins[1]


def _hands_out() -> bool:
    """Whether TensorFlow goes on before operations of this thread have run; to ask its context would wait."""
    from tensorflow.python import pywrap_tfe

    executor = pywrap_tfe.TFE_ContextGetExecutorForThread(_context()._handle)
    try:
        return bool(pywrap_tfe.TFE_ExecutorIsAsync(executor))
    finally:
        pywrap_tfe.TFE_DeleteExecutor(executor)


def _devices() -> Sequence[str]:
    """TensorFlow's list of them, the same one as long as they are the same."""
    names: Sequence[str] | None = _context().devices()
    return names or ()


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()


def _is_for_xla(definition: Any) -> bool:
    """Whether XLA compiles the graph, or a graph that it calls, as Keras's training step is."""
    parts = (definition, *definition.node_def)
    return any("_XlaMustCompile" in one.attr and one.attr["_XlaMustCompile"].b for one in parts)


def _parts(definition: Any, collected: Any, outputs: Any) -> GraphParts | None:
    if definition.attr["_XlaMustCompile"].b:  # XLA makes one operation of the whole graph
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
    """Variables' values sent between parts: those just read, and those on their way to be assigned.

    A send and its receive carry the same name. Inputs and results, which have to be sent wherever the
    weights are, are left out.
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
    """The node of an input: `a` of `a:1` and of `^a`."""
    return name.partition(":")[0].lstrip("^")
