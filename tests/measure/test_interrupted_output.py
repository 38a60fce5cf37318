"""A Ctrl-C while native output is passed on neither repeats it nor loses it."""

import ctypes
import os
import signal
import sys
import threading
from contextlib import closing

import pytest

from jupyter_mlgpu.measure.capture.stream import CapturedStream
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from tests.support.waiting import until


@pytest.fixture
def users_handler():
    """The handler of a kernel while a cell runs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield signal.default_int_handler
    signal.signal(signal.SIGINT, before)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def in_another_thread(ask):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    thread.start()
    thread.join(10.0)
    return answers[0] if answers else "it hangs"


class AllStored:
    """A reader whose process has stored everything that is in the file."""

    def __init__(self, stream):
        self._stream = stream

    def stored(self, number):
        return self._stream.file.size()

    def set_shown(self, number, count):
        pass


class Interrupted:
    """An echo, and a hearer of data, in which a Ctrl-C comes at the last moment, where `comes` says so."""

    def __init__(self):
        self.shown = self.heard = b""
        self.room = 1 << 20
        self.comes = ()

    def write(self, data):
        taken = data[: self.room]
        self.shown += taken
        self.room -= len(taken)
        if "shown" in self.comes:
            ctrl_c()
        return len(taken)

    def ready(self, timeout):
        return True

    def on_data(self, name, data):
        self.heard += data
        if "heard" in self.comes:
            ctrl_c()


def passed_on(echo, stream, *, comes=()):
    """Pass on what is there; whether a Ctrl-C came through."""
    echo.comes = comes
    try:
        stream.pass_on(AllStored(stream), echo.on_data)
    except KeyboardInterrupt:
        return True
    return False


@pytest.mark.parametrize("comes", [("heard",), ("shown",), ("heard", "shown")])
def test_a_ctrl_c_while_output_is_passed_on_neither_repeats_nor_loses_it(users_handler, comes):
    echo = Interrupted()
    with closing(CapturedStream.of(0, 1, lambda descriptor, before: echo)) as stream:
        os.write(stream.file.descriptor, b"a block\n")
        assert passed_on(echo, stream, comes=comes)
        os.write(stream.file.descriptor, b"another\n")
        assert not passed_on(echo, stream)
    assert echo.shown == echo.heard == b"a block\nanother\n"
    assert signal.getsignal(signal.SIGINT) is users_handler


def test_a_ctrl_c_while_a_full_terminal_takes_the_rest_does_not_repeat_it(users_handler):
    echo = Interrupted()
    echo.room = 3
    with closing(CapturedStream.of(0, 1, lambda descriptor, before: echo)) as stream:
        os.write(stream.file.descriptor, b"a block\n")
        assert not passed_on(echo, stream)
        echo.room = 100
        assert passed_on(echo, stream, comes=("shown",))
        assert not passed_on(echo, stream)
    assert echo.shown == echo.heard == b"a block\n"


def test_a_ctrl_c_while_no_process_reads_loses_nothing_of_what_was_read_here(users_handler):
    class ThreeBytesAtATime(Interrupted):
        def write(self, data):
            return super().write(data[:3])

    echo = ThreeBytesAtATime()
    echo.comes = ("shown",)
    with closing(CapturedStream.of(0, 1, lambda descriptor, before: echo)) as stream:
        os.write(stream.pipe.write, b"a block\n")
        with pytest.raises(KeyboardInterrupt):
            stream.relay()
        stream.relay()
    assert echo.shown == b"a block\n"


def test_what_must_be_whole_is_whole_and_the_ctrl_c_comes_after_it(users_handler):
    done = []

    def whole():
        with Uninterrupted():
            ctrl_c()
            ctrl_c()
            done.append("all of it")

    with pytest.raises(KeyboardInterrupt):
        whole()
    assert done == ["all of it"]
    assert signal.getsignal(signal.SIGINT) is users_handler


def lets_a_call_of_the_system_go_on():
    """Whether a Ctrl-C does: SA_RESTART in the flags of glibc's `struct sigaction`."""
    action = (ctypes.c_char * 256)()
    assert ctypes.CDLL(None).sigaction(int(signal.SIGINT), None, action) == 0
    return bool(int.from_bytes(action.raw[136:140], sys.byteorder) & 0x10000000)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have other structures")
@pytest.mark.parametrize("goes_on", [True, False])
def test_whether_a_ctrl_c_lets_a_call_of_the_system_go_on_stays_as_the_user_has_set_it(
    users_handler, goes_on
):
    signal.siginterrupt(signal.SIGINT, not goes_on)
    assert lets_a_call_of_the_system_go_on() == goes_on
    with Uninterrupted(), Uninterrupted():
        pass
    assert lets_a_call_of_the_system_go_on() == goes_on


def test_a_handler_that_counts_hears_of_every_ctrl_c(users_handler):
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append("once"))

    def whole():
        with Uninterrupted():
            ctrl_c()
            ctrl_c()
            assert heard == []

    whole()
    assert heard == ["once", "once"]


def test_an_error_in_what_must_be_whole_stays_beside_the_ctrl_c(users_handler):
    def fails():
        with Uninterrupted():
            ctrl_c()
            raise ValueError("an error of its own")

    with pytest.raises(KeyboardInterrupt) as raised:
        fails()
    assert isinstance(raised.value.__context__, ValueError)
    assert signal.getsignal(signal.SIGINT) is users_handler


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.SIG_DFL])
def test_where_a_ctrl_c_raises_nothing_the_handler_stays(users_handler, handler):
    signal.signal(signal.SIGINT, handler)
    with Uninterrupted():
        assert signal.getsignal(signal.SIGINT) is handler
    assert signal.getsignal(signal.SIGINT) is handler


def test_another_thread_is_not_interrupted_and_changes_no_handler(users_handler):
    def ask():
        with Uninterrupted():
            return signal.getsignal(signal.SIGINT) is users_handler

    assert in_another_thread(ask) is True


def test_a_child_that_another_thread_forks_meanwhile_is_interrupted(users_handler):
    def fork():
        child = os.fork()
        if child == 0:
            try:
                ctrl_c()
                signal.sigtimedwait([], 0)
            except KeyboardInterrupt:
                os._exit(7)
            finally:
                os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    with Uninterrupted():
        assert in_another_thread(fork) == 7


def test_a_handler_that_was_left_in_place_gives_the_users_its_place_back(users_handler):
    left = Uninterrupted()

    def leaves():
        left.__enter__()  # and another signal's handler raises before it ends

    leaves()
    assert signal.getsignal(signal.SIGINT) is not users_handler
    with pytest.raises(KeyboardInterrupt):
        ctrl_c()
    assert signal.getsignal(signal.SIGINT) is users_handler


def test_a_users_handler_may_wait_for_a_thread_that_has_output_passed_on(users_handler, capfd):
    answers = []
    shown = []

    def on_data(name, data):
        shown.append(data)
        ctrl_c()

    tap = Tap((1, 2), on_data, on_lost=answers.append)
    tap.start()
    tap.drain()

    def waits_for_another(number, frame):
        answers.append(in_another_thread(tap.pump))

    signal.signal(signal.SIGINT, waits_for_another)
    try:
        os.write(2, b"one line\n")
        until(lambda: tap.pump() or shown)
    finally:
        signal.signal(signal.SIGINT, users_handler)
        tap.stop()
    assert set(answers) <= {None}
