"""An exception amid the begin or the end of capturing leaves it whole: on, or off, and nothing left open."""

import contextlib
import os
import signal
import sys
import threading
import weakref

import psutil
import pytest

from jupyter_mlgpu.measure.capture import capture as capture_module
from jupyter_mlgpu.measure.capture import detached_process
from jupyter_mlgpu.measure.capture import stream as stream_module
from jupyter_mlgpu.measure.capture import tap as tap_module
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.capture.reader import Reader
from jupyter_mlgpu.measure.capture.stream import CapturedStream, plain_echo
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from tests.support.interrupts import interrupted_at_each_line
from tests.support.waiting import until


class Everything:
    """The descriptors 1 and 2, with nothing to be attached."""

    descriptors = (1, 2)
    make_echo = staticmethod(plain_echo)

    def attach(self, tap, request_begins):
        pass

    def cell_begins(self, tap):
        pass

    def cell_ended(self, tap):
        pass

    def detach(self, tap):
        pass

    def after_fork_in_child(self, tap):
        pass


class Unread:
    """Reads no lines."""

    def __getattr__(self, name):
        return lambda *args, **named: None


@pytest.fixture
def capture(capfd):
    capture = Capture(
        Everything(),
        now=lambda: "",
        new_reader=Unread,
        on_live=lambda lines: None,
        on_late=lambda sequence, notes: None,
        on_rest=lambda sequence, notes: None,
    )
    yield capture
    capture.stop()


@pytest.fixture
def users_alarm():
    """A handler of the user's that raises, for another signal than Ctrl-C."""

    def late(number, frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, late)
    yield lambda: signal.raise_signal(signal.SIGALRM)
    signal.signal(signal.SIGALRM, before)


def readers():
    """The processes that serve this one."""
    found = []
    for one in psutil.process_iter(["cmdline"]):
        words = one.info["cmdline"] or []
        if any(word.endswith("reader_process.py") for word in words) and str(os.getpid()) in words:
            found.append(one)
    return found


def opened(others):
    """How many descriptors of each kind that capturing opens are open, without those of other tests."""
    mine = [target for target in targets() if target not in others]
    kinds = [target.partition(":")[0].partition(" ")[0] for target in mine]
    return {
        kind: kinds.count(kind) for kind in kinds if kind in ("pipe", "socket") or "jupyter_mlgpu" in kind
    }


def targets():
    """What each of the process's descriptors points to, such as `pipe:[4026]`."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):
            found.append(os.readlink(f"/proc/self/fd/{number}"))
    return found


def begun(capture):
    """Begin, and wait until the descriptors are taken."""
    capture.start()
    capture.begin_command()


def shown_on(capture, capfd):
    """What is shown of a line on each descriptor, once all of it has been passed on."""
    os.write(1, b"out\n")
    os.write(2, b"err\n")
    capture.begin_command()
    return tuple(capfd.readouterr())


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_ctrl_c_at_any_line_of_the_end_or_the_begin_leaves_no_output_no_reader_and_no_descriptor(
    capture, capfd
):
    def off_and_on():
        capture.stop()
        begun(capture)

    others = targets()
    begun(capture)
    before, lines = opened(others), 0
    capfd.readouterr()
    for line in interrupted_at_each_line(off_and_on, capture_module, tap_module):
        lines = line
        begun(capture)
        assert shown_on(capture, capfd) == ("out\n", "err\n"), f"interrupted at line {line}"
        assert opened(others) == before, f"interrupted at line {line}"
    assert lines > 50
    until(lambda: len(readers()) == 1)
    capture.stop()
    until(lambda: not readers())


def test_a_ctrl_c_while_the_process_is_asked_to_end_comes_when_all_is_put_back(capture, monkeypatch):
    def forward(self, seconds):
        signal.raise_signal(signal.SIGINT)
        asked.append(seconds)

    asked, standard = [], [os.fstat(descriptor) for descriptor in (1, 2)]
    begun(capture)
    monkeypatch.setattr(Reader, "forward", forward)
    with pytest.raises(KeyboardInterrupt):
        capture.stop()
    assert asked
    assert not capture.active
    assert capture.files() == {}
    assert all(map(os.path.samestat, standard, map(os.fstat, (1, 2))))


@pytest.mark.parametrize("then", ["stop", "start"])
def test_an_end_that_an_alarm_has_cut_short_is_made_whole_by_what_comes_next(
    capture, capfd, users_alarm, monkeypatch, then
):
    others = targets()
    begun(capture)
    before = opened(others)
    capfd.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr(Reader, "forward", lambda self, seconds: users_alarm())
        with pytest.raises(TimeoutError):
            capture.stop()
    getattr(capture, then)()
    begun(capture)
    assert shown_on(capture, capfd) == ("out\n", "err\n")
    assert opened(others) == before
    until(lambda: len(readers()) == 1)


def test_a_begin_that_an_alarm_has_cut_short_leaves_it_off_and_the_next_one_begins(
    capture, capfd, users_alarm, monkeypatch
):
    others = targets()
    before = opened(others)
    with monkeypatch.context() as patched:
        patched.setattr(capture_module.PythonHooks, "start", lambda self: users_alarm())
        with pytest.raises(TimeoutError):
            capture.start()
    assert not capture.active
    assert opened(others) == before
    until(lambda: not readers())
    begun(capture)
    assert shown_on(capture, capfd) == ("out\n", "err\n")


def test_a_tap_whose_end_was_cut_short_begins_with_streams_of_its_own(capfd, users_alarm, monkeypatch):
    heard = []
    tap = Tap((1, 2), lambda name, data: heard.append((name, data)))
    tap.start()
    tap.drain()
    with monkeypatch.context() as patched:
        patched.setattr(Reader, "forward", lambda self, seconds: users_alarm())
        with pytest.raises(TimeoutError):
            tap.stop()
    tap.start()
    tap.drain()
    os.write(2, b"err\n")
    tap.drain()
    tap.stop()
    assert heard == [("stderr", b"err\n")]


def test_the_ctrl_c_that_waited_keeps_nothing_of_what_was_at_work():
    def works():
        held = threading.Thread()  # of which there may be weak references
        signal.raise_signal(signal.SIGINT)
        return weakref.ref(held)

    def whole():
        with Uninterrupted():
            kept.append(works())

    kept = []
    with pytest.raises(KeyboardInterrupt) as raised:
        whole()
    assert raised.value.__traceback__ is not None
    assert kept[0]() is None


def test_a_child_that_writes_on_for_ever_holds_up_nobody_who_empties_its_pipe(monkeypatch):
    monkeypatch.setattr(stream_module, "_RELAYED", 0.0)

    class WritesOn:
        """An echo at whose every turn there is more in the pipe."""

        shown = 0

        def write(self, data):
            self.shown += len(data)
            os.write(stream.pipe.write, b"y\n")
            assert self.shown < 100, "it goes on and on"
            return len(data)

        def ready(self, timeout):
            return True

    stream = CapturedStream.of(0, 1, lambda descriptor, before: WritesOn())
    os.write(stream.pipe.write, b"y\n")
    stream.relay()
    assert stream.echo.shown == 2
    stream.close()


def test_the_process_that_reads_is_never_where_a_ctrl_c_is_sent_to():
    read, write = os.pipe()
    says = "import os; os.write(3, b'%d %d' % (os.getpgrp(), os.getpid()))"
    detached_process.start([sys.executable, "-I", "-S", "-c", says], [write])
    os.close(write)
    group, process = map(int, os.read(read, 100).split())
    os.close(read)
    assert group != os.getpgrp()
    assert group != process  # which could have no session of its own then
