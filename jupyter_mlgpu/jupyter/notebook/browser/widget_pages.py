"""Answers the page that asks for widgets before there can be any.

JupyterLab's part of ipywidgets, which we bring, asks each kernel at each load of the page for its widgets, on
a comm that only `import ipywidgets` knows. Two lines of the log came of it, among those of the last cell:

* `No such comm target registered`, without that import. Until somebody imports it, we answer: there are no
  widgets.
* `No such comm`, from the thread in which ipykernel 7 looks whither a message goes: it looks when the first
  message is there already and the comm is not yet opened. Whoever handles the message looks again, and says
  so where there really is none. So what that thread says of comms is left out.
"""

from __future__ import annotations

import logging
from typing import Any

TARGET = "jupyter.widget.control"
LOGGER = "Comm"


class WidgetPages:
    """Of one kernel."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._router = getattr(kernel, "shell_channel_thread", None)  # from ipykernel 7 on

    def open(self) -> None:
        """Answer from now on, unless ipywidgets does; when it is imported, it takes the place over."""
        if TARGET not in self._kernel.comm_manager.targets:
            self._kernel.comm_manager.register_target(TARGET, _opened)
        logging.getLogger(LOGGER).addFilter(self._is_said_by_who_handles)

    def close(self) -> None:
        """Answer no more."""
        logging.getLogger(LOGGER).removeFilter(self._is_said_by_who_handles)
        if self._kernel.comm_manager.targets.get(TARGET) is _opened:
            self._kernel.comm_manager.unregister_target(TARGET, _opened)

    def _is_said_by_who_handles(self, record: logging.LogRecord) -> bool:
        return self._router is None or bool(record.thread != self._router.ident)


def _opened(comm: Any, message: Any) -> None:
    comm.on_msg(lambda asked: comm.send({"method": "update_states", "states": {}, "buffer_paths": []}))
