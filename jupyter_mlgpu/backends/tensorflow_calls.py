"""Which TensorFlow graphs a thread calls.

TensorFlow's context runs every graph that is called from Python in one method (private; seen working on
2.19.1). It is covered while somebody listens, at about 2 us a call. An operation callback would see the
calls, too, but makes TensorFlow run every eager operation the slow way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

#: Told of each graph that was called: its name, and what came out.
Listener = Callable[[str, Any], None]


class GraphCalls:
    """Tells listeners, at most one a thread, of the graphs that their own thread calls."""

    def __init__(self) -> None:
        self._listeners: dict[int, Listener] = {}
        self._lock = threading.Lock()
        #: Graphs called, while anybody listened, by threads without a listener.
        self.unheard = 0

    def listen(self, listener: Listener) -> None:
        """Tell `listener` of the graphs that this thread calls from now on; it must not raise."""
        with self._lock:
            self._listeners[threading.get_ident()] = listener
            if len(self._listeners) == 1:
                self._cover()

    def leave(self) -> None:
        """Tell this thread's listener no more."""
        with self._lock:
            if self._listeners.pop(threading.get_ident(), None) is not None and not self._listeners:
                vars(_context()).pop("call_function", None)  # the class's own method shows again

    def _cover(self) -> None:
        ctx = _context()
        original = ctx.call_function

        def call_function(name: bytes, *arguments: Any, **named: Any) -> Any:
            outputs = original(name, *arguments, **named)
            listener = self._listeners.get(threading.get_ident())
            if listener is not None:
                listener(name.decode(), outputs)
            else:
                self.unheard += 1
            return outputs

        ctx.call_function = call_function


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()
