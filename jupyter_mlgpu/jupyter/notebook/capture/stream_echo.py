"""Native lines into a stream of ipykernel's, as if they had been printed."""

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
    """Into a stream of ipykernel's, under the cell that runs or ran last, and to the server's terminal."""

    def __init__(self, stream: Any, terminal: int, count: LineCount) -> None:
        # The class's own method: the instance's may be covered for the length of a cell.
        self._write: Callable[[str], Any] = functools.partial(type(stream).write, stream)
        self._flush: Callable[[], Any] = functools.partial(type(stream).flush, stream)
        self._waits = False
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        self._terminal = DescriptorEcho(terminal)
        self._count = count
        self.belong_to_this_cell()

    def belong_to_this_cell(self) -> None:
        """Show what follows under the cell that runs or is about to run."""
        # ipykernel remembers in a context variable which cell a print belongs to.
        self._context = self._of_cell = contextvars.copy_context()

    def belong_to_this_request(self) -> None:
        """For as long as a request is handled that is no cell."""
        self._context = contextvars.copy_context()

    def belong_to_the_last_cell(self) -> None:
        """Again, after such a request."""
        self._context = self._of_cell

    def write(self, data: bytes) -> int:
        """Show bytes; returns how many were taken, which is all of them."""
        text = self._decoder.decode(data)
        if text:
            self._count.native(text)
            self._waits = True
            # It may fail after the stream has taken the text: to write it again would show it twice.
            with OurFailures():
                self._context.run(self._write, text)
        self._terminal.write(data)  # a courtesy: what a full pipe does not take, the notebook has
        return len(data)

    def flush(self) -> None:
        """Send what waits in the stream; where nothing does, this costs nothing."""
        if self._waits:
            self._waits = False
            self._flush()

    def finish(self) -> None:
        """Show also a character that was never completed."""
        text = self._decoder.decode(b"", final=True)
        if text:
            self._context.run(self._write, text)
            self._waits = True
            self.flush()

    def ready(self, timeout: float) -> bool:
        """A stream takes everything at once."""
        return True
