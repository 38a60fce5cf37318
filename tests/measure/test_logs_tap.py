"""The tap reads all that is written to the descriptors 1 and 2, passes it on, and puts everything back."""

import ctypes
import errno
import os
import subprocess
import tempfile
import time
from contextlib import contextmanager

import pytest

from jupyter_mlgpu.measure.capture import stream as stream_module
from jupyter_mlgpu.measure.capture import tap as tap_module
from jupyter_mlgpu.measure.capture.storage import LogFile
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.measure.wake_event import WakeEvent
from tests.support.waiting import until


class Heard:
    """What a tap has handed over."""

    def __init__(self):
        self.data = {"stdout": b"", "stderr": b""}
        self.lost = []

    def on_data(self, name, data):
        self.data[name] += data


class FullTerminal:
    """An echo that takes `room` bytes, and no more until it is given room."""

    def __init__(self, room=0):
        self.room = room
        self.shown = b""

    def write(self, data):
        taken = data[: self.room]
        self.room -= len(taken)
        self.shown += taken
        return len(taken)

    def ready(self, timeout):
        return self.room > 0


@pytest.fixture
def heard():
    return Heard()


@contextmanager
def tapped(heard):
    """A tap on both descriptors; pytest's capfd is the terminal."""
    tap = Tap((1, 2), heard.on_data, on_lost=heard.lost.append)
    tap.start()
    tap.drain()
    try:
        yield tap
    finally:
        tap.stop()


def test_what_is_written_is_read_at_the_next_drain(heard, capfd):
    with tapped(heard) as tap:
        os.write(2, b"one\n")
        os.write(1, b"two\n")
        tap.drain()
        assert heard.data == {"stderr": b"one\n", "stdout": b"two\n"}


def test_what_is_written_is_read_without_being_asked_for(heard, capfd):
    with tapped(heard):
        os.write(2, b"live\n")
        until(lambda: heard.data["stderr"] == b"live\n")


def test_it_reaches_the_terminal_too(capfd, heard):
    with tapped(heard) as tap:
        os.write(2, b"one\n")
        os.write(1, b"two\n")
        tap.stop()
        shown = capfd.readouterr()
        assert (shown.out, shown.err) == ("two\n", "one\n")


def test_what_c_still_holds_in_its_buffer_is_read(heard, capfd):
    with tapped(heard) as tap:
        ctypes.CDLL(None).printf(b"from C without a line end")
        tap.drain()
        assert heard.data["stdout"] == b"from C without a line end"


def test_a_child_process_is_heard_also_after_a_drain(heard, capfd):
    with tapped(heard):
        child = subprocess.Popen(
            ["sh", "-c", "echo early >&2; read go; echo late >&2"], stdin=subprocess.PIPE
        )
        until(lambda: heard.data["stderr"] == b"early\n")
        child.communicate(b"go\n")
        until(lambda: heard.data["stderr"] == b"early\nlate\n")


def test_twenty_megabytes_written_without_letting_go_of_python_are_all_there(heard, capfd):
    with tapped(heard) as tap:
        line = b"x" * 144 + b"\n"
        block = line * 1000
        write = ctypes.PyDLL(None).write  # PyDLL keeps Python's lock: nothing can read meanwhile
        for _ in range(145):
            assert write(2, block, len(block)) == len(block)
        tap.drain()
        assert heard.data["stderr"] == block * 145


def test_both_descriptors_are_put_back_exactly(heard, capfd):
    before = [os.fstat(descriptor) for descriptor in (1, 2)]
    tap = Tap((1, 2), heard.on_data)
    tap.start()
    tap.drain()
    during = [os.fstat(descriptor) for descriptor in (1, 2)]
    tap.stop()
    after = [os.fstat(descriptor) for descriptor in (1, 2)]
    assert [(s.st_dev, s.st_ino) for s in before] == [(s.st_dev, s.st_ino) for s in after]
    assert [(s.st_dev, s.st_ino) for s in before] != [(s.st_dev, s.st_ino) for s in during]


def test_a_forked_child_is_heard_and_its_lines_keep_their_order(heard, capfd):
    with tapped(heard) as tap:
        os.write(2, b"before\n")
        child = os.fork()
        if child == 0:
            tap.after_fork_in_child()
            os.write(2, b"from the child\n")
            os._exit(0)
        os.waitpid(child, 0)
        os.write(2, b"after\n")
        tap.drain()
        assert heard.data["stderr"] == b"before\nfrom the child\nafter\n"


def test_a_descriptor_that_the_user_has_redirected_stays_so_and_it_is_said(heard, tmp_path, capfd):
    with tapped(heard) as tap:
        tap.check()
        assert heard.lost == []
        theirs = os.open(tmp_path / "theirs", os.O_WRONLY | os.O_CREAT)
        os.dup2(theirs, 2)
        tap.check()
        tap.check()
        os.write(2, b"into their file\n")
        tap.stop()
        os.write(2, b"still theirs\n")
        assert (tmp_path / "theirs").read_bytes() == b"into their file\nstill theirs\n"
        assert len(heard.lost) == 1
        assert "closed or redirected file descriptor 2 (stderr)" in heard.lost[0]
        os.close(theirs)


def test_a_descriptor_that_the_user_has_closed_stays_closed(heard, capfd):
    with tapped(heard) as tap:
        os.close(2)
        tap.check()
        tap.stop()
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(2)
        assert "closed or redirected" in heard.lost[0]


def test_a_descriptor_that_was_closed_before_is_left_closed_and_it_is_said(heard, capfd):
    os.close(2)
    with tapped(heard) as tap:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.write(2, b"nowhere")
        tap.check()
        assert "closed or redirected file descriptor 2 (stderr)" in heard.lost[0]
        assert set(tap.files()) == {"stdout"}


def test_a_terminal_that_takes_nothing_holds_up_neither_the_reader_nor_the_cell(heard, capfd):
    terminal = FullTerminal(room=4)
    tap = Tap((2,), heard.on_data, make_echo=lambda descriptor, before: terminal)
    tap.start()
    tap.drain()
    os.write(2, b"abcdefgh")
    start = time.monotonic()
    tap.drain()
    assert time.monotonic() - start < 5
    assert heard.data["stderr"] == b"abcdefgh"
    assert terminal.shown == b"abcd"
    terminal.room = 100
    tap.stop()
    assert terminal.shown == b"abcdefgh"


def test_a_reader_that_fails_costs_the_user_no_output(capfd):
    lost = []

    def fail(name, data):
        raise ValueError("broken")

    tap = Tap((2,), fail, on_lost=lost.append)
    tap.start()
    tap.drain()
    os.write(2, b"shown all the same\n")
    tap.stop()
    assert capfd.readouterr().err == "shown all the same\n"
    assert lost == ["Reading native lines failed (ValueError: broken)."]


def test_bytes_older_than_what_is_kept_are_given_back_and_counted(heard, capfd, monkeypatch):
    monkeypatch.setattr(stream_module, "KEPT_BYTES", 8192)
    tap = Tap((2,), heard.on_data)
    tap.start()
    tap.drain()
    os.write(2, b"a" * 20_000)
    os.write(2, b"b" * 10_000)
    tap.drain()
    data, gone = tap.raw("stderr", 0, 30_000)
    tap.stop()
    assert gone == 20_480  # whole pages
    assert data == b"b" * (30_000 - 20_480)
    assert heard.data["stderr"] == b"a" * 20_000 + b"b" * 10_000


def test_a_program_that_opens_the_descriptor_anew_loses_nothing(heard, capfd):
    with tapped(heard) as tap:
        os.write(2, b"0123456789\n")
        subprocess.run(["sh", "-c", "for i in 1 2 3; do echo line $i > /dev/stderr; done"], check=True)
        tap.drain()
        assert heard.data["stderr"] == b"0123456789\nline 1\nline 2\nline 3\n"


def test_without_memory_files_a_nameless_temporary_file_is_used(monkeypatch, tmp_path, heard, capfd):
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    tap = Tap((2,), heard.on_data)
    tap.start()
    tap.drain()
    assert list(tmp_path.iterdir()) == []
    os.write(2, b"kept\n")
    tap.stop()
    assert heard.data["stderr"] == b"kept\n"


def test_a_disk_that_fills_ends_the_capture_before_a_write_of_the_users_fails(monkeypatch, heard, capfd):
    free = [1 << 40]
    monkeypatch.setattr(LogFile, "free_bytes", lambda self: free[0])
    tap = Tap((2,), heard.on_data, on_lost=heard.lost.append)
    tap.start()
    tap.drain()
    tapped = os.fstat(2)
    os.write(2, b"before\n")
    until(lambda: heard.data["stderr"])
    free[0] = 1024
    until(lambda: heard.lost and not os.path.samestat(os.fstat(2), tapped))
    os.write(2, b"after\n")
    tap.stop()
    assert heard.data["stderr"] == b"before\n"
    assert capfd.readouterr().err == "before\nafter\n"
    assert heard.lost == [tap_module.NOT_STORED]


def test_where_the_second_file_cannot_be_made_all_stays_as_it_was(monkeypatch, heard, capfd):
    made = []

    class SecondFails(LogFile):
        def __init__(self, name):
            if made:
                raise OSError("too many open files")
            super().__init__(name)
            made.append(self)

    monkeypatch.setattr(stream_module, "LogFile", SecondFails)
    with tapped(heard) as tap:
        assert "too many open files" in tap.paused
        assert heard.lost == [tap.paused]
        os.write(2, b"shown\n")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(made[0].descriptor)
    assert capfd.readouterr().err == "shown\n"
    assert heard.data["stderr"] == b""


def test_on_linux_the_file_lies_in_memory():
    file = LogFile("test")
    assert file.in_memory
    assert file.free_bytes() is None
    file.close()


def test_where_the_system_refuses_files_in_memory_the_file_is_a_temporary_one(monkeypatch, tmp_path):
    def refused(name):
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refused, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    file = LogFile("test")
    assert not file.in_memory
    os.write(file.descriptor, b"written")
    assert file.read(0, 7) == b"written"
    assert list(tmp_path.iterdir()) == []
    file.close()


def test_where_nothing_comes_it_waits_to_be_woken_and_where_something_does_it_looks_often(heard):
    class Listens:
        """A reader of which nothing is heard; it remembers how it was listened to."""

        stores = True

        def __init__(self):
            self.asked = []

        def listen(self, seconds, *, news):
            self.asked.append((seconds, news))
            if len(self.asked) == 14:
                tap._wake = None  # as at its end
            return True

    tap, reader = Tap((1, 2), heard.on_data), Listens()
    tap._reader, tap._wake, tap._taken = reader, WakeEvent(), True
    tap.behind = lambda: len(reader.asked) == 12
    tap._run(tap._wake)
    assert reader.asked[:10] == [(tap_module.INTERVAL, False)] * 10
    assert reader.asked[10:12] == [(tap_module.QUIET, True)] * 2
    assert reader.asked[12:] == [(tap_module.INTERVAL, False)] * 2
