"""Which TensorFlow graphs a thread calls.

TensorFlow's context runs every graph that is called from Python in one method (private; seen working on
2.19.1). It is covered while somebody counts, at less than 1 us a call: a training loop makes thousands, so
all that can wait is done when the counts are taken. An operation callback would see the calls, too, but makes
TensorFlow run every eager operation the slow way.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.backends.tensorflow_graphs import Call, GraphCollection


class GraphCalls:
    """Counts the graphs that each thread calls, for threads that asked for it.

    The first call of each graph since the counts were taken last is run by `graphs`, which learns from it.
    """

    def __init__(self, graphs: GraphCollection) -> None:
        self._graphs = graphs
        self._here = _ThisThread()
        self._counting: set[int] = set()
        self._lock = threading.Lock()
        #: Graphs called, while anybody counted, by threads that did not.
        self.unheard = 0

    def count(self) -> None:
        """Count the graphs that this thread calls from now on."""
        with self._lock:
            self._here.counts = {}
            self._counting.add(threading.get_ident())
            if len(self._counting) == 1:
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
            if not self._counting:
                vars(_context()).pop("call_function", None)  # the class's own method shows again

    def _cover(self) -> None:
        ctx = _context()
        original = ctx.call_function
        here = self._here
        # What the property `device_name` reads, which takes as long again as all else here.
        state = ctx._thread_local_data

        def call_function(name: bytes, *arguments: Any, **named: Any) -> Any:
            counts = here.counts
            call = (name, state.device_name)
            if counts is not None and call in counts:
                outputs = original(name, *arguments, **named)
                counts[call] += 1
                return outputs
            return self._first(counts, call, lambda: original(name, *arguments, **named))

        ctx.call_function = call_function

    def _first(
        self,
        counts: dict[tuple[bytes, str | None], int] | None,
        call: tuple[bytes, str | None],
        run: Callable[[], Any],
    ) -> Any:
        name = (call[0].decode(), call[1])
        if self._graphs.parts(name) is not None and (counts is None or not self._graphs.may_change()):
            outputs = run()
        else:
            outputs = self._graphs.learn(name, run)
        if counts is None:
            self.unheard += 1
        else:
            counts[call] = 1
        return outputs


class _ThisThread(threading.local):
    """A thread that counts has counts, by the graph's name in bytes and the device set at the call."""

    counts: dict[tuple[bytes, str | None], int] | None = None


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()
