"""What only shows when it is done: repo2docker's own reading, resolving, building, starting, running."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import nbformat
import pytest
from binder_files import NOTEBOOK, RECORDS
from binder_image import ROOT, BinderError, Image
from check_binder import (
    check_lesson,
    check_post_build,
    check_replay,
    check_repo2docker,
    check_resolution,
    check_start,
    is_labelled,
    is_offline,
)
from nbformat.v4 import new_code_cell, new_notebook

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

REQUIREMENTS = ROOT / "binder" / "requirements.txt"


def plant(path: Path, text: str) -> None:
    """Write a script in the place of one of binder/."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")


@pytest.mark.needs("repo2docker")
@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("binder/environment.yml", "dependencies: [python=3.11]\n", "requirements.txt would not be used"),
        ("binder/environment.yml", "dependencies: {\n", "does not take the repository"),
        ("binder/Dockerfile", "FROM scratch\n", "would not be used"),
        (".binder/runtime.txt", "python-3.11\n", "does not take the repository"),
    ],
    ids=["another list", "broken list", "another recipe", "two folders"],
)
def test_repo2docker_takes_nothing_in_place_of_our_files(
    checkout: Path, name: str, text: str, why: str
) -> None:
    (checkout / name).parent.mkdir(exist_ok=True)
    (checkout / name).write_text(text, encoding="utf-8")
    with pytest.raises(BinderError, match=why):
        check_repo2docker(checkout)


@pytest.mark.needs("repo2docker")
@pytest.mark.parametrize("name", ["requirements.txt", "postBuild", "start"])
def test_a_file_that_repo2docker_does_not_see_is_missed(checkout: Path, name: str) -> None:
    (checkout / "binder" / name).rename(checkout / "binder" / f"{name}.old")
    with pytest.raises(BinderError, match=f"{name} would not be used"):
        check_repo2docker(checkout)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("\ntqdm==", "\ntqdm==999.", "tqdm==999"),
        ("\npsutil==", "\n# psutil==", "psutil"),
    ],
    ids=["no such version", "left out"],
)
@pytest.mark.parametrize("system", ["Linux", "macOS"])
def test_a_list_that_cannot_be_installed_is_refused(
    system: str, old: str, new: str, why: str, tmp_path: Path
) -> None:
    text = REQUIREMENTS.read_text(encoding="utf-8").replace("\\\n", " ")
    assert old in text
    path = tmp_path / "requirements.txt"
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(BinderError) as refused:
        check_resolution(path, system, "3.11")
    if is_offline(refused.value):
        pytest.skip("No package index answers, so no list can be resolved here.")
    assert why in str(refused.value)


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo no disk is left >&2; exit 3", "exit status 3: no disk is left"),
        ("exit 0", "JupyterLab has no labextension jupyter-mlgpu"),
    ],
    ids=["fails", "does nothing"],
)
def test_a_post_build_that_installs_nothing_is_refused(image: Image, script: str, why: str) -> None:
    plant(image.repository / "binder" / "postBuild", script)
    with pytest.raises(BinderError, match=why):
        check_post_build(image)


@pytest.mark.parametrize(
    "script",
    ['"$@"', "exec $@", "exec true", 'echo "welcome"; exec "$@"', "exit 7"],
    ids=["no exec", "no quotes", "another command", "talks", "ends"],
)
def test_a_start_that_does_not_hand_over_is_refused(image: Image, script: str) -> None:
    plant(image.repository / "binder" / "start", script)
    with pytest.raises(BinderError, match=r"its last line is to be `exec"):
        check_start(image)


def test_a_start_that_finds_no_workspace_says_so_and_still_hands_over(image: Image) -> None:
    (image.repository / "binder" / "workspace.json").write_text("[]", encoding="utf-8")
    with pytest.raises(BinderError, match="so it opens without the first lesson"):
        check_start(image)
    assert image.run("./binder/start", "echo", "served").stdout == "served\n"


def test_a_lesson_that_fails_in_the_environment_is_refused(image: Image) -> None:
    lesson = new_notebook(cells=[new_code_cell("import a_module_that_the_list_forgot")])
    nbformat.write(lesson, image.repository / "binder" / "lesson.ipynb")
    with pytest.raises(BinderError, match="a_module_that_the_list_forgot"):
        check_lesson(image, "binder/lesson.ipynb")


def test_every_receipt_of_the_saved_notebook_is_labelled_and_a_forged_one_is_not() -> None:
    notebook = nbformat.read(ROOT / "binder" / NOTEBOOK, as_version=4)
    (cell,) = (cell for cell in notebook.cells if "%mlc_trace replay" in cell.source)
    receipts = [output.data for output in cell.outputs if MIME_TYPE in output.get("data", {})]
    assert len(receipts) == len((ROOT / "binder" / RECORDS).read_text(encoding="utf-8").splitlines())
    assert all(map(is_labelled, receipts))

    live = copy.deepcopy(receipts[0])
    live[MIME_TYPE]["origin"] = "live"
    own = copy.deepcopy(receipts[0])
    own[MIME_TYPE]["readings"][0]["detail"] = "time.perf_counter_ns"
    bare = copy.deepcopy(receipts[0])
    bare["text/plain"] = "2.54 s · ran on gpu:0"
    assert not any(map(is_labelled, (live, own, bare)))


def test_a_notebook_that_shows_fewer_records_than_there_are_is_refused(image: Image) -> None:
    path = image.repository / "binder" / NOTEBOOK
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = (
            "print('%mlc_trace replay h200.jsonl')" if "replay h200" in "".join(cell["source"]) else ""
        )
    path.write_text(json.dumps(notebook), encoding="utf-8")
    with pytest.raises(BinderError, match="shows 0 of the 9 records"):
        check_replay(image)
