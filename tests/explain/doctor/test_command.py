"""`jupyter mlgpu doctor`: 0 for nothing found, 1 for findings, 2 where the doctor failed."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

import jupyter_mlgpu.explain.doctor
from jupyter_mlgpu.explain.doctor import consult, reading
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.jupyter import cli
from jupyter_mlgpu.record.sentence import say

SCHEMA = json.loads((Path(jupyter_mlgpu.explain.doctor.__file__).parent / "doctor.schema.json").read_text())


@pytest.fixture
def save(machine: Callable[..., Facts], tmp_path: Path) -> Callable[..., str]:
    """Writes a machine's facts into a file; gives its path."""

    def write(name: str, changes: dict[str, object] | None = None) -> str:
        reading.save(tmp_path / "facts.json", machine(name, changes))
        return str(tmp_path / "facts.json")

    return write


@pytest.fixture
def broken(save: Callable[..., str]) -> str:
    """A Mac whose plug-in cannot load."""
    return save("mac", {"packages/tensorflow/version": "2.20.0"})


@pytest.fixture(autouse=True)
def in_english(monkeypatch):
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """What was written to stderr, which must be one line."""
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize("name", ["mac", "cuda", "cpu"])
def test_a_healthy_machine_from_a_file_is_0(name, save, capsys):
    assert cli.main(["doctor", "--facts", save(name)]) == 0
    assert capsys.readouterr().out.startswith("Nothing is wrong here")


def test_a_broken_machine_from_a_file_is_1_and_says_what_to_do(broken, capsys):
    assert cli.main(["doctor", "--facts", broken]) == 1
    shown = capsys.readouterr().out
    assert "1. tensorflow-metal cannot load" in shown
    assert "pip install tensorflow==2.19.1 tensorflow-metal==1.2.0" in shown


def test_json_has_the_findings_first(broken, capsys):
    assert cli.main(["doctor", "--facts", broken, "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    assert (data["checks"][0]["id"], data["checks"][0]["status"]) == ("metal-plugin-version", "finding")


def test_the_fix_plan_is_only_what_a_shell_reads(broken, capsys):
    assert cli.main(["doctor", "--facts", broken, "--fix-plan"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == [
        "pip install tensorflow==2.19.1 tensorflow-metal==1.2.0"
    ]


def test_chinese_is_spoken_where_it_is_asked_for(broken, capsys, monkeypatch):
    cli.main(["doctor", "--facts", broken, "--language", "zh"])
    asked = capsys.readouterr().out
    assert asked.startswith("检查了")
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    cli.main(["doctor", "--facts", broken])
    assert capsys.readouterr().out == asked
    cli.main(["doctor", "--facts", broken, "--json"])
    assert "cannot load" in capsys.readouterr().out


def test_facts_are_kept_as_they_were_read(broken, tmp_path, capsys):
    copy = tmp_path / "copy.json"
    assert cli.main(["doctor", "--facts", broken, "--save-facts", str(copy)]) == 1
    assert "read them before you send them" in capsys.readouterr().err
    assert reading.load(copy) == reading.load(broken)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--facts", "none.json"], "none.json cannot be read"),
        (["--facts", "facts.json", "--deep"], "choose one"),
        (["--json", "--fix-plan"], "--json and --fix-plan cannot be combined"),
        (["--language", "fr"], "Unknown word 'fr' after --language. Choose en, zh."),
        (["--repair"], "Unknown word '--repair' after jupyter mlgpu doctor."),
    ],
)
def test_what_cannot_be_done_is_2_and_one_sentence(words, sentence, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["doctor", *words]) == 2
    assert sentence in said(capsys)


def test_unreadable_facts_are_2_and_one_sentence(tmp_path, capsys):
    (tmp_path / "facts.json").write_text("garbage")
    assert cli.main(["doctor", "--facts", str(tmp_path / "facts.json")]) == 2
    assert "is no facts file that can be read: it holds no JSON" in said(capsys)


def test_facts_that_cannot_be_written_are_2(broken, tmp_path, capsys):
    (tmp_path / "a file").write_text("")
    assert cli.main(["doctor", "--facts", broken, "--save-facts", str(tmp_path / "a file" / "x")]) == 2
    assert "cannot be written" in said(capsys)


def test_a_doctor_that_fails_is_2_and_not_1(capsys, monkeypatch):
    monkeypatch.setattr(consult, "gather", lambda **options: 1 / 0)
    assert cli.main(["doctor"]) == 2
    assert "The doctor failed before it could judge anything (ZeroDivisionError" in said(capsys)


def test_deep_asks_with_progress_on_stderr(capsys, monkeypatch, machine):
    def gather(*, deep, tell, inside, start_kernels):
        assert deep
        assert start_kernels
        tell(say("Asking torch"))
        return machine("cpu")

    monkeypatch.setattr(consult, "gather", gather)
    assert cli.main(["doctor", "--deep", "--json"]) == 0
    shown = capsys.readouterr()
    assert "Asking torch" in shown.err
    assert json.loads(shown.out)["schema"] == 2


def test_a_reader_that_stops_early_is_no_error(broken, tmp_path):
    code = "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main(sys.argv[1:]))"
    words = [sys.executable, "-c", code, "doctor", "--facts", broken]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 1


def test_help_shows_examples_and_what_the_exit_status_means(capsys):
    with pytest.raises(SystemExit):
        cli.main(["doctor", "--help"])
    shown = capsys.readouterr().out
    assert "jupyter mlgpu doctor --facts facts.json" in shown
    assert "exit status: 0 no problem was found, 1 a problem was found, 2 the doctor failed" in shown


def test_a_real_run_here_takes_a_few_seconds_and_no_check_crashes(tmp_path):
    code = "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main(['doctor', '--json']))"
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    seconds = time.monotonic() - begun
    print(f"jupyter mlgpu doctor: {seconds:.2f} s, exit status {done.returncode}")
    assert done.returncode in (0, 1), done.stderr
    data = json.loads(done.stdout)
    jsonschema.validate(data, SCHEMA)
    statuses = {one["status"] for one in data["checks"]}
    assert "crashed" not in statuses, data
    assert (done.returncode == 1) == ("finding" in statuses)
    assert done.stderr == ""
    # 5 s are promised; tests may share a machine with much else, but it must not hang.
    assert seconds < 60
