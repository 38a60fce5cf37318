"""TensorFlow's collection of the graphs that it prepares, shared with the user's own tools.

Collection (private; verified on 2.19.1) belongs to the process: it has one switch, and one store, which an
export empties. We switch it on for single calls. A user's `tf.summary.trace_on`, a callback of Keras or a
debugger may do the same at any moment, and must get exactly what it would get without us. So the methods of
collection are wrapped, on the existing context. What we take out while the user collects is kept, and is the
beginning of what they export.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class SharedCollection:
    """A view of the one switch and store that separates our graphs from the user's."""

    def __init__(
        self,
        store_failed: Callable[[Any], None] | None = None,
        prepare: Callable[[Any], None] | None = None,
    ) -> None:
        """`store_failed` makes a context store the graph of a failed call, `prepare` makes it prepare one."""
        self._store_failed = store_failed or _run_nothing
        self._prepare = prepare or _prepare_a_graph
        self._lock = threading.RLock()
        self._context: Any = None
        self._export: Callable[[], Any] = lambda: None
        self._switch_on: Callable[[], None] = lambda: None
        self._switch_off: Callable[[], None] = lambda: None
        self._users = False  # True if the user collects
        self._removed: list[Any] = []  # the user's graphs, taken out by us, the oldest first
        self._open: set[object] = set()  # keys of our calls that collect
        self._ours: list[Any] = []  # graphs collected while any of our calls did

    def share(self, ctx: Any) -> None:
        """Wrap the methods of TensorFlow's context; they stay wrapped, because the user may collect later."""
        with self._lock:
            if self._context is ctx:
                return
            self._context = ctx
            self._export = ctx.export_run_metadata
            self._switch_on = ctx.enable_graph_collection
            self._switch_off = ctx.disable_graph_collection
            self._open.clear()
            self._ours.clear()
            # A store that is not empty belongs to a user who has switched collection on before.
            found = self._export()
            self._removed = [found] if _holds(found) else []
            self._users = bool(self._removed) or self._is_on(ctx)
            # On 2.19.1 disable_run_metadata is bound to what enable_run_metadata calls: it switches
            # collection on, and what was collected stays.
            for name in ("enable_graph_collection", "enable_run_metadata", "disable_run_metadata"):
                setattr(ctx, name, self._switching_on(ctx, getattr(ctx, name)))
            ctx.disable_graph_collection = self._user_switches_off
            ctx.export_run_metadata = self._user_exports

    def begin(self, key: object) -> None:
        """Collect for our call `key` until `end`."""
        with self._lock:
            if self._users:
                taken = self._take()
                self._ours += taken if self._open else []
            elif not self._open:
                self._switch_on()
            self._open.add(key)

    def end(self, key: object, *, failed: bool = False) -> list[Any]:
        """Return the graphs collected since none of our calls did, including those of other calls.

        Returns none without `begin`. The graph of a failed call is stored only with the next operation, and a
        user may collect by then; so it is stored here.
        """
        with self._lock:
            if key not in self._open:
                return []
            if failed and not self._users:
                self._store_failed(self._context)
            self._open.discard(key)
            self._ours += self._take()
            found = list(self._ours)
            if not self._open:
                self._ours.clear()
                if not self._users:
                    self._switch_off()
            return found

    def _is_on(self, ctx: Any) -> bool:
        """Return True if a graph that is prepared now is collected; TensorFlow has no function for that."""
        if ctx._context_handle is None:  # not initialised: switching collection on had no effect
            return False
        self._prepare(ctx)
        return _holds(self._export())

    def _take(self) -> Any:
        """Take the graphs out of the store; they are kept for a user who collects."""
        taken = self._export()
        if taken is None:
            return []
        if self._users:
            self._removed.append(taken)
        return taken.function_graphs

    def _switching_on(self, ctx: Any, original: Callable[[], None]) -> Callable[[], None]:
        def switch_on() -> None:
            with self._lock:
                if self._open and not self._users:
                    self._ours += self._take()  # from before the user switched it on
                original()
                self._users = ctx._context_handle is not None

        return switch_on

    def _user_switches_off(self) -> None:
        with self._lock:
            self._users = False
            self._removed.clear()
            if self._open:
                self._ours += self._take()
            else:
                self._switch_off()

    def _user_exports(self) -> Any:
        found = self._export()  # may wait for operations that wait for the lock
        with self._lock:
            if found is None:
                return None
            if self._open:
                self._ours += found.function_graphs
            if not self._users:
                return type(found)()
            kept, self._removed = self._removed, []
        whole = type(found)()
        for one in (*kept, found):
            whole.MergeFrom(one)
        return whole


def _run_nothing(ctx: Any) -> None:
    from tensorflow.python import pywrap_tfe

    pywrap_tfe.TFE_Py_Execute(ctx._handle, "", "NoOp", [], None, 0)


def _prepare_a_graph(ctx: Any) -> None:
    # Not with tf.function, whose counter would change the names of the user's graphs. Takes half a
    # millisecond.
    from tensorflow.core.framework import function_pb2
    from tensorflow.python import pywrap_tfe

    graph = function_pb2.FunctionDef()
    graph.signature.name = "jupyter_mlgpu_asks_whether_graphs_are_collected"
    ctx.add_function_def(graph)
    try:
        pywrap_tfe.TFE_Py_Execute(ctx._handle, "", graph.signature.name, [], None, 0)
    finally:
        ctx.remove_function(graph.signature.name)


def _holds(found: Any) -> bool:
    return found is not None and bool(found.ByteSize())
