"""Runs tasks after a cell's reply: the client does not wait for them, and their output belongs to the cell.

ipykernel sends the reply, calls `post_handler_hook`, and then reports that the kernel is idle (seen with 6.31
and 7.4). Clients collect a cell's output until then.
"""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.jupyter.notebook.cell.cell_callbacks import interrupted_during
from jupyter_mlgpu.record.clock import real_time

_BEFORE, _AFTER = "pre_handler_hook", "post_handler_hook"
_POLLOUT = 2  # zmq.POLLOUT
#: A cell that begins within this time (seconds) after an interrupt was already waiting, so it is interrupted.
_WAITED_S = 0.2
#: Seconds in which the thread that forwards replies gets the GIL. Without it, a reply came up to 4 ms later.
_FORWARDING_S = 0.0005


class AfterReply:
    """Runs tasks after the reply to the request that the kernel is handling, or at once if there is none.

    `kernel` is None in a terminal, where nothing is replied. Requests in other threads, which are those of
    subshells, are not waited for.
    """

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self._thread = threading.get_ident()
        self._is_handling = False
        #: True while the tasks after a reply run. ipykernel has flushed the output streams before the reply.
        self.has_replied = False
        self._tasks: list[Callable[[], None]] = []
        self._interrupted_at = -math.inf
        self._covered: list[tuple[str, Any]] = []

    def start(self, *, handles_request: bool) -> None:
        """Wrap the hooks that ipykernel calls before and after it handles a request.

        `handles_request` is True if the kernel is handling one now, most likely a cell that loads the
        extension.
        """
        if hasattr(self._kernel, _BEFORE) and hasattr(self._kernel, _AFTER):
            self._cover(_BEFORE, self._request_begins)
            self._cover(_AFTER, self._replied)
            self._is_handling = handles_request

    def stop(self) -> None:
        """Restore the hooks, and run the tasks that wait."""
        while self._covered:
            name, ours = self._covered.pop()
            if vars(self._kernel).get(name) is ours:  # else other code has wrapped it since
                delattr(self._kernel, name)
        self._is_handling = False
        self.run_now()

    def run(self, task: Callable[[], None]) -> None:
        """Run a task after the reply. It reports its own failures."""
        if threading.get_ident() != self._thread:
            task()
            return
        self._tasks.append(task)
        if not self._is_handling:
            self.run_now()

    def run_now(self) -> None:
        """Run the tasks that wait for a reply, because their results are needed. Other threads do nothing."""
        while self._tasks and threading.get_ident() == self._thread:
            self._tasks.pop(0)()

    def take_interrupt(self) -> bool:
        """Return True, once, if an interrupt came while tasks ran and the next cell was already waiting.

        ipykernel ignores interrupts between two cells. Without the tasks, this one would have reached the
        next cell.
        """
        came, self._interrupted_at = self._interrupted_at, -math.inf
        return real_time.monotonic() - came < _WAITED_S

    def _request_begins(self) -> None:
        self.run_now()
        self._is_handling = True

    def _replied(self) -> None:
        self._is_handling = False
        if self._tasks:
            self.has_replied = True
            try:
                if interrupted_during((self._send_reply, lambda _: self.run_now()), None):
                    self._interrupted_at = real_time.monotonic()
            finally:
                self.has_replied = False

    def _send_reply(self, _: object) -> None:
        """Give ipykernel the time to send the reply.

        Since ipykernel 7, a thread sends it, which needs the GIL. Before that, it waits in a stream until
        that is flushed.
        """
        if getattr(self._kernel, "shell_channel_thread", None) is not None:
            real_time.sleep(_FORWARDING_S)
        elif hasattr(self._kernel.shell_stream, "flush"):
            self._kernel.shell_stream.flush(_POLLOUT)

    def _cover(self, name: str, call: Callable[[], None]) -> None:
        original = getattr(self._kernel, name)

        @functools.wraps(original)
        def covered(*arguments: Any, **named: Any) -> Any:
            if threading.get_ident() == self._thread:
                call()
            return original(*arguments, **named)

        setattr(self._kernel, name, covered)
        self._covered.append((name, covered))
