"""What we say on stderr raises nothing, whatever has become of stderr."""

import io
import sys

import pytest

from jupyter_mlgpu.record.stderr import say_on_stderr


class Broken:
    """A stream that takes nothing."""

    def write(self, text):
        raise OSError(28, "No space left on device")


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, object(), Broken(), closed()])
def test_where_it_cannot_be_said_nothing_is_raised(stream, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream)
    say_on_stderr("something failed")


def test_it_is_a_line_of_what_can_be_seen(capsys):
    say_on_stderr("it failed (\ud800\x1b[31m)")
    assert capsys.readouterr().err == "it failed (\\ud800\\u001b[31m)\n"
