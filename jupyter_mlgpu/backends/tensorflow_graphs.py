"""Which operations a TensorFlow graph has on which device, learned when TensorFlow prepares it.

TensorFlow cuts a graph into one part a device when the graph is first called from a device. Graph
collection (private; seen working on 2.19.1) hands these parts over once; later calls of the same graph
are recognised by its name. Collection belongs to the process, so it is on while anybody watches.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from typing import Any

# What TensorFlow adds to a partitioned graph to pass arguments, results and constants around.
_BOOKKEEPING = frozenset(
    {"_Arg", "_Retval", "_DeviceArg", "_DeviceRetval", "_Send", "_Recv", "_HostSend", "_HostRecv"}
    | {"Const", "NoOp"}
)

#: A graph as called from one device: its name, and the device set at the call.
Call = tuple[str, str | None]


class GraphCollection:
    """Operations by device of every graph that was prepared while somebody watched."""

    def __init__(self) -> None:
        self._known: dict[Call, Counter[str]] = {}
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
        found = None if _user_traces() else _parts(_context(), call[0], outputs)
        if found is not None:
            self._known[call] = found

    def parts(self, call: Call) -> Counter[str] | None:
        """Operations by device, or None for a graph prepared before anybody watched."""
        return self._known.get(call)


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()


def _parts(ctx: Any, name: str, outputs: Any) -> Counter[str] | None:
    collected = ctx.export_run_metadata().function_graphs
    definition = ctx.get_function_def(name)
    if definition.attr["_XlaMustCompile"].b:  # XLA makes one operation of the whole graph
        return Counter({outputs[0].device: 1}) if outputs else None
    nodes = {node.name for node in definition.node_def}
    for graphs in reversed(collected):
        before = {node.name for node in graphs.pre_optimization_graph.node}
        if nodes and nodes <= before:
            return Counter(
                node.device
                for partition in graphs.partition_graphs
                for node in partition.node
                if node.op not in _BOOKKEEPING
            )
    return None


def _user_traces() -> bool:
    """Whether the user's code collects graphs itself (tf.summary.trace_on); then they are the user's."""
    module = sys.modules.get("tensorflow.python.ops.summary_ops_v2")
    return getattr(module, "_current_trace_context", None) is not None
