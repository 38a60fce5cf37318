"""No lazy and no hostile answer to a lab gets more points than it earned, and the solution gets all."""

from __future__ import annotations

import csv
import io
import sys

import pytest

from jupyter_mlgpu.teach import packaged
from tests.teach import lab_audit
from tests.teach.classes.course import needs_a_sandbox
from tests.teach.lab_audit import ANSWERS, SOLUTION

pytestmark = [
    pytest.mark.needs("numpy"),
    needs_a_sandbox,
    pytest.mark.skipif(sys.platform == "win32", reason="labs are graded on Linux and macOS"),
]
LABS = [*packaged.LABS]


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("lab", LABS)
def test_an_answer_gets_at_most_what_it_earned(lab: str) -> None:
    if lab == "lab_2_devices":
        pytest.importorskip("tensorflow")
    more = {}
    for name in ANSWERS:
        given = lab_audit.points(lab, name)
        if sum(given.values()) > lab_audit.earned(lab, name):
            more[name] = given
    assert more == {}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("lab", LABS)
def test_the_solution_gets_what_it_earned(lab: str) -> None:
    if lab == "lab_2_devices":
        pytest.importorskip("tensorflow")
    assert sum(lab_audit.points(lab, SOLUTION).values()) == lab_audit.earned(lab, SOLUTION)


def test_the_table_in_the_documentation_has_every_lab_and_answer_and_nobody_got_more_than_earned() -> None:
    rows = list(csv.DictReader(io.StringIO(lab_audit.TABLE.read_text("utf-8"))))
    assert {(row["lab"], row["answer"]) for row in rows} == {
        (lab, name) for lab in LABS for name in (SOLUTION, *ANSWERS)
    }
    assert [row for row in rows if float(row["given"]) > float(row["earned"])] == []
    assert [row for row in rows if row["answer"] == SOLUTION and row["given"] != row["earned"]] == []


def test_an_answer_that_an_earlier_grading_recorded_is_right_for_the_visible_tests() -> None:
    lab = "lab_6_throughput"
    given, _ = lab_audit.teachers(lab)
    known = lab_audit.replies(given, lab_audit.LABS / lab, hidden=False)
    assert known["step_seconds"] == [("[0.25, 0.5, False]", 0.75)]
    assert len(lab_audit.replies(given, lab_audit.LABS / lab, hidden=True)["step_seconds"]) > 10
