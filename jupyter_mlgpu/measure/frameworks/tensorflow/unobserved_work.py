"""Detection of TensorFlow's work in threads that are not observed, and in sessions.

Every eager operation and every call of a graph looks up a function in TensorFlow's binding modules, and so
does every step of a session (private; verified on 2.19.1). While a cell is observed, a property replaces each
of these functions and detects the look-ups. It costs some 0.4 us and has returned before the function is
called, so no traceback contains it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

_OPERATIONS = ("TFE_Py_FastPathExecute", "TFE_Py_Execute", "TFE_Py_ExecuteCancelable")
_STEPS = ("TF_SessionRun_wrapper", "TF_SessionPRun_wrapper", "TF_SessionRunCallable")


class UnobservedWork:
    """Counters of the work in threads that are not observed, and of sessions in any thread."""

    def __init__(self, modules: Callable[[], tuple[Any, Any]] | None = None) -> None:
        """`modules` returns the binding modules of operations and of sessions; TensorFlow's by default."""
        #: Changes with each operation and call of a graph in a thread that is not observed.
        self.other_threads = 0
        #: Changes with each step of a session.
        self.steps = 0
        self._observed: set[int] = set()
        self._lock = threading.Lock()
        self._modules = modules or _bindings
        self._bindings: list[tuple[Any, type, type]] = []  # a module, its class, and the class that counts

    def begin(self) -> None:
        """Observe this thread."""
        with self._lock:
            self._observed.add(threading.get_ident())
            self._bindings = self._bindings or self._counting_bindings()
            for module, _, counting in self._bindings:
                module.__class__ = counting

    def end(self) -> None:
        """Stop observing this thread; after the last one, the modules have their own classes again."""
        with self._lock:
            self._observed.discard(threading.get_ident())
            if not self._observed:
                for module, plain, _ in self._bindings:
                    module.__class__ = plain

    def _counting_bindings(self) -> list[tuple[Any, type, type]]:
        observed, this_thread = self._observed, threading.get_ident

        def count_operation() -> None:
            if this_thread() not in observed:
                self.other_threads += 1

        def count_step() -> None:
            self.steps += 1

        operations, sessions = self._modules()
        bindings = []
        for module, names, count in (
            (operations, _OPERATIONS, count_operation),
            (sessions, _STEPS, count_step),
        ):
            properties = {name: _counting_property(name, count) for name in names if hasattr(module, name)}
            plain = type(module)
            bindings.append((module, plain, type(plain.__name__, (plain,), properties)))
        return bindings


def _bindings() -> tuple[Any, Any]:
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session

    return pywrap_tfe, pywrap_tf_session


def _counting_property(name: str, count: Callable[[], None]) -> property:
    """Return a property for a module's function that calls `count` at each look-up, and can be replaced."""

    def look_up(module: ModuleType) -> Any:
        count()
        return module.__dict__[name]

    def replace(module: ModuleType, function: Any) -> None:
        module.__dict__[name] = function

    return property(look_up, replace)
