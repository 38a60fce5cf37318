"""Work of TensorFlow that no watch sees: of threads that nobody watches, and of sessions.

Every eager operation and every call of a graph looks up a function in TensorFlow's binding modules, and so
does every step of a session (private; seen working on 2.19.1). While a cell is watched these look-ups are
heard, by a property in the function's place: it costs some 0.4 us, and has returned before the function is
called, so that no traceback shows it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType
from typing import Any

_OPERATIONS = ("TFE_Py_FastPathExecute", "TFE_Py_Execute", "TFE_Py_ExecuteCancelable")
_STEPS = ("TF_SessionRun_wrapper", "TF_SessionPRun_wrapper", "TF_SessionRunCallable")


class Unseen:
    """Whether threads other than the watched ones worked, and whether sessions did, in any thread."""

    def __init__(self, modules: Callable[[], tuple[Any, Any]] | None = None) -> None:
        """`modules` gives the binding modules of operations and of sessions; left out, TensorFlow's own."""
        #: Changes with each operation and call of a graph in a thread that is not watched.
        self.elsewhere = 0
        #: Changes with each step of a session.
        self.steps = 0
        self._watched: set[int] = set()
        self._lock = threading.Lock()
        self._modules = modules or _bindings
        self._listening: list[tuple[Any, type, type]] = []  # a module, its class, and the one that listens

    def begin(self) -> None:
        """Watch this thread."""
        with self._lock:
            self._watched.add(threading.get_ident())
            self._listening = self._listening or self._made()
            for module, _, listening in self._listening:
                module.__class__ = listening

    def end(self) -> None:
        """Watch this thread no more; nothing is left behind where it was the last one."""
        with self._lock:
            self._watched.discard(threading.get_ident())
            if not self._watched:
                for module, plain, _ in self._listening:
                    module.__class__ = plain

    def _made(self) -> list[tuple[Any, type, type]]:
        watched, this_thread = self._watched, threading.get_ident

        def operation() -> None:
            if this_thread() not in watched:
                self.elsewhere += 1

        def step() -> None:
            self.steps += 1

        operations, sessions = self._modules()
        made = []
        for module, names, heard in ((operations, _OPERATIONS, operation), (sessions, _STEPS, step)):
            looked_up = {name: _heard(name, heard) for name in names if hasattr(module, name)}
            plain = type(module)
            made.append((module, plain, type(plain.__name__, (plain,), looked_up)))
        return made


def _bindings() -> tuple[Any, Any]:
    from tensorflow.python import pywrap_tfe
    from tensorflow.python.client import pywrap_tf_session

    return pywrap_tfe, pywrap_tf_session


def _heard(name: str, heard: Callable[[], None]) -> property:
    """In place of a module's function: tells when it is looked up, and may be replaced as that may."""

    def look_up(module: ModuleType) -> Any:
        heard()
        return module.__dict__[name]

    def replace(module: ModuleType, function: Any) -> None:
        module.__dict__[name] = function

    return property(look_up, replace)
