"""What crosses between the grader and a sandbox worker: an answer counts when the worker has made it."""

import dataclasses
import os
import socket
import subprocess
import time

import pytest

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.grading import channel, codec, waiting
from jupyter_mlgpu.teach.grading.channel import Channel
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.student import Student, students_for

pytestmark = pytest.mark.kernel

needs_syscalls = pytest.mark.skipif(
    not os.path.exists("/proc/self/syscall"), reason="this system does not say in which call a thread waits"
)


def student():
    """One of ours: without a sandbox, for what it tries stays in its own process."""
    limits = dataclasses.replace(Limits.of_this_machine(), memory=2 * 1024**3)
    return Student(SANDBOXES["same-user"], seconds=60, limits=limits)


#: Writes an answer, which it has seen before, to every pipe and socket of its process.
TO_EVERY_PIPE = """
import os, stat, threading, time
def forge():
    for name in os.listdir("/proc/self/fd"):
        for way in (lambda: int(name), lambda: os.open(f"/proc/self/fd/{name}", os.O_WRONLY | os.O_NONBLOCK)):
            try:
                mode = os.fstat(int(name)).st_mode
                if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
                    os.write(way(), b'{"failed": null}\\n')
            except OSError:
                pass
threading.Timer(0.3, forge).start()
"""

#: Has our own code answer, with the right number, while the cell still runs.
WITH_OUR_OWN_CODE = """
import gc, threading, time
worker = next(one for one in gc.get_objects() if type(one).__name__ == "SandboxWorker")
def forge():
    worker._answer({"failed": None})
    %s
threading.Timer(0.3, forge).start()
"""


def test_an_answer_that_a_thread_writes_into_every_pipe_and_socket_ends_the_process_and_gives_no_time():
    with student() as one:
        assert one.run(TO_EVERY_PIPE) == []
        with pytest.raises(GradingError, match="our own part of its process did not make"):
            one.time("time.sleep(2)")
        assert len(one.losses) == 1


@needs_syscalls
def test_a_second_answer_to_one_question_ends_the_process():
    with student() as one:
        assert one.run(WITH_OUR_OWN_CODE % "") == []
        with pytest.raises(GradingError, match="our own part of its process did not make"):
            one.time("time.sleep(1)")


@needs_syscalls
def test_a_time_ends_when_the_worker_waits_again_whoever_has_answered():
    with student() as one:
        assert one.run(WITH_OUR_OWN_CODE % "worker._answer = lambda answer: None") == []
        seconds, failed = one.time("time.sleep(1)")
        assert failed is None
        assert seconds >= 1


def test_functions_of_the_grader_are_called_back_with_numbers_of_their_own():
    with student() as one:
        one.run("def total(f, n): return sum(f(k) for k in range(n))")
        assert one.call("total", (lambda k: 2 * k, 50), {}) == (2450, "")
        assert one.losses == []


def test_where_the_labs_own_cells_are_measured_no_file_of_a_students_is(tmp_path):
    for name in ("handed_in", "lab"):
        (tmp_path / name).mkdir()
    (tmp_path / "lab" / "of_lab.py").write_text("")
    (tmp_path / "handed_in" / "colorsys.py").write_text("of_the_student = True")
    mine, apart = students_for(
        SANDBOXES["same-user"], seconds=60, handed_in=tmp_path / "handed_in", lab=tmp_path / "lab"
    )
    with mine, apart:
        for one in (mine, apart):
            one.run("import colorsys, of_lab\nown = hasattr(colorsys, 'of_the_student')")
        assert mine.names(["own"]) == {"own": ("value", True)}
        assert apart.names(["own"]) == {"own": ("value", False)}


@needs_syscalls
def test_the_kernel_says_whether_a_process_waits_for_us():
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(["cat"], stdin=theirs, stdout=theirs) as cat:
        inode = os.fstat(theirs.fileno()).st_ino
        theirs.close()

        def waits():
            deadline = time.monotonic() + 30
            while (found := waiting.waits_of(cat.pid, inode)) is None:
                assert time.monotonic() < deadline
            return found

        before = waits()
        ours.sendall(b"a line\n")
        assert ours.recv(100) == b"a line\n"
        while waits() == before:
            pass
        assert waiting.waits_of(cat.pid, inode + 1) is None
        ours.shutdown(socket.SHUT_WR)
    assert waiting.waits_of(cat.pid, inode) is None


def test_an_answer_to_a_question_that_the_worker_has_not_read_does_not_count(monkeypatch):
    monkeypatch.setattr(waiting, "waits_of", lambda process, inode: 7)
    monkeypatch.setattr(channel, "_PATIENCE", 0.05)
    monkeypatch.setattr(channel.Path, "exists", lambda path: True)
    line = Channel(lambda: None)
    try:
        line.find_worker(lambda: [1])
        with pytest.raises(GradingError, match="did not make"):
            line.await_worker(time.monotonic() + 30)
    finally:
        line.close()


@pytest.mark.parametrize("message", [{}, {"do": "time", "code": "1"}])
def test_a_number_is_added_to_a_line_and_the_line_stays_a_message(message):
    numbered = codec.unpack(codec.with_number(codec.pack(message), "abc"))
    assert numbered == {"number": "abc", **message}
