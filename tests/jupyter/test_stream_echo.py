"""Native text goes into a stream once, whatever the stream says of it."""

import os

import pytest

from jupyter_mlgpu.jupyter.notebook.capture.line_count import LineCount
from jupyter_mlgpu.jupyter.notebook.capture.stream_echo import StreamEcho

pytestmark = pytest.mark.small


class Full:
    """A stream that takes text and then fails to tell of it, as ipykernel's does without free descriptors."""

    def __init__(self):
        self.taken = []

    def write(self, text):
        self.taken.append(text)
        raise OSError("Too many open files")

    def flush(self):
        pass


def test_text_that_a_stream_took_before_it_failed_is_not_written_again():
    stream, terminal = Full(), os.open(os.devnull, os.O_WRONLY)
    try:
        echo = StreamEcho(stream, terminal, LineCount())
        assert echo.write(b"native\n") == 7
    finally:
        os.close(terminal)
    assert stream.taken == ["native\n"]
