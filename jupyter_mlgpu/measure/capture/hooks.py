"""Receives the messages of Python's `logging` and `warnings` without changing what the user sees.

No handler is added: a handler on the root logger would turn `logging.basicConfig` into a no-op, and the
user's own set-up with it. Instead, the one method that every logger passes its records through is wrapped,
and `warnings.showwarning`, which runs only for warnings that are shown.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from typing import Any, TextIO

from jupyter_mlgpu.measure.handlers import OurFailures
from jupyter_mlgpu.measure.user_objects import is_a, plain_message, plain_warning, type_name

#: Receives the stream ("logging" or "warnings"), text, level, and origin: a logger or a class of warning.
OnMessage = Callable[[str, str, str, str], None]


class PythonHooks:
    """Calls `on_message` for each logging record and each warning from `start` to `stop`."""

    def __init__(self, on_message: OnMessage) -> None:
        self._on_message = on_message
        self._call_handlers: Callable[[logging.Logger, logging.LogRecord], None] | None = None
        self._show_warning: Callable[..., None] | None = None
        self._ours: tuple[Any, Any] = (None, None)
        self._listening = False

    def start(self) -> None:
        """Begin to receive messages."""
        call_handlers = self._call_handlers = logging.Logger.callHandlers
        show_warning = self._show_warning = warnings.showwarning
        self._listening = True

        def hear_record(logger: logging.Logger, record: logging.LogRecord) -> None:
            call_handlers(logger, record)
            if not self._listening or not _is_shown(logger, record):
                return
            with OurFailures():  # logging itself reports a record whose arguments do not fit
                text = f"{record.levelname}:{record.name}:{plain_message(record)}"
                self._on_message("logging", text, record.levelname, record.name)

        def hear_warning(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            show_warning(message, category, filename, lineno, file, line)
            if not self._listening:
                return
            with OurFailures():
                text = warnings.formatwarning(plain_warning(message), category, filename, lineno, line)
                self._on_message("warnings", text, "WARNING", type_name(category))

        self._ours = (hear_record, hear_warning)
        logging.Logger.callHandlers = hear_record  # type: ignore[assignment, method-assign]
        warnings.showwarning = hear_warning

    def stop(self) -> None:
        """Restore the originals. Wrappers that others added since then stay, and ours do nothing."""
        hear_record, hear_warning = self._ours
        if self._call_handlers is not None and logging.Logger.callHandlers is hear_record:
            logging.Logger.callHandlers = self._call_handlers  # type: ignore[assignment, method-assign]
        if self._show_warning is not None and warnings.showwarning is hear_warning:
            warnings.showwarning = self._show_warning
        self._call_handlers = self._show_warning = None
        self._ours = (None, None)
        self._listening = False


def _is_shown(logger: logging.Logger, record: logging.LogRecord) -> bool:
    """Return True if a handler takes the record: ipykernel logs everything, to handlers that take little."""
    has_handler = False
    at: logging.Logger | None = logger
    while at is not None:
        for handler in at.handlers:
            has_handler = True
            if record.levelno >= handler.level and not is_a(handler, logging.NullHandler):
                return True
        at = at.parent if at.propagate else None
    last = logging.lastResort
    return not has_handler and last is not None and record.levelno >= last.level
