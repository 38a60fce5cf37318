"""An error of the thread that sends what is printed does not make it miss what comes next."""

import threading
import time

import pytest
import zmq
from ipykernel.iostream import IOPubThread, OutStream
from jupyter_client.session import Session

from jupyter_mlgpu.jupyter.notebook.capture.capture_kernel import _stream_class_in_order

pytestmark = pytest.mark.small


@pytest.fixture
def sender():
    """The thread of a kernel that sends what is printed."""
    with zmq.Context() as context, context.socket(zmq.PUB) as socket:
        socket.bind("inproc://iopub")
        sender = IOPubThread(socket)
        sender.start()
        yield sender
        sender.stop()
        sender.close()


class SendsNothing(Session):
    def send(self, *arguments, **named):
        raise UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")


def hears_what_comes_after_errors(sender, kind):
    stream = kind(SendsNothing(), sender, "stdout", watchfd=False)
    heard = threading.Event()
    sender.schedule(lambda: time.sleep(0.3))  # what comes next arrives meanwhile
    for _ in range(5):
        sender.schedule(lambda: (stream.write("x"), stream._flush()))
    sender.schedule(heard.set)
    return heard.wait(5)


def test_what_comes_after_errors_is_heard(sender, caplog):
    assert hears_what_comes_after_errors(
        sender, _stream_class_in_order(OutStream, lambda: None, lambda: None)
    )
    assert "surrogates not allowed" in caplog.text


@pytest.mark.slow
def test_that_it_is_not_heard_without_us(sender):
    assert not hears_what_comes_after_errors(sender, OutStream)
