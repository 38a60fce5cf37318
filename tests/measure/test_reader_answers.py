"""Whether the process that empties the pipes has answered: whoever asked it, and was interrupted."""

import os
import socket
import sys
import threading
import time
from contextlib import closing, contextmanager

import psutil
import pytest

from jupyter_mlgpu.measure.capture import reader as reader_module
from jupyter_mlgpu.measure.capture import reader_process, reader_requests
from jupyter_mlgpu.measure.capture.reader import Pipe, Reader
from jupyter_mlgpu.measure.capture.reader_requests import ReaderRequests
from jupyter_mlgpu.measure.capture.storage import LogFile
from tests.support.interrupts import interrupted_at_each_line


def until(condition):
    deadline = time.monotonic() + 10
    while not (answer := condition()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
    return answer


def readers():
    """The processes that serve this one."""
    found = {}
    for one in psutil.process_iter(["cmdline"]):
        words = one.info["cmdline"] or []
        if any(word.endswith("reader_process.py") for word in words) and str(os.getpid()) in words:
            found[one.pid] = one
    return found


@contextmanager
def started():
    """A reader of one pipe, that pipe, and its process."""
    pipe, file, null = Pipe.new(), LogFile("stdout"), os.open(os.devnull, os.O_WRONLY)
    before = readers()
    reader = Reader([pipe], [file.descriptor], [null])
    reader.start([0])
    assert reader.settle(10.0)
    (process,) = [one for pid, one in readers().items() if pid not in before]
    try:
        yield reader, pipe, process
    finally:
        reader.forward(10.0)
        reader.close()
        pipe.close()
        file.close()
        os.close(null)


class Clock:
    """The real clock, which can be put forward."""

    def __init__(self, real):
        self._real = real
        self.ahead = 0.0

    def monotonic(self):
        return self._real.monotonic() + self.ahead

    def __getattr__(self, name):
        return getattr(self._real, name)


@pytest.fixture
def clock(monkeypatch):
    clock = Clock(reader_requests.real_time)
    monkeypatch.setattr(reader_requests, "real_time", clock)
    return clock


def test_a_process_that_has_answered_after_nobody_waited_any_more_is_not_silent():
    with started() as (reader, _, process):
        process.suspend()
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        assert not reader.settle(0.0)
        assert reader.silent() > 0.0
        process.resume()
        until(lambda: reader.silent() == 0.0)


def test_silence_is_counted_from_the_oldest_request_that_was_not_answered(clock):
    with started() as (reader, _, process):
        process.suspend()
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        reader.settle(0.0)
        clock.ahead += 30.0
        reader.settle(0.0)
        assert reader.silent() >= 30.0
        process.resume()
        until(lambda: reader.silent() == 0.0)
        process.suspend()
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        clock.ahead += 30.0
        reader.settle(0.0)
        assert reader.silent() < 30.0
        process.resume()


def test_a_process_is_ended_when_three_looks_in_a_row_find_it_silent_and_not_before(clock):
    with started() as (reader, _, process):
        process.suspend()
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        reader.end_if_stuck()
        clock.ahead += 60.0  # as where all processes were frozen
        reader.end_if_stuck()
        reader.end_if_stuck()
        process.resume()
        until(lambda: reader.silent() == 0.0)
        reader.end_if_stuck()
        assert not reader.was_stuck
        process.suspend()
        until(lambda: process.status() == psutil.STATUS_STOPPED)
        assert not reader.settle(0.0)
        clock.ahead += 60.0
        for _ in range(3):
            assert not reader.was_stuck
            reader.end_if_stuck()
        assert reader.was_stuck
        until(lambda: not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)
        assert not reader.listen(10.0, news=False)


def test_a_ctrl_c_at_any_line_keeps_no_later_request_from_its_answer():
    with started() as (reader, pipe, _):
        lines = 0
        for _ in interrupted_at_each_line(lambda: reader.settle(5.0), reader_module, reader_requests):
            lines += 1
            os.write(pipe.write, b"x")
            answers = []
            other = threading.Thread(target=lambda heard=answers: heard.append(reader.settle(5.0)))
            other.start()
            other.join()
            assert answers == [True], f"interrupted at line {lines} of them"
            assert reader.stored(0) == lines
        assert lines > 5


class Page:
    """What both processes map, and our end of the socket; the test is the process."""

    def __init__(self):
        ours, self.theirs = socket.socketpair()
        ours.setblocking(False)
        self.words = memoryview(bytearray(reader_process.PAGE_BYTES)).cast("Q")
        self.questions = ReaderRequests(ours, self.words)

    def close(self):
        self.questions.close()
        self.theirs.close()

    def asked(self):
        number = self.theirs.recv(reader_process.REQUEST_BYTES)
        return int.from_bytes(number, sys.byteorder)

    def answer(self, number):
        self.words[reader_process.ANSWERED] = number
        self.theirs.send(b".")


@pytest.fixture
def page():
    with closing(Page()) as page:
        yield page


def test_two_threads_that_ask_at_once_both_hear_their_answer(page):
    answers = []
    threads = [threading.Thread(target=lambda: answers.append(page.questions.settle(10.0))) for _ in range(2)]
    for thread in threads:
        thread.start()
    numbers = {page.asked(), page.asked()}
    page.answer(max(numbers))  # one byte wakes both up, and one of them reads it
    for thread in threads:
        thread.join()
    assert len(numbers) == 2
    assert answers == [True, True]


def test_an_answer_to_a_later_request_is_one_to_those_before(page):
    assert not page.questions.settle(0.0)
    assert not page.questions.settle(0.0)
    first, second = page.asked(), page.asked()
    assert first < second
    page.answer(first)
    assert page.questions.silent() == 0.0
    page.answer(reader_process.FORWARD)
    assert page.questions.settle(0.0)


def test_the_end_of_a_process_is_noticed_by_who_asks(page):
    page.theirs.close()
    assert not page.questions.settle(10.0)
    assert page.questions.ended
