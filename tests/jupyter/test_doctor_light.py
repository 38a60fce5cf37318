"""The doctor in the sidebar: one consultation at a time, in a process of its own, with bounded answers."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from jupyter_mlgpu.explain.doctor import light
from jupyter_mlgpu.explain.doctor.diagnose import CheckResult, Diagnosis
from jupyter_mlgpu.jupyter.notebook.browser import doctor_light
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import DoctorLight
from jupyter_mlgpu.record.sentence import say


class Browser:
    """What the browsers are told; `last()` waits for the end of a consultation."""

    def __init__(self) -> None:
        self.heard: list[dict[str, Any]] = []
        self._over = threading.Event()

    def push(self, event: dict[str, Any]) -> None:
        self.heard.append(event)
        if not event["doctor"]["asking"]:
            self._over.set()

    def last(self) -> dict[str, Any]:
        assert self._over.wait(60)
        self._over.clear()
        state: dict[str, Any] = self.heard[-1]["doctor"]
        return state


class Programs:
    """Starts a given line of Python instead of the doctor."""

    def __init__(self, *lines: str) -> None:
        self._lines = iter(lines)
        self.commands: list[list[str]] = []

    def start(self, command: Sequence[str]) -> subprocess.Popen[str]:
        self.commands.append(list(command))
        return doctor_light.start([sys.executable, "-c", next(self._lines)])


FOUND = {"head": "Nothing is wrong here, as far as 40 checks can tell.", "findings": [], "more": 0}


def asked(*lines: str, captures: str = "true") -> tuple[DoctorLight, Browser, Programs]:
    browser, programs = Browser(), Programs(*lines)
    return DoctorLight(lambda: captures, browser.push, programs.start), browser, programs


def test_nothing_runs_before_somebody_asks():
    doctor, browser, programs = asked()
    assert doctor.state() == {"asking": False, "found": None, "problem": None}
    assert browser.heard == []
    assert programs.commands == []


def test_what_it_found_is_told_to_all_browsers():
    doctor, browser, programs = asked(f"print({json.dumps(json.dumps(FOUND))})", captures="false")
    assert doctor.ask({})["doctor"]["asking"] is True
    assert browser.last() == {"asking": False, "found": FOUND, "problem": None}
    assert browser.heard[0] == {
        "type": "doctor",
        "doctor": {"asking": True, "found": None, "problem": None},
    }
    assert programs.commands[0][:4] == [sys.executable, "-P", "-m", "jupyter_mlgpu.explain.doctor.light"]
    assert programs.commands[0][-1] == "false"


def test_two_who_ask_at_once_get_one_consultation():
    doctor, browser, programs = asked("import time; time.sleep(60)")
    doctor.ask({})
    doctor.ask({})
    while not programs.commands:
        threading.Event().wait(0.01)
    doctor.stop()
    assert len(programs.commands) == 1
    assert [one["doctor"]["asking"] for one in browser.heard] == [True]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("raise SystemExit('no such module')", "The doctor gave no answer (no such module)."),
        ("raise SystemExit(7)", "(exit status 7)"),
        ("print('not JSON')", "The doctor gave no answer (Expecting value"),
    ],
)
def test_no_answer_is_said_in_one_sentence_and_can_be_asked_again(line, said):
    doctor, browser, _ = asked(line, f"print({json.dumps(json.dumps(FOUND))})")
    doctor.ask({})
    state = browser.last()
    assert said in state["problem"]["text"]
    assert state["found"] is None
    doctor.ask({})
    assert browser.last()["found"] == FOUND


def test_an_answer_that_does_not_come_is_given_up(monkeypatch):
    monkeypatch.setattr(doctor_light, "PATIENCE_S", 0.2)
    doctor, browser, _ = asked("import time; time.sleep(600)")
    doctor.ask({})
    assert "(timed out after" in browser.last()["problem"]["text"]


def result(number: int, status: Any = "finding", text: str = "It is broken.") -> CheckResult:
    return CheckResult(
        f"check-{number}", status, say("{text}", text=text), say(text), "pip install it", "sure"
    )


def test_the_summary_has_the_causes_first_and_is_bounded():
    results = tuple(result(number, text="x" * 5_000) for number in range(30))
    said = light.summary(Diagnosis(results))
    assert said["head"]["text"].startswith("30 of ")
    assert [one["id"] for one in said["findings"][:2]] == ["check-0", "check-1"]
    assert said["more"] == 10
    assert len(json.dumps(said)) < 100_000
    assert {one["title"] for one in said["findings"]} == {"x" * 299 + "…"}


def test_a_check_that_failed_itself_is_among_the_findings():
    said = light.summary(Diagnosis((result(1, "crashed"), result(2, "ok"), result(3, "skipped"))))
    assert [one["id"] for one in said["findings"]] == ["check-1"]
    assert said["findings"][0]["title"]["fields"] == {"text": "It is broken."}
