"""A mistake in any file of binder/ is found by reading it, and said in a sentence that names the file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from binder_files import NOTEBOOK, READ, RECORDS, WORKSPACE, problems


def edit(path: Path, old: str, new: str) -> None:
    """Put `new` in the place of the first `old`."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def change(path: Path, how: Callable[[Any], None]) -> None:
    """Let `how` change what a JSON file holds."""
    data = json.loads(path.read_text(encoding="utf-8"))
    how(data)
    path.write_text(json.dumps(data), encoding="utf-8")


def said_of(checkout: Path) -> str:
    """The one sentence on what is wrong."""
    (sentence,) = problems(checkout)
    return sentence


def test_nothing_is_wrong_with_the_files_as_they_are(checkout: Path) -> None:
    assert problems(checkout) == []


@pytest.mark.parametrize("name", [*READ, WORKSPACE, RECORDS, NOTEBOOK])
def test_a_file_that_is_missing_is_named(checkout: Path, name: str) -> None:
    (checkout / "binder" / name).unlink()
    assert said_of(checkout) == f"binder/{name} is missing."


def test_a_misspelt_name_is_not_what_repo2docker_reads(checkout: Path) -> None:
    (checkout / "binder" / "postBuild").rename(checkout / "binder" / "postbuild")
    assert said_of(checkout) == "binder/postBuild is missing."


@pytest.mark.parametrize("name", ["environment.yml", "Pipfile", "apt.txt", "Start"])
def test_a_file_that_would_hide_ours_is_refused(checkout: Path, name: str) -> None:
    (checkout / "binder" / name).write_text("name: other\n", encoding="utf-8")
    assert f"binder/{name}" in said_of(checkout)


def test_a_second_binder_folder_is_refused(checkout: Path) -> None:
    (checkout / ".binder").mkdir()
    assert "remove .binder/" in said_of(checkout)


@pytest.mark.parametrize("runtime", ["python-3.10", "python-3", "3.11", "Python-3.11", ""])
def test_a_runtime_that_we_do_not_run_on_is_refused(checkout: Path, runtime: str) -> None:
    (checkout / "binder" / "runtime.txt").write_text(runtime, encoding="utf-8")
    sentence = said_of(checkout)
    assert sentence.startswith(f"binder/runtime.txt says {runtime!r}")
    assert "write python-3.11" in sentence


@pytest.mark.parametrize("python", ["3.13", "3.14"])
def test_a_runtime_that_tensorflow_was_not_built_for_is_refused(checkout: Path, python: str) -> None:
    (checkout / "binder" / "runtime.txt").write_text(f"python-{python}\n", encoding="utf-8")
    assert said_of(checkout) == (
        f"binder/runtime.txt says 'python-{python}', for which our TensorFlow was not built, and the lessons "
        "need it; write python-3.11."
    )


def test_a_runtime_that_the_lessons_run_on_is_taken(checkout: Path) -> None:
    (checkout / "binder" / "runtime.txt").write_text("python-3.12\n", encoding="utf-8")
    assert problems(checkout) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("tensorflow =+ 2.19.1", "pip cannot read this line"),
        ("--extra-index-url somewhere", "pip cannot read this line"),
        ("-e .", "pip cannot read this line"),
        ("tqdm", "without an exact version"),
        ("tqdm>=4", "without an exact version"),
        ("tqdm==4.*", "without an exact version"),
        ("tqdm==4.67.1", "has no hash"),
        ("tqdm==4.67.1 --hash=sha256:0123", "has no hash"),
    ],
)
def test_a_bad_line_of_the_requirements_is_refused(checkout: Path, line: str, why: str) -> None:
    path = checkout / "binder" / "requirements.txt"
    path.write_text(path.read_text(encoding="utf-8") + line + "\n", encoding="utf-8")
    sentence = said_of(checkout)
    assert why in sentence
    assert line.partition(" --hash")[0] in sentence


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_a_script_that_is_not_executable_is_refused(checkout: Path, name: str) -> None:
    (checkout / "binder" / name).chmod(0o644)
    assert said_of(checkout) == f"binder/{name} is not executable: run `chmod +x binder/{name}`."


@pytest.mark.parametrize("name", ["postBuild", "start"])
@pytest.mark.parametrize(("old", "new"), [("#!/bin/sh\n", "set -eu\n"), ("#!/bin/sh\n", "#!/bin/sh\r\n")])
def test_a_script_that_linux_cannot_run_is_refused(checkout: Path, name: str, old: str, new: str) -> None:
    path = checkout / "binder" / name
    path.write_bytes(path.read_bytes().replace(old.encode(), new.encode(), 1))
    assert "its first line is to be #!/bin/sh" in said_of(checkout)


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_a_script_that_the_shell_cannot_read_is_refused(checkout: Path, name: str) -> None:
    with (checkout / "binder" / name).open("a") as script:
        script.write("if true; then\n")
    assert said_of(checkout).startswith(f"The shell cannot read binder/{name}: ")


def test_a_workspace_that_is_no_json_is_refused(checkout: Path) -> None:
    edit(checkout / "binder" / WORKSPACE, "{", "")
    assert "is no workspace of JupyterLab" in said_of(checkout)


def test_a_workspace_that_opens_what_is_not_there_is_refused(checkout: Path) -> None:
    (checkout / "notebooks" / "00_start_here.ipynb").rename(checkout / "notebooks" / "00_begin.ipynb")
    assert said_of(checkout).endswith("opens notebooks/00_start_here.ipynb, which is not there.")


@pytest.mark.parametrize(
    ("mistake", "why"),
    [
        (lambda data: data["metadata"].update(id="first"), "has the name 'first'"),
        (lambda data: data["data"]["layout-restorer:data"]["right"].update(current="debugger"), "debugger"),
        (
            lambda data: data["data"]["layout-restorer:data"]["main"].update(
                current="notebook:binder/a_real_gpu.ipynb"
            ),
            "it is to show notebooks/00_start_here.ipynb",
        ),
    ],
    ids=["name", "sidebar", "lesson"],
)
def test_a_workspace_without_the_first_lesson_and_the_sidebar_is_refused(
    checkout: Path, mistake: Callable[[Any], None], why: str
) -> None:
    change(checkout / "binder" / WORKSPACE, mistake)
    assert why in said_of(checkout)


def test_a_record_of_another_device_is_refused(checkout: Path) -> None:
    path = checkout / "binder" / RECORDS
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[0] = lines[0].replace("(NVIDIA H200)", "(NVIDIA T4)")
    path.write_text("".join(lines), encoding="utf-8")
    assert "these say nothing of one: 'TYPES = " in said_of(checkout)


def test_a_broken_line_of_the_records_is_refused(checkout: Path) -> None:
    edit(checkout / "binder" / RECORDS, "{", "")
    assert said_of(checkout) == f"Line 1 of {RECORDS} is not JSON and was left out."


def test_records_that_hold_nothing_are_refused(checkout: Path) -> None:
    (checkout / "binder" / RECORDS).write_text("", encoding="utf-8")
    assert said_of(checkout).endswith("has none.")


def test_a_notebook_that_replays_nothing_is_refused(checkout: Path) -> None:
    edit(checkout / "binder" / NOTEBOOK, "%mlc_trace replay", "%mlc_trace load")
    assert "does not replay h200.jsonl" in said_of(checkout)


def test_a_notebook_that_is_none_is_refused(checkout: Path) -> None:
    shutil.copy(checkout / "binder" / WORKSPACE, checkout / "binder" / NOTEBOOK)
    assert f"binder/{NOTEBOOK} is no notebook" in said_of(checkout)
