"""Answers JupyterLab's request for widgets before ipywidgets is imported, and hides a false log message.

The front end of ipywidgets, which we depend on, asks each kernel at each load of the page for its widgets, on
a comm that only `import ipywidgets` registers. This caused two log lines among those of the last cell.

The first is `No such comm target registered`, without that import. Until the import, we answer that there are
no widgets.

The second is `No such comm`, from the thread in which ipykernel 7 decides where a message goes: it looks for
the comm when the first message has arrived but the comm is not open yet. The thread that handles the message
looks again, and logs it if there really is no comm. So the first thread's messages about comms are dropped.
"""

from __future__ import annotations

import logging
from typing import Any

TARGET = "jupyter.widget.control"
LOGGER = "Comm"


class WidgetPages:
    """The answers of one kernel."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._router = getattr(kernel, "shell_channel_thread", None)  # since ipykernel 7

    def open(self) -> None:
        """Start to answer, unless ipywidgets does; when it is imported, it replaces our handler."""
        if TARGET not in self._kernel.comm_manager.targets:
            self._kernel.comm_manager.register_target(TARGET, _answer_no_widgets)
        logging.getLogger(LOGGER).addFilter(self._is_from_handling_thread)

    def close(self) -> None:
        """Stop answering."""
        logging.getLogger(LOGGER).removeFilter(self._is_from_handling_thread)
        if self._kernel.comm_manager.targets.get(TARGET) is _answer_no_widgets:
            self._kernel.comm_manager.unregister_target(TARGET, _answer_no_widgets)

    def _is_from_handling_thread(self, record: logging.LogRecord) -> bool:
        return self._router is None or bool(record.thread != self._router.ident)


def _answer_no_widgets(comm: Any, message: Any) -> None:
    comm.on_msg(lambda request: comm.send({"method": "update_states", "states": {}, "buffer_paths": []}))
