"""Which sandbox is taken, what is shown of a submission, and what `class grade` says: without running one."""

import csv
import importlib.util
import json
import shutil
from pathlib import Path

import pytest

from jupyter_mlgpu.jupyter.cli import main
from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.commands import autograde, through_nbgrader
from jupyter_mlgpu.teach.commands import grade as class_grade
from jupyter_mlgpu.teach.grading import feedback, outputs, probe, sandbox
from jupyter_mlgpu.teach.grading.student import files_of

LAB = "lab_1"


class FakeSandbox:
    """A sandbox that is there or not, and whose program says what it could do."""

    title = "a fake"

    def __init__(self, name, *, missing=None, broken=()):
        self.name = name
        self._missing, self._broken = missing, broken

    def missing(self):
        return self._missing

    def command(self, words, folder, files):
        return ["echo", json.dumps(list(self._broken))]


def test_the_first_sandbox_that_holds_is_taken(monkeypatch):
    known = [
        FakeSandbox("absent", missing="it is not installed"),
        FakeSandbox("leaky", broken=["a file of yours can be read"]),
        FakeSandbox("tight"),
    ]
    monkeypatch.setattr(probe, "SANDBOXES", {one.name: one for one in known})
    assert probe.find([]).name == "tight"
    monkeypatch.setattr(probe, "SANDBOXES", {one.name: one for one in [*known[:2], sandbox.SameUser()]})
    with pytest.raises(GradingError) as refused:
        probe.find([])
    said = str(refused.value)
    assert "absent: it is not installed; leaky: a file of yours can be read" in said
    assert "--unsafe-same-user" in said


def test_a_sandbox_that_does_not_start_does_not_hold(monkeypatch, tmp_path):
    class Failing(FakeSandbox):
        def command(self, words, folder, files):
            return ["sh", "-c", "echo no namespaces here >&2; exit 1"]

    assert probe.find_leaks(Failing("failing"), []) == ["it does not start (no namespaces here)"]


def test_a_students_environment_has_nothing_of_the_teachers(monkeypatch):
    monkeypatch.setenv("TOKEN_OF_THE_TEACHER", "secret")
    for one in sandbox.SANDBOXES.values():
        words = " ".join(one.command(["python"], sandbox.Path("/tmp"), 1))
        assert "TOKEN_OF_THE_TEACHER" not in words


def test_of_a_checkout_the_package_alone_is_there(monkeypatch):
    package = sandbox.Path(sandbox.jupyter_mlgpu.__file__).parent
    assert any(one == package or one in package.parents for one in sandbox.libraries())
    root = package.parent
    if root.name not in ("site-packages", "dist-packages"):
        assert root not in sandbox.libraries()


def test_macos_profile_denies_the_network_and_what_is_not_pythons():
    made = sandbox.profile(sandbox.Path('/private/var/folders/a "quoted" one'))
    assert "(deny network*)" in made
    assert '(deny file-read-data (subpath "/Users")' in made
    assert r'(subpath "/private/var/folders/a \"quoted\" one")' in made


def test_files_beside_a_notebook_are_taken_and_links_are_not(tmp_path):
    mine, lab = tmp_path / "mine", tmp_path / "lab"
    for folder in (mine / "inner", lab):
        folder.mkdir(parents=True)
    (tmp_path / "secret").write_text("secret")
    (mine / "lab.ipynb").write_text("{}")
    (mine / "inner" / "own.py").write_text("own")
    (mine / "data.csv").write_text("mine")
    (mine / "link").symlink_to(tmp_path / "secret")
    (mine / "folder").symlink_to(tmp_path)
    (lab / "data.csv").write_text("the lab's")
    assert files_of(mine, lab) == {"inner/own.py": b"own", "data.csv": b"the lab's"}


def test_files_that_are_too_large_are_refused_in_a_sentence(tmp_path):
    with (tmp_path / "large").open("wb") as file:
        file.truncate(10**9)
    with pytest.raises(GradingError, match="have the lab make its data"):
        files_of(tmp_path)


@pytest.mark.parametrize(
    "told",
    [
        None,
        "text",
        [5],
        [{}],
        [{"output_type": "update"}],
        [{"output_type": "display_data", "data": {"text/html": "<script>1</script>"}}],
        [{"output_type": "display_data", "data": {"image/svg+xml": "<svg onload=1>"}}],
        [{"output_type": "display_data", "data": {"image/png": '"><script>1</script>'}}],
        [{"output_type": "display_data", "data": {"image/png": "AAAA"}}],
        [{"output_type": "display_data", "data": "text/plain"}],
    ],
    ids=str,
)
def test_of_what_a_student_shows_nothing_is_kept_that_a_browser_could_run(told):
    assert outputs.clean(told) == []


def test_a_students_result_is_no_result_and_no_error_output_of_a_test():
    shown = outputs.clean(
        [
            {"output_type": "execute_result", "data": {"text/plain": "15", "text/html": "<b>15</b>"}},
            {"output_type": "stream", "name": "stderr", "text": "half a surrogate: \ud800"},
            {"output_type": "error", "ename": "E", "evalue": 5, "traceback": ["line", 5]},
        ]
    )
    assert [one["output_type"] for one in shown] == ["display_data", "stream", "error"]
    assert shown[0]["data"] == {"text/plain": "15"}
    assert shown[1]["name"] == "stdout"
    json.dumps(shown, ensure_ascii=False).encode()


def test_what_is_shown_is_bounded():
    told = [{"output_type": "stream", "text": "x" * 10**6}] * 500
    assert sum(len(one["text"]) for one in outputs.clean(told)) < 2 * outputs.MOST


PAGE = (
    '<!DOCTYPE html>\n<html>\n<head>\n\n<meta charset="utf-8" />\n<title>lab</title></head>'
    "<body>{}</body></html>"
)


@pytest.mark.parametrize("end", [" />", "/>", ">"])
def test_nbgraders_own_charset_stays_as_it_is(end):
    page = PAGE.replace(" />", end)
    assert f'<meta charset="utf-8"{end}' in feedback.make_inert(page)


def test_feedback_can_do_nothing_in_a_browser():
    page = feedback.make_inert(
        PAGE.format('<script>1</script><META http-equiv="refresh" content="0;url=//x">')
    )
    policy = page.index("Content-Security-Policy")
    assert policy < page.index("<meta charset")
    assert "default-src 'none'" in page
    assert "<META" not in page
    assert feedback.make_inert(page) == page


def test_a_page_that_begins_otherwise_is_not_given_out():
    with pytest.raises(GradingError, match="could not be made safe"):
        feedback.make_inert("<script>1</script>" + PAGE)


class FakeNbgrader:
    """nbgrader's commands, in this process: notes what it was asked, writes grades of 12 of 15."""

    def __init__(self, course, results=None):
        self.course, self.results = course, results or {}
        self.asked = []

    def __call__(self, course, *words, keep_open=()):
        self.asked.append(words)
        if words[0] == "autograde":
            student = next(word.removeprefix("--student=") for word in words if "--student=" in word)
            option = "--RunApart.results_file="
            path = next(word.removeprefix(option) for word in words if word.startswith(option))
            if student in self.results:
                class_grade.write_atomically(Path(path), json.dumps(self.results[student]).encode())
                return self.results[student]["failed"] and "a traceback"
        if words[0] == "export":
            students = sorted(path.name for path in (self.course / "submitted").iterdir())
            rows = "".join(f"{LAB},{student},12,15\n" for student in students)
            (self.course / "grades.csv").write_text("assignment,student_id,score,max_score\n" + rows)
        return None

    def option(self, name):
        return next(word for asked in self.asked for word in asked if word.startswith(f"--RunApart.{name}="))


@pytest.fixture
def course(tmp_path, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name == "nbgrader" or find(name))
    for path in (f"source/{LAB}", f"submitted/ada/{LAB}", f"submitted/eve/{LAB}"):
        (tmp_path / path).mkdir(parents=True)
        (tmp_path / path / "lab_1.ipynb").write_text("{}")
    return tmp_path


def graded(course, monkeypatch, *words, results=None, known=None):
    nbgrader = FakeNbgrader(course, results)
    monkeypatch.setattr(class_grade, "nbgrader", nbgrader)
    monkeypatch.setattr(autograde, "nbgrader", nbgrader)
    monkeypatch.setattr(through_nbgrader, "nbgrader", nbgrader)
    known = [FakeSandbox("tight")] if known is None else known
    monkeypatch.setattr(probe, "SANDBOXES", {one.name: one for one in known})
    return main(["class", "grade", str(course), "--lab", LAB, *words]), nbgrader


def test_points_come_first_then_what_is_open_then_the_sandbox(course, monkeypatch, capsys):
    results = {"eve": {"open": {"gpu-test": ["no GPU here", 3.0]}, "losses": ["It ended."], "failed": None}}
    status, nbgrader = graded(course, monkeypatch, results=results)
    said = capsys.readouterr().out.splitlines()
    assert status == 0
    assert said[:2] == ["ada: 12 of 15 points", "eve: 12 of 15 points, 3 more for you to give"]
    assert said[3:5] == ["  eve, gpu-test (3): no GPU here", "  eve: It ended."]
    assert said[-1] == "Sandbox: a fake."
    assert nbgrader.option("sandbox") == "--RunApart.sandbox=tight"
    assert nbgrader.option("trust_receipts") == "--RunApart.trust_receipts=False"
    with (course / "grades.csv").open(newline="") as file:
        assert {row["student_id"]: row["open_points"] for row in csv.DictReader(file)} == {
            "ada": "0",
            "eve": "3",
        }


def test_where_nothing_was_handed_in_nothing_is_graded_and_no_release_is_made(course, monkeypatch, capsys):
    shutil.rmtree(course / "submitted")
    status, nbgrader = graded(course, monkeypatch)
    assert status == 2
    assert nbgrader.asked == []
    said = capsys.readouterr().err
    assert f"Nothing was submitted for {LAB} yet" in said
    assert "`jupyter mlgpu class release` makes what students get" in said


def test_where_no_sandbox_works_no_program_is_started(course, monkeypatch, capsys):
    status, nbgrader = graded(
        course, monkeypatch, known=[FakeSandbox("absent", missing="it is not installed")]
    )
    assert status == 2
    assert nbgrader.asked == []
    assert (
        "No sandbox works here, so no student's code was run (absent: it is not installed)"
        in capsys.readouterr().err
    )


def test_without_a_sandbox_students_run_as_the_teacher_only_when_asked_and_it_is_said(
    course, monkeypatch, capsys
):
    status, nbgrader = graded(course, monkeypatch, "--unsafe-same-user", "--trust-receipts", known=[])
    said = capsys.readouterr().out
    assert status == 0
    assert nbgrader.option("sandbox") == "--RunApart.sandbox=same-user"
    assert "Sandbox: none: the students' code ran as you" in said
    assert "nothing was measured again" in said


def test_a_link_in_a_submission_is_not_followed_and_costs_its_own_grade_alone(course, monkeypatch, capsys):
    notebook = course / "submitted" / "eve" / LAB / "lab_1.ipynb"
    notebook.unlink()
    notebook.symlink_to(course / "source" / LAB / "lab_1.ipynb")
    status, nbgrader = graded(course, monkeypatch)
    came = capsys.readouterr()
    assert status == 1
    assert "eve was not graded" in came.err
    assert "is a link; have the file itself handed in" in came.err
    assert came.out.startswith("ada: 12 of 15 points")
    assert not [words for words in nbgrader.asked if "--student=eve" in words]


def test_a_lab_that_cannot_be_graded_is_said_in_its_own_sentence(course, monkeypatch, capsys):
    results = {"eve": {"open": {}, "losses": [], "failed": "The lab's own cell 'a' fails."}}
    assert graded(course, monkeypatch, results=results)[0] == 1
    assert "eve was not graded: The lab's own cell 'a' fails." in capsys.readouterr().err
