"""Writes native lines to a stream of ipykernel, as if they had been printed."""

from __future__ import annotations

import contextvars
import functools
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.jupyter.notebook.capture.line_count import LineCount
from jupyter_mlgpu.measure.capture.echo import DescriptorEcho
from jupyter_mlgpu.measure.handlers import OurFailures


class StreamEcho:
    """Writes to an ipykernel stream, under the current or last cell, and to the server's terminal."""

    def __init__(self, stream: Any, terminal: int, count: LineCount) -> None:
        # The class's own method: the instance's may be wrapped while a cell runs.
        self._write: Callable[[str], Any] = functools.partial(type(stream).write, stream)
        self._flush: Callable[[], Any] = functools.partial(type(stream).flush, stream)
        self._waits = False
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        self._terminal = DescriptorEcho(terminal)
        self._count = count
        self.belong_to_this_cell()

    def belong_to_this_cell(self) -> None:
        """Show later output under the cell that runs or is about to run."""
        # ipykernel keeps in a context variable which cell a print belongs to.
        self._context = self._of_cell = contextvars.copy_context()

    def belong_to_this_request(self) -> None:
        """Show later output under the current request, which is not a cell."""
        self._context = contextvars.copy_context()

    def belong_to_the_last_cell(self) -> None:
        """Show later output under the last cell again, after such a request."""
        self._context = self._of_cell

    def write(self, data: bytes) -> int:
        """Show bytes and return how many were taken, which is all of them."""
        text = self._decoder.decode(data)
        if text:
            self._count.native(text)
            self._waits = True
            # It may fail after the stream has taken the text; writing again would show it twice.
            with OurFailures():
                self._context.run(self._write, text)
        self._terminal.write(data)  # best effort: the notebook has it even if this pipe is full
        return len(data)

    def flush(self) -> None:
        """Send what waits in the stream; costs nothing if it is empty."""
        if self._waits:
            self._waits = False
            self._flush()

    def finish(self) -> None:
        """Show the remains of an incomplete character, too."""
        text = self._decoder.decode(b"", final=True)
        if text:
            self._context.run(self._write, text)
            self._waits = True
            self.flush()

    def ready(self, timeout: float) -> bool:
        """Return True: a stream takes everything at once."""
        return True
