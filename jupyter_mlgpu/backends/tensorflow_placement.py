"""Where TensorFlow's operations really ran, seen from inside and cheaply.

Two private interfaces of TensorFlow (seen working on 2.19.1) are put together:

* an operation callback tells the device of each eager operation and the name of each graph called;
* graph collection gives, when TensorFlow prepares a graph for its first call, the operations of that
  graph by device. Later calls of the same graph are recognised by its name.

The callback costs about 4 us an operation, so it is taken away after `LIMIT` eager operations of one
cell; the record then says that only those were watched. Only the cell's own thread is seen.
"""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from jupyter_mlgpu.record import RanOn

#: Eager operations watched in one cell: about 4 ms of cost at most.
LIMIT = 1_000

# What TensorFlow adds to a partitioned graph to pass arguments, results and constants around.
_BOOKKEEPING = frozenset(
    [
        "_Arg",
        "_Retval",
        "_DeviceArg",
        "_DeviceRetval",
        "_Send",
        "_Recv",
        "_HostSend",
        "_HostRecv",
        "Const",
        "NoOp",
    ]
)


@dataclass(slots=True)
class Mark:
    """Where the counters stood when a cell began."""

    counts: Counter[str]
    unknown: Counter[str]
    eager: int
    added: bool


@dataclass(slots=True)
class _Graphs:
    """Operations by device of each graph seen at its first call, by graph and calling device."""

    known: dict[tuple[str, str | None], Counter[str]] = field(default_factory=dict)
    looked: set[tuple[str, str | None]] = field(default_factory=set)


class PlacementWatch:
    """Counts operations by device while at least one cell is being watched."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._unknown: Counter[str] = Counter()
        self._eager = 0
        self._graphs = _Graphs()
        self._watching = 0
        self._stop_at = 0
        self._truncated = False
        self._failure: str | None = None

    def start(self) -> Mark:
        """Begin to watch; cells may be nested."""
        self._graphs.looked.clear()
        outermost = self._watching == 0
        self._watching += 1
        if outermost:
            self._stop_at = self._eager + LIMIT
            self._truncated = False
            self._failure = None
            try:
                self._install()
            except Exception as error:
                self._failure = f"{type(error).__name__}: {error}"
        return Mark(Counter(self._counts), Counter(self._unknown), self._eager, outermost)

    def finish(self, mark: Mark) -> tuple[tuple[RanOn, ...] | None, str | None]:
        """What ran since `mark`, most operations first, and why something is not known."""
        self._watching -= 1
        if mark.added:
            try:
                self._uninstall()
            except Exception as error:
                self._failure = f"{type(error).__name__}: {error}"
        if self._failure is not None:
            return None, f"TensorFlow's operations could not be watched ({self._failure})."
        counts = self._counts - mark.counts
        unknown = self._unknown - mark.unknown
        why = None
        if self._truncated:
            why = f"Only the first {LIMIT:,} eager operations of this cell were watched."
        if unknown:
            names = ", ".join(sorted({_plain(name) for name in unknown})[:3])
            reason = (
                f"Where the operations of {names} ran is not known: "
                "TensorFlow prepared the graph before this kernel was traced."
            )
            why = f"{why} {reason}" if why else reason
        if not counts and unknown:
            return None, why
        return _ran_on(counts, why), why

    def _install(self) -> None:
        from tensorflow.python.eager import context
        from tensorflow.python.framework import op_callbacks

        ctx = context.context()
        if ctx._context_handle is not None:
            ctx.enable_graph_collection()
        else:
            # Turning collection on would initialise the context, after which the user could no longer
            # configure devices. So wait until the user's own code initialises it.
            original = ctx.ensure_initialized

            def ensure_initialized() -> None:
                vars(ctx).pop("ensure_initialized", None)
                original()
                ctx.enable_graph_collection()

            ctx.ensure_initialized = ensure_initialized
        op_callbacks.add_op_callback(self._on_operation)

    def _uninstall(self) -> None:
        from tensorflow.python.eager import context

        ctx = context.context()
        vars(ctx).pop("ensure_initialized", None)
        self._remove_callback()
        if ctx._context_handle is not None and not _user_traces():
            ctx.export_run_metadata()  # let go of graphs collected and not asked for
            ctx.disable_graph_collection()

    def _remove_callback(self) -> None:
        from tensorflow.python.framework import op_callbacks

        with suppress(KeyError):  # already taken away at the limit, or by the user's clear_op_callbacks
            op_callbacks.remove_op_callback(self._on_operation)

    def _on_operation(
        self,
        op_type: str,
        inputs: Any,
        attrs: Any,
        outputs: Any,
        op_name: Any = None,
        graph: Any = None,
    ) -> None:
        if graph is not None:  # a graph is being built: nothing runs
            return
        try:
            if op_type.startswith("__"):
                self._count_graph(op_type, outputs)
                return
            tensors = outputs or inputs  # an operation without result works on the variable it is given
            if tensors:
                self._counts[tensors[0].device] += 1
            self._eager += 1
            if self._eager >= self._stop_at:
                self._truncated = True
                self._remove_callback()
        except Exception as error:  # the user's operation has succeeded; ours must not make it fail
            self._failure = f"{type(error).__name__}: {error}"

    def _count_graph(self, name: str, outputs: Any) -> None:
        from tensorflow.python.eager import context

        ctx = context.context()
        key = (name, ctx.device_name)
        if key not in self._graphs.looked:
            # TensorFlow prepares a graph again when its inputs come from other devices: look once a cell.
            self._graphs.looked.add(key)
            found = None if _user_traces() else _partition(ctx, name, outputs)
            if found is not None:
                self._graphs.known[key] = found
        counts = self._graphs.known.get(key)
        if counts is None:
            self._unknown[name] += 1
        else:
            self._counts.update(counts)


def _partition(ctx: Any, name: str, outputs: Any) -> Counter[str] | None:
    """Operations by device of the graph collected last that is the function `name`."""
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


def _ran_on(counts: Counter[str], why: str | None) -> tuple[RanOn, ...]:
    total = counts.total()
    return tuple(
        RanOn(
            framework="tensorflow",
            device=short_name(device),
            kind=kind_of(short_name(device).partition(":")[0].upper()),
            native_name=device,
            operations=None if why else count,
            share=None if why else count / total,
            why_missing=f"{why} {count:,} of those watched ran here." if why else None,
        )
        for device, count in counts.most_common()
    )


def short_name(native: str) -> str:
    """`cpu:1` of `/job:localhost/replica:0/task:0/device:CPU:1`."""
    return native.rpartition("device:")[2].lower()


def kind_of(device_type: str) -> str:
    """`cpu`, `cuda`, `metal` or `rocm` for TensorFlow's type `CPU` or `GPU`; other types as they are."""
    if device_type != "GPU":
        return device_type.lower()
    if sys.platform == "darwin":
        return "metal"
    return "rocm" if sys.modules["tensorflow"].test.is_built_with_rocm() else "cuda"


def _plain(function: str) -> str:
    """`train_step` of `__inference_train_step_42`."""
    return function.split("_", 3)[-1].rpartition("_")[0] or function
