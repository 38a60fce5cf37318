"""The files of binder/ can be read, and show what a reader of the link is to meet."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from constraints import ROOT
from jupyter_mlgpu.record import files
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import from_json
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

BINDER = ROOT / "binder"
RECORDS = BINDER / "h200.jsonl"
NOTEBOOK = BINDER / "a_real_gpu.ipynb"
PYTHON = (BINDER / "runtime.txt").read_text(encoding="utf-8").strip().removeprefix("python-")


def test_the_python_of_binder_runs_the_package_and_its_tensorflow() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert PYTHON in SpecifierSet(project["requires-python"])
    versions = {"python_version": PYTHON, "python_full_version": f"{PYTHON}.0"}
    asked = map(Requirement, project["optional-dependencies"]["tensorflow"])
    assert any(
        one.name == "tensorflow" and (one.marker is None or one.marker.evaluate(versions)) for one in asked
    )


@pytest.mark.needs("repo2docker")
def test_repo2docker_takes_our_files_and_nothing_in_their_place() -> None:
    tool = Path(sys.executable).parent / "jupyter-repo2docker"
    done = subprocess.run(
        [str(tool), "--no-build", "--debug", str(ROOT)], capture_output=True, text=True, cwd=ROOT
    )
    written = done.stdout + done.stderr
    assert done.returncode == 0, written
    assert f"conda environment for python={PYTHON}\n" in written
    for text in ('-r "binder/requirements.txt"', "./binder/postBuild", "/binder/start"):
        assert text in written


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_a_script_is_one_that_linux_runs(name: str) -> None:
    path = BINDER / name
    assert os.access(path, os.X_OK)
    assert re.fullmatch(rb"#!/(bin|usr/bin)/[a-z /-]+", path.read_bytes().partition(b"\n")[0])
    assert subprocess.run(["sh", "-n", str(path)]).returncode == 0


@pytest.mark.parametrize(
    ("name", "identity", "lesson", "from_file"),
    [
        ("workspace.json", "default", "notebooks/00_start_here.ipynb", "notebooks/00_start_here.ipynb"),
        # postBuild makes the Chinese lesson from its catalogue.
        ("workspace-zh.json", "zh", "notebooks/zh/00_start_here.ipynb", "notebooks/zh/00_start_here.po"),
    ],
)
def test_a_workspace_opens_the_first_lesson_with_the_sidebar_beside_it(
    name: str, identity: str, lesson: str, from_file: str
) -> None:
    workspace = json.loads((BINDER / name).read_text(encoding="utf-8"))
    assert workspace["metadata"]["id"] == identity
    layout = workspace["data"]["layout-restorer:data"]
    tabs = layout["main"]["dock"]["widgets"]
    opened = {tab: workspace["data"][tab]["data"]["path"] for tab in tabs}
    assert opened[layout["main"]["current"]] == lesson
    assert layout["right"]["current"] == "jupyter-mlgpu-sidebar"
    sources = [from_file if path == lesson else path for path in opened.values()]
    assert [path for path in sources if not (ROOT / path).is_file()] == []


def test_the_records_are_of_an_nvidia_h200() -> None:
    records, unread = files.load_records(RECORDS)
    assert records
    assert list(unread) == []
    for record in records:
        assert any(one.kind == "cuda" for one in record.device.ran_on or ())
        assert any("(NVIDIA H200)" in reading.instrument for reading in record.readings)


def as_it_is_written_today(record: dict[str, Any]) -> str:
    """The text of a record, whichever schema it was saved with."""
    return json.dumps(Record.from_json(record).to_json(), sort_keys=True)


def test_every_receipt_of_the_saved_notebook_says_that_it_is_replayed() -> None:
    assert_replayed(NOTEBOOK)


def assert_replayed(path: Path) -> None:
    """A notebook shows every record of the file, and says of each and in each form that it is replayed."""
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    (cell,) = (cell for cell in notebook.cells if f"%mlc_trace replay {RECORDS.name}" in cell.source)
    receipts = [output.data for output in cell.outputs if MIME_TYPE in output.get("data", {})]
    assert len(receipts) == len(RECORDS.read_text(encoding="utf-8").splitlines())
    for data in receipts:
        assert data[MIME_TYPE]["origin"] == "replayed"
        for reading in data[MIME_TYPE]["readings"]:
            assert str(from_json(reading.get("detail") or "")).startswith(f"replayed from {RECORDS.name}")
        assert "replayed" in data["text/html"].lower()
        assert "replayed" in data["text/plain"].lower()
