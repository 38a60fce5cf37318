"""Four invented students, as the teacher's view shows them."""

from __future__ import annotations

from jupyter_mlgpu.teach.packaged import LESSONS
from jupyter_mlgpu.teach.sharing.report import SharedCheck, SharedReading, SharedRecord
from jupyter_mlgpu.teach.teacher import pages
from jupyter_mlgpu.teach.teacher.frame import PageFrame
from jupyter_mlgpu.teach.teacher.store import Receipt, StudentSummary

#: 2026-11-30, 10:00 UTC.
NOW = 1_796_032_800.0
RUN = "9f2c" * 8

#: Name, lesson, exercises passed in it, cell, seconds, mebibytes, minutes ago.
STUDENTS = (
    ("ada", "07_a_cnn", 3, 31, 4.21, 1_410, 0.5),
    ("bob", "07_a_cnn", 1, 18, 6.8, 1_380, 2.0),
    ("chen", "08_memory", 2, 24, 1.35, 2_210, 1.0),
    ("dina", "06_gradients", 4, 40, 0.62, 905, 11.0),
)


def class_page() -> str:
    """The teacher's page of the class."""
    frame = PageFrame("en", "/services/mlgpu-teacher/", "tess", teaches=True, keep_days=180, xsrf="")
    return pages.class_page(frame, [student(*one) for one in STUDENTS], NOW)


def student(
    name: str, lesson: str, passed: int, number: int, seconds: float, mebibytes: int, minutes: float
) -> StudentSummary:
    arrived = NOW - 60 * minutes
    readings = (
        SharedReading("wall_time", seconds, "s", "cell", "time.perf_counter_ns", 1),
        SharedReading("peak_memory_process", mebibytes * 1024**2, "bytes", "process", "VmHWM", 1),
    )
    record = SharedRecord(
        f"{RUN}-{number}",
        RUN,
        number,
        number,
        arrived - seconds,
        "ok",
        "tensorflow",
        "2.19.1",
        "cpu",
        readings,
    )
    checks = {one: SharedCheck(one, True, 2) for one in LESSONS[lesson][:passed]}
    return StudentSummary(name, arrived, 0.0, lesson, checks, (Receipt(arrived, lesson, record),))
