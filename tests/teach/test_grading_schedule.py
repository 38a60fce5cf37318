"""Submissions that are graded at the same time: each has its limit, and one is measured while others wait."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.grading.limits import Limits, most_at_once
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.schedule import Schedule
from jupyter_mlgpu.teach.grading.student import Student
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="labs are graded on Linux and macOS")


class Processes:
    """Something that can be paused, and says whether it is."""

    def __init__(self) -> None:
        self.are_paused = False

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        self.are_paused = True
        yield
        self.are_paused = False


def test_while_one_is_measured_the_other_stands_still_and_so_does_its_clock(tmp_path: Path) -> None:
    with Schedule(60, tmp_path) as mine, Schedule(60, tmp_path) as other:
        processes, own = Processes(), Processes()
        other.add(processes.pause)
        mine.add(own.pause)
        with mine.measuring():
            assert processes.are_paused
            assert not own.are_paused
            before, real = other.now(), time.monotonic()
            until(lambda: time.monotonic() > real + 0.1)
            assert other.now() == before
            assert mine.now() > real - 60
        until(lambda: not processes.are_paused)
        until(lambda: other.now() > before)


def test_two_are_measured_one_after_the_other(tmp_path: Path) -> None:
    inside: list[str] = []
    most: list[int] = []

    def measure(schedule: Schedule, name: str) -> None:
        for _ in range(5):
            with schedule.measuring():
                inside.append(name)
                most.append(len(inside))
                time.sleep(0.005)
                inside.remove(name)

    with Schedule(60, tmp_path) as one, Schedule(60, tmp_path) as other:
        threads = [threading.Thread(target=measure, args=args) for args in ((one, "one"), (other, "other"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert most == [1] * 10


def test_a_measurement_within_a_measurement_does_not_wait_for_itself(tmp_path: Path) -> None:
    with Schedule(60, tmp_path) as schedule, schedule.measuring(), schedule.measuring():
        assert schedule.left > 0


def test_a_submission_that_has_ended_keeps_nobody_waiting(tmp_path: Path) -> None:
    with Schedule(60, tmp_path), Schedule(60, tmp_path) as second:
        pass
    with Schedule(60, tmp_path) as third, third.measuring():
        assert second.left < 60


def test_the_processes_of_a_student_stand_still_while_another_is_measured(tmp_path: Path) -> None:
    limits = Limits.of_this_machine(2)
    (tmp_path / "shared").mkdir()
    counts = f"""
def count():
    number = 0
    while True:
        number += 1
        open({str(tmp_path / "count")!r}, "w").write(str(number))
import threading
threading.Thread(target=count, daemon=True).start()
"""
    with (
        Schedule(60, tmp_path / "shared") as neighbour,
        Schedule(60, tmp_path / "shared") as schedule,
        Student(SANDBOXES["same-user"], seconds=30, limits=limits, schedule=schedule) as student,
    ):
        assert student.run(counts) == []
        until((tmp_path / "count").exists)
        with neighbour.measuring():
            before = (tmp_path / "count").read_text()
            time.sleep(0.2)
            assert (tmp_path / "count").read_text() == before
        until(lambda: (tmp_path / "count").read_text() not in ("", before))
        assert student.run("1 + 1")[0]["data"]["text/plain"] == "2"
        assert student.losses == []


def test_a_question_that_waits_for_a_neighbours_measurement_is_not_late(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    answers = []
    with (
        Schedule(60, tmp_path / "shared") as neighbour,
        Schedule(60, tmp_path / "shared") as schedule,
        Student(SANDBOXES["same-user"], seconds=1, schedule=schedule) as student,
    ):
        assert student.run("import time") == []
        with neighbour.measuring():
            asked = threading.Thread(target=lambda: answers.append(student.run("40 + 2")))
            asked.start()
            time.sleep(1.5)
            assert answers == []
        asked.join(60)
    assert answers[0][0]["data"]["text/plain"] == "42"


def test_when_the_time_of_a_submission_is_over_nothing_more_of_it_is_run() -> None:
    with Student(SANDBOXES["same-user"], seconds=60, schedule=Schedule(3)) as student:
        (late,) = student.run("while True: pass")
        assert "did not answer in time" in late["evalue"]
        (over,) = student.run("1 + 1")
        assert "The time for the whole submission was over" in over["evalue"]
        with pytest.raises(GradingError, match="was over"):
            student.names(["np"])


def test_submissions_that_are_graded_at_once_share_the_memory_and_count_each_others_threads() -> None:
    one, four = Limits.of_this_machine(), Limits.of_this_machine(4)
    assert four.memory == one.memory // 4
    assert four.others >= 3 * four.processes
    assert most_at_once() >= 1
