"""What a submission may try while it is graded: nothing leaks, nobody else is touched, marks are earned."""

from __future__ import annotations

import copy
import csv
import json
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from tests.teach.classes.course import WITHOUT_A_PLAN, Course, cell, needs_a_sandbox, solved

pytestmark = [pytest.mark.needs("nbgrader"), needs_a_sandbox, pytest.mark.timeout(900)]

LAB = "lab_1_tensor_graph"

#: Reads and writes what it can, and says so; the words it says are in no cell's text.
SNOOP = """
import glob, os, pathlib, socket, sqlite3

def _try(what, deed):
    try:
        deed()
    except BaseException:
        return
    print("LE" + "AKED " + what)

_course, _home = pathlib.Path({course!r}), pathlib.Path({home!r})
_lab = {lab!r}
_try("the solution and hidden tests", lambda: (_course / "source" / _lab / f"{{_lab}}.ipynb").read_text())
_try("another submission", lambda: (_course / "submitted" / "zoe" / _lab / f"{{_lab}}.ipynb").read_text())
_try("the gradebook", lambda: (_course / "gradebook.db").read_bytes())
_try("a secret of the environment", lambda: os.environ["GRADING_SECRET"])
_try("a key", lambda: (_home / ".ssh" / "id_test").read_text())
_try("a port", lambda: socket.create_connection(("127.0.0.1", {port}), 2).send(b"stolen"))
_try("a written file", lambda: (_course / "planted").write_text("planted"))

def _rewrite():
    with sqlite3.connect(f"file:{{_course / 'gradebook.db'}}?mode=rw", uri=True) as book:
        book.execute("UPDATE grade SET manual_score = 3")

_try("the right to write grades", _rewrite)
for _one in glob.glob("/proc/[0-9]*/environ"):
    _try("another process", lambda: b"GRADING_SECRET" in pathlib.Path(_one).read_bytes() or 1 / 0)
"""

#: Is equal to everything, and has everything that judges been patched.
CHEAT = """
import builtins, unittest

class Anything(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __iter__(self): return iter(())
    def __len__(self): return 1
    def __getattr__(self, name): return lambda *a, **k: Anything()
    def __call__(self, *a, **k): return Anything()
    def __getitem__(self, key): return Anything()
    def __sub__(self, other): return Anything()
    __mul__ = __rmul__ = __add__ = __sub__

def needed(*a, **k): return Anything()
run_graph = without_a_plan = needed
inputs_after = Anything()
import jupyter_mlgpu.lessons, jupyter_mlgpu.teach.lessons.labs
jupyter_mlgpu.lessons.submitted = jupyter_mlgpu.teach.lessons.labs.submitted = lambda name: Anything()
unittest.TestCase.assertEqual = lambda *a: None
builtins.len = builtins.sorted = lambda *a, **k: Anything()
print = lambda *a, **k: None
"""

#: Each of these ends, or tries to end, more than itself.
BREAKERS = (
    "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)",
    "import os\nos._exit(0)",
    "while True: pass",
    "import os, time\nfor _ in range(2000):\n    if not os.fork(): time.sleep(60), os._exit(0)",
    "import subprocess\nsubprocess.Popen(['sleep', '612.3'], start_new_session=True)",
    "with open('big', 'wb') as file:\n    for _ in range(5000):\n        file.write(bytes(2**20))",
    "for _ in range(1000):\n    print('x' * 10**6)",
    "raise SystemExit",
    "exit()",
)

SCRIPT = "<script>document.title = 'taken over'</script>"


def answered(release: Any, source: str) -> Any:
    """A submission whose first answer is this code, and whose others were never given."""
    notebook = copy.deepcopy(release)
    cell(notebook, "needed").source = source
    return notebook


def forged(measured: Any) -> Any:
    """The notebook with a time in its receipts that was never measured, all of it made by our own package."""
    notebook = copy.deepcopy(measured)
    for output in cell(notebook, "once").outputs:
        if MIME_TYPE in output.get("data", {}):
            record = Record.from_json(output.data[MIME_TYPE])
            readings = tuple(
                replace(one, value=0.0001) if one.quantity == "wall_time" else one for one in record.readings
            )
            output.data = nbformat.from_dict(
                json.loads(json.dumps(bundle(replace(record, readings=readings))))
            )
    return notebook


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[int, list[Any]]]:
    """A port of this machine, and who has called there."""
    calls: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        over = threading.Event()

        def listen() -> None:
            while not over.is_set():
                try:
                    connection, whose = server.accept()
                except TimeoutError:
                    continue
                connection.close()
                calls.append(whose)

        thread = threading.Thread(target=listen)
        thread.start()
        yield server.getsockname()[1], calls
        over.set()
        thread.join()


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, listener: tuple[int, list[Any]]) -> Course:
    """Lab 1 after seven students have handed it in, the last of them honest."""
    home = tmp_path_factory.mktemp("home")
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_test").write_text("a private key")
    course = Course(tmp_path_factory.mktemp("class") / "course", LAB)
    assert course.command("release") == 0
    release, right = course.release(), solved(course.release(), course.source())
    snoop = SNOOP.format(course=str(course.folder), home=str(home), lab=LAB, port=listener[0])
    breaker = copy.deepcopy(right)
    for code in reversed(BREAKERS):
        breaker.cells.insert(1, nbformat.v4.new_code_cell(code))
    breaker.cells.insert(1, nbformat.v4.new_markdown_cell(SCRIPT))
    breaker.cells.insert(1, nbformat.v4.new_code_cell(f"from IPython.display import HTML\nHTML({SCRIPT!r})"))
    slow = copy.deepcopy(right)
    cell(slow, "run-graph").source = WITHOUT_A_PLAN
    dodger = copy.deepcopy(release)
    dodger.cells = [one for one in dodger.cells if not one.metadata.get("nbgrader", {}).get("grade")]
    course.hand_in("snoop", answered(release, snoop))
    course.hand_in("cheat", answered(release, CHEAT))
    course.hand_in("breaker", breaker)
    course.hand_in("forger", forged(course.run(slow)))
    course.hand_in("dodger", dodger)
    endless = copy.deepcopy(release)
    for one in endless.cells:
        if one.cell_type == "code" and one.metadata.get("nbgrader", {}).get("solution"):
            one.source = "while True: pass"
    course.hand_in("endless", endless)
    course.hand_in("zoe", right)
    assert course.command("collect", "--from", str(course.inbox)) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADING_SECRET", "a secret")
        course.status = course.command("grade", "--timeout", "40")
    return course


def test_every_student_is_graded_also_those_after_one_that_breaks_what_it_can(graded: Course) -> None:
    assert graded.status == 0
    assert graded.points()["zoe"] == 15


def test_the_time_of_a_submission_ends_also_if_none_of_its_cells_does(graded: Course) -> None:
    assert graded.points()["endless"] == 0
    assert "The time for the whole submission was over" in graded.feedback("endless")


def test_nothing_of_the_teachers_reaches_a_submission_or_its_feedback(
    graded: Course, listener: tuple[int, list[Any]]
) -> None:
    written = graded.feedback("snoop") + json.dumps(graded.autograded("snoop"))
    assert "LEAKED" not in written
    assert listener[1] == []
    assert not (graded.folder / "planted").exists()
    assert graded.points()["snoop"] == 0


def test_an_object_equal_to_everything_and_a_patched_judge_earn_nothing(graded: Course) -> None:
    assert graded.points()["cheat"] == 0


def test_receipts_made_by_our_own_package_earn_nothing(graded: Course) -> None:
    """What was done is paid: the first two answers and right numbers, not what a plan would have saved."""
    assert graded.points()["forger"] == 15 - 3 - 4


def test_tests_that_were_deleted_are_not_passed(graded: Course) -> None:
    assert graded.points()["dodger"] == 0
    assert "needed-test" in graded.feedback("dodger")


def test_right_answers_among_cells_that_end_everything_get_their_points(graded: Course) -> None:
    assert graded.points()["breaker"] == 15


def test_nothing_is_left_running(graded: Course) -> None:
    words = [one.info["cmdline"] or [] for one in psutil.process_iter(["cmdline"])]
    assert not [one for one in words if "612.3" in one or "jupyter_mlgpu.teach.grading.sandbox_worker" in one]


def test_feedback_is_short_and_runs_no_script(graded: Course) -> None:
    page = graded.feedback("breaker")
    assert len(page) < 3_000_000
    policy = page.index('http-equiv="Content-Security-Policy"')
    assert policy < page.index("<title>")
    assert "default-src 'none'" in page[policy : policy + 200]
    assert not [one for one in outputs(graded.autograded("breaker")) if "text/html" in one.get("data", {})]


def outputs(notebook: Any) -> list[Any]:
    return [output for one in notebook.cells if one.cell_type == "code" for output in one.outputs]


def test_grades_are_nobodys_but_the_teachers(graded: Course) -> None:
    with (graded.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert float(rows["snoop"]["raw_score"]) == 0
    assert sorted(rows) == ["breaker", "cheat", "dodger", "endless", "forger", "snoop", "zoe"]
    assert os.stat(graded.folder / "gradebook.db").st_uid == os.getuid()


def test_without_a_sandbox_nothing_runs_unless_it_is_asked_for(
    graded: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    before = graded.points()
    assert graded.command("grade") == 2
    said = capfd.readouterr().err
    assert "No sandbox works here, so no student's code was run" in said
    assert "--unsafe-same-user" in said
    assert "can read the solutions" in said
    assert graded.points() == before
