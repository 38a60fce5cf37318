"""What a submission's cells have left running stands still while the lab's own cells are timed."""

import sys
import time

import pytest

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


def test_where_no_cell_has_run_there_is_nothing_to_pause():
    with (
        Student(SANDBOXES["same-user"], seconds=60, limits=Limits.of_this_machine()) as student,
        student.paused(),
    ):
        pass
