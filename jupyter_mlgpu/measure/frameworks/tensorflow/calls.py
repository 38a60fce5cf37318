"""The TensorFlow graphs that a thread calls.

TensorFlow's context runs every graph that is called from Python in one method (private; verified on 2.19.1).
It is wrapped from the first observed cell on, at less than 1 us per call. A training loop makes thousands of
calls, so everything that can wait is done when the counts are taken. It stays wrapped between cells, because
tasks, threads and silent cells may call a graph for the first time there, which is when TensorFlow reports
its operations. An operation callback would see the calls, too, but makes TensorFlow run every eager operation
on the slow path.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow.context import eager_context
from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import Call, GraphCollection
from jupyter_mlgpu.record.clock import real_time


class GraphCalls:
    """Counters of the graphs that each thread calls, for threads that use `count`.

    `graphs` learns the operations of a graph from its first call since the counts were last taken, and from
    its first call by any thread that does not count.
    """

    def __init__(self, graphs: GraphCollection) -> None:
        self._graphs = graphs
        self._here = _ThisThread()
        self._counting: set[int] = set()
        self._lock = threading.Lock()
        self._wrapped: Any = None  # the context
        self._unwrap: Callable[[], None] = lambda: None
        self._keep_wrapped = False
        self._other_threads: set[tuple[bytes, str | None]] = set()  # called by threads that do not count

    def count(self) -> None:
        """Count the graphs that this thread calls from now on."""
        with self._lock:
            self._here.counts = {}
            self._counting.add(threading.get_ident())
            self._keep_wrapped = True
            self._wrap()

    def take(self) -> Counter[Call]:
        """Return the calls of this thread since the last time, and restart the count."""
        taken: Counter[Call] = Counter()
        if self._here.counts is not None:
            for (name, device), times in self._here.counts.items():
                taken[name.decode(), device] = times
            self._here.counts.clear()
        return taken

    def leave(self) -> None:
        """Stop counting in this thread."""
        with self._lock:
            self._here.counts = None
            self._counting.discard(threading.get_ident())
            self._unwrap_if_unused()

    def release(self) -> None:
        """Stop learning until the next `count`; threads that count now continue."""
        with self._lock:
            self._keep_wrapped = False
            self._unwrap_if_unused()

    def _unwrap_if_unused(self) -> None:
        if self._wrapped is not None and not self._counting and not self._keep_wrapped:
            self._unwrap()
            self._wrapped = None

    def _wrap(self) -> None:
        ctx = eager_context()
        if self._wrapped is ctx:
            return
        self._wrapped = ctx
        self._other_threads.clear()
        original = ctx.call_function
        before = {name: found for name, found in vars(ctx).items() if name == "call_function"}
        here = self._here
        other_threads = self._other_threads
        graphs = self._graphs
        # The state behind the property `device_name`, which takes as long as everything else here.
        state = ctx._thread_local_data

        def call_function(name: bytes, *arguments: Any, **named: Any) -> Any:
            counts = here.counts
            call = (name, state.device_name)
            if counts is None:
                if call in other_threads:
                    return original(name, *arguments, **named)
            elif call in counts:
                outputs = original(name, *arguments, **named)
                counts[call] += 1
                return outputs
            outputs, failed = None, True
            first, key, seconds = (name.decode(), call[1]), object(), 0.0
            try:
                self._begin_first(key, first, counts)
                begin = real_time.perf_counter()
                outputs = original(name, *arguments, **named)
                seconds = real_time.perf_counter() - begin
                failed = False
            finally:
                graphs.end(key, first, outputs, seconds, failed=failed)
            if counts is None:
                other_threads.add(call)
            else:
                counts[call] = 1
            return outputs

        # TensorFlow and Keras remove their own frames from tracebacks, which they recognise by the file.
        original_file = sys.modules[type(ctx).__module__].__file__
        call_function.__code__ = call_function.__code__.replace(
            co_filename=f"{original_file} (jupyter_mlgpu)"
        )

        def unwrap() -> None:
            if vars(ctx).get("call_function") is call_function:  # and no wrapper of the user
                del ctx.call_function  # the class's own method is visible again
                vars(ctx).update(before)

        ctx.call_function = call_function
        self._unwrap = unwrap

    def _begin_first(self, key: object, call: Call, counts: object) -> None:
        if self._graphs.parts(call) is None or (counts is not None and self._graphs.may_change()):
            self._graphs.begin(key)


class _ThisThread(threading.local):
    """The counts of a thread that counts, by the graph's name in bytes and the device set at the call."""

    counts: dict[tuple[bytes, str | None], int] | None = None
