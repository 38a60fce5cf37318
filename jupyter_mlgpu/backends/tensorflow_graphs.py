"""Which operations a TensorFlow graph has on which device, learned when TensorFlow prepares it.

TensorFlow cuts a graph into one part a device when the graph is first called from a device. Graph
collection (private; seen working on 2.19.1) hands these parts over once; later calls of the same graph
are recognised by its name. Collection belongs to the process, so it is on while anybody watches.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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
class Parts:
    """What a prepared graph does in one call; operations in the body of a loop count once.

    `operations` counts by device and type, `copies` the values of variables that are sent, by the device
    they leave and the one they reach.
    """

    operations: Counter[tuple[str, str]]
    copies: Counter[tuple[str, str]] = field(default_factory=Counter)


class GraphCollection:
    """What every graph does that was prepared while somebody watched."""

    def __init__(self) -> None:
        self._known: dict[Call, Parts] = {}
        self._watchers = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Collect graphs from now on; nested and concurrent watchers are counted."""
        with self._lock:
            self._watchers += 1
            if self._watchers > 1:
                return
            ctx = _context()
            if ctx._context_handle is not None:
                ctx.enable_graph_collection()
                return
            # Turning collection on would initialise the context, after which the user could no longer
            # configure devices. So wait until the user's own code initialises it.
            original = ctx.ensure_initialized

            def ensure_initialized() -> None:
                vars(ctx).pop("ensure_initialized", None)
                original()
                ctx.enable_graph_collection()

            ctx.ensure_initialized = ensure_initialized

    def end(self) -> None:
        """Stop collecting when the last watcher goes, unless the user's own code collects graphs."""
        with self._lock:
            self._watchers -= 1
            if self._watchers:
                return
            ctx = _context()
            vars(ctx).pop("ensure_initialized", None)
            if ctx._context_handle is not None and not _user_traces():
                ctx.disable_graph_collection()  # which lets go of graphs collected and not asked for

    def look(self, call: Call, outputs: Any) -> None:
        """Read the parts of a graph that was just called, if TensorFlow has just prepared it."""
        if _user_traces():
            return
        ctx = _context()
        collected = ctx.export_run_metadata().function_graphs
        if not collected and call in self._known:  # as in most cells: prepared long ago
            return
        found = _parts(ctx.get_function_def(call[0]), collected, outputs)
        if found is not None:
            self._known[call] = found

    def parts(self, call: Call) -> Parts | None:
        """What a graph does, or None for one prepared before anybody watched."""
        return self._known.get(call)


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()


def _parts(definition: Any, collected: Any, outputs: Any) -> Parts | None:
    if definition.attr["_XlaMustCompile"].b:  # XLA makes one operation of the whole graph
        return Parts(Counter({(outputs[0].device, "XLA program"): 1})) if outputs else None
    nodes = {node.name for node in definition.node_def}
    for graphs in reversed(collected):
        before = {node.name for node in graphs.pre_optimization_graph.node}
        if nodes and nodes <= before:
            found = Parts(Counter())
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


def _user_traces() -> bool:
    """Whether the user's code collects graphs itself (tf.summary.trace_on); then they are the user's."""
    module = sys.modules.get("tensorflow.python.ops.summary_ops_v2")
    return getattr(module, "_current_trace_context", None) is not None
