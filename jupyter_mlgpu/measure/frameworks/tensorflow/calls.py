"""Which TensorFlow graphs a thread calls.

TensorFlow's context runs every graph that is called from Python in one method (private; seen working on
2.19.1). It is covered from the first cell that is watched on, at less than 1 us a call: a training loop makes
thousands, so all that can wait is done when the counts are taken. It stays covered between cells, where
tasks, threads and silent cells may call a graph for the first time, which is when TensorFlow tells what it
does. An operation callback would see the calls, too, but makes TensorFlow run every eager operation the slow
way.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import Call, GraphCollection
from jupyter_mlgpu.record.clock import real_time


class GraphCalls:
    """Counts the graphs that each thread calls, for threads that asked for it.

    From the first call of each graph since the counts were taken last `graphs` learns what it does; so it
    does from the first one by any thread that does not count.
    """

    def __init__(self, graphs: GraphCollection) -> None:
        self._graphs = graphs
        self._here = _ThisThread()
        self._counting: set[int] = set()
        self._lock = threading.Lock()
        self._covered: Any = None  # the context
        self._uncover: Callable[[], None] = lambda: None
        self._stays = False
        self._elsewhere: set[tuple[bytes, str | None]] = set()  # called by threads that do not count

    def count(self) -> None:
        """Count the graphs that this thread calls from now on."""
        with self._lock:
            self._here.counts = {}
            self._counting.add(threading.get_ident())
            self._stays = True
            self._cover()

    def take(self) -> Counter[Call]:
        """The calls of this thread since the last time; counting begins afresh."""
        taken: Counter[Call] = Counter()
        if self._here.counts is not None:
            for (name, device), times in self._here.counts.items():
                taken[name.decode(), device] = times
            self._here.counts.clear()
        return taken

    def leave(self) -> None:
        """Count no more in this thread."""
        with self._lock:
            self._here.counts = None
            self._counting.discard(threading.get_ident())
            self._let_go()

    def release(self) -> None:
        """Learn nothing more until somebody counts again; whoever counts now does so to their end."""
        with self._lock:
            self._stays = False
            self._let_go()

    def _let_go(self) -> None:
        if self._covered is not None and not self._counting and not self._stays:
            self._uncover()
            self._covered = None

    def _cover(self) -> None:
        ctx = _context()
        if self._covered is ctx:
            return
        self._covered = ctx
        self._elsewhere.clear()
        original = ctx.call_function
        before = {name: found for name, found in vars(ctx).items() if name == "call_function"}
        here = self._here
        elsewhere = self._elsewhere
        graphs = self._graphs
        # What the property `device_name` reads, which takes as long again as all else here.
        state = ctx._thread_local_data

        def call_function(name: bytes, *arguments: Any, **named: Any) -> Any:
            counts = here.counts
            call = (name, state.device_name)
            if counts is None:
                if call in elsewhere:
                    return original(name, *arguments, **named)
            elif call in counts:
                outputs = original(name, *arguments, **named)
                counts[call] += 1
                return outputs
            outputs, failed = None, True
            first, who, seconds = (name.decode(), call[1]), object(), 0.0
            try:
                self._first_begins(who, first, counts)
                begun = real_time.perf_counter()
                outputs = original(name, *arguments, **named)
                seconds = real_time.perf_counter() - begun
                failed = False
            finally:
                graphs.end(who, first, outputs, seconds, failed=failed)
            if counts is None:
                elsewhere.add(call)
            else:
                counts[call] = 1
            return outputs

        # TensorFlow and Keras leave their own frames out of tracebacks, and know them by their files.
        stands_for = sys.modules[type(ctx).__module__].__file__
        call_function.__code__ = call_function.__code__.replace(co_filename=f"{stands_for} (jupyter_mlgpu)")

        def uncover() -> None:
            if vars(ctx).get("call_function") is call_function:  # and no cover of the user's own
                del ctx.call_function  # the class's own method shows again
                vars(ctx).update(before)

        ctx.call_function = call_function
        self._uncover = uncover

    def _first_begins(self, who: object, call: Call, counts: object) -> None:
        if self._graphs.parts(call) is None or (counts is not None and self._graphs.may_change()):
            self._graphs.begin(who)


class _ThisThread(threading.local):
    """A thread that counts has counts, by the graph's name in bytes and the device set at the call."""

    counts: dict[tuple[bytes, str | None], int] | None = None


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()
