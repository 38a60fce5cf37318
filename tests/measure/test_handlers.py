"""An exception that a signal's handler of the user's raises in the middle of our code is theirs."""

import functools
import os
import signal
import socket
from contextlib import closing

import pytest

from jupyter_mlgpu.measure.capture import flushing
from jupyter_mlgpu.measure.capture.reader_requests import ReaderRequests
from jupyter_mlgpu.measure.handlers import OurFailures, is_of_a_handler


class WakeEvent:
    def __call__(self, number, frame):
        raise TimeoutError

    def method(self, number, frame):
        raise TimeoutError


def wake(number, frame):
    raise TimeoutError


def alarm_with(more, number, frame):
    raise TimeoutError


@pytest.fixture(params=[wake, WakeEvent(), WakeEvent().method, functools.partial(alarm_with, "more")])
def handler(request):
    before = signal.signal(signal.SIGALRM, request.param)
    yield
    signal.signal(signal.SIGALRM, before)


def alarm_handler():
    signal.raise_signal(signal.SIGALRM)


def test_what_a_handler_raises_comes_through(handler):
    with pytest.raises(TimeoutError), OurFailures():
        alarm_handler()


def test_what_we_raise_does_not(handler):
    with OurFailures():
        raise TimeoutError


def test_a_ctrl_c_always_does():
    with pytest.raises(KeyboardInterrupt), OurFailures():
        raise KeyboardInterrupt


def test_an_alarm_while_an_answer_is_waited_for_reaches_the_cell(handler, monkeypatch):
    ours, theirs = socket.socketpair()
    with closing(ours), closing(theirs), memoryview(bytearray(4096)).cast("Q") as words:
        questions = ReaderRequests(ours, words)
        monkeypatch.setattr(questions, "_wakes_up", lambda seconds: alarm_handler())
        with pytest.raises(TimeoutError):
            questions.settle(1.0)


def test_an_alarm_while_a_stream_is_flushed_reaches_the_cell(handler, monkeypatch):
    monkeypatch.setattr(flushing, "is_pending", lambda descriptor: True)
    monkeypatch.setattr(flushing, "_c_stream", lambda descriptor: (lambda: None, alarm_handler))
    with pytest.raises(TimeoutError):
        flushing.flush_native()


def test_an_error_of_the_system_is_no_handlers(handler):
    with pytest.raises(OSError, match="Bad file descriptor") as raised:
        os.close(-1)
    assert not is_of_a_handler(raised.value)
