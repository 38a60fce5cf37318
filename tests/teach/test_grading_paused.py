"""What a submission's cells have left running stands still while the lab's own cells are timed."""

import sys
import time

import pytest

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.student import Student
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has such sandboxes")

#: A child in a session of its own, and a grandchild, count in a file each.
COUNTS = """
import os
def count(name):
    file, number = os.open(name, os.O_WRONLY | os.O_CREAT), 0
    while True:
        number += 1
        os.pwrite(file, b"%012d" % number, 0)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        count({folder!r} + "/grandchild")
    count({folder!r} + "/child")
"""


@pytest.fixture
def counts(tmp_path):
    """What the children have counted to."""
    return lambda: [
        (tmp_path / name).read_text() if (tmp_path / name).exists() else ""
        for name in ("child", "grandchild")
    ]


def test_processes_that_a_cell_has_left_stand_still_and_go_on(tmp_path, counts):
    with Student(SANDBOXES["same-user"], seconds=60, limits=Limits.of_this_machine()) as student:
        assert student.run(COUNTS.format(folder=str(tmp_path))) == []
        until(lambda: all(counts()))
        with student.paused():
            before = counts()
            time.sleep(0.3)
            assert counts() == before
        until(lambda: all(one != other for one, other in zip(counts(), before, strict=True)))
        assert student.run("1 + 1")[0]["data"]["text/plain"] == "2"
        assert student.losses == []


#: The kernel itself wakes a stopped process: a timer whose signal is SIGCONT.
WAKES = """
import ctypes, os, signal, struct
if os.fork() == 0:
    signal.signal(signal.SIGCONT, lambda *_: None)
    libc = ctypes.CDLL(None, use_errno=True)
    event = ctypes.create_string_buffer(struct.pack("qii", 0, signal.SIGCONT, 0).ljust(64, b"\\0"))
    for number in range(20):  # one that was due when the stop came may never come again
        timer, nanoseconds = ctypes.c_void_p(), 40_000_000 + 5_000_000 * number
        assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
        every = struct.pack("qqqq", 0, nanoseconds, 0, nanoseconds)
        assert libc.timer_settime(timer, 0, every, None) == 0
    open({ready!r}, "w").close()
    while True: pass
"""


def test_a_process_that_wakes_itself_ends_the_submissions_processes(tmp_path):
    ready = tmp_path / "ready"
    limits = Limits.of_this_machine()
    with Student(SANDBOXES["same-user"], seconds=60, limits=limits) as student:
        assert student.run(WAKES.format(ready=str(ready))) == []
        until(ready.exists)
        with (
            pytest.raises(GradingError, match=r"could not be paused|kept processes running"),
            student.paused(),
        ):
            time.sleep(0.5)
        assert len(student.losses) == 1


def test_where_no_cell_has_run_there_is_nothing_to_pause():
    with (
        Student(SANDBOXES["same-user"], seconds=60, limits=Limits.of_this_machine()) as student,
        student.paused(),
    ):
        pass
