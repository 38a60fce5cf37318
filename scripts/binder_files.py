"""What is wrong with the files of binder/, as far as reading them tells; scripts/check_binder.py runs them.

repo2docker itself refuses little: two binder folders, and broken YAML. A misspelt name, a line of
requirements.txt that pip cannot read, or a script with a wrong first line shows only when the image is made.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import nbformat
from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from tracked import tracked

from jupyter_mlgpu.record import files
from jupyter_mlgpu.record.errors import RecordError

#: What repo2docker reads in binder/, of what we use.
READ = ("runtime.txt", "requirements.txt", "postBuild", "start")
#: What our own files read there.
WORKSPACE, RECORDS, NOTEBOOK = "workspace.json", "h200.jsonl", "a_real_gpu.ipynb"
#: What may be there besides; repo2docker looks at neither.
BESIDES = ("hub", "README.md", ".ipynb_checkpoints")

FIRST_LESSON = "notebooks/00_start_here.ipynb"
SIDEBAR = "jupyter-mlgpu-sidebar"


def problems(root: Path) -> list[str]:
    """One sentence for each thing that is wrong in the folder binder/ of the checkout `root`."""
    folder = root / "binder"
    if (root / ".binder").exists():
        return ["There are binder/ and .binder/, and repo2docker takes only one: remove .binder/."]
    missing = [name for name in (*READ, WORKSPACE, RECORDS, NOTEBOOK) if not (folder / name).is_file()]
    if missing:
        return [f"binder/{name} is missing." for name in missing]
    known = (*READ, WORKSPACE, RECORDS, NOTEBOOK, *BESIDES)
    return [
        *(
            f"Nothing of ours reads binder/{name}, and repo2docker may take it in place of what is "
            f"meant: remove it, or name it in {Path(__file__).name}."
            for name in sorted({path.relative_to(folder).parts[0] for path in tracked(folder, "**/*")})
            if name not in known
        ),
        *_of_runtime(folder / "runtime.txt", root / "pyproject.toml"),
        *_of_requirements(folder / "requirements.txt"),
        *_of_script(folder / "postBuild"),
        *_of_script(folder / "start"),
        *_of_workspace(folder / WORKSPACE, root),
        *_of_records(folder / RECORDS),
        *_of_notebook(folder / NOTEBOOK),
    ]


def python_of(runtime: Path) -> str | None:
    """The Python that a runtime.txt names, as 3.11, or None where it names none."""
    found = re.fullmatch(r"python-(\d+\.\d+)\n?", runtime.read_text(encoding="utf-8"))
    return found and found[1]


def _of_runtime(path: Path, project: Path) -> Iterator[str]:
    wanted = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    supported = wanted["requires-python"]
    python = python_of(path)
    said = path.read_text(encoding="utf-8").strip()
    if python is None or python not in SpecifierSet(supported):
        yield (
            f"binder/runtime.txt says {said!r}, which is no Python that this package runs on ({supported}); "
            "write python-3.11."
        )
    elif not _has_tensorflow(wanted["optional-dependencies"]["tensorflow"], python):
        yield (
            f"binder/runtime.txt says {said!r}, for which our TensorFlow was not built, and the lessons need "
            "it; write python-3.11."
        )


def _has_tensorflow(requirements: list[str], python: str) -> bool:
    """Whether the requirements install TensorFlow on a version of Python, as 3.13."""
    versions = {"python_version": python, "python_full_version": f"{python}.0"}
    read = (Requirement(line) for line in requirements)
    return any(
        one.name == "tensorflow" and (one.marker is None or one.marker.evaluate(versions)) for one in read
    )


def _of_requirements(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    for line in filter(None, (line.partition(" #")[0].strip() for line in text.splitlines())):
        if line.startswith("#"):
            continue
        wanted, *hashes = line.split(" --hash=sha256:")
        try:
            requirement = Requirement(wanted.strip())
        except InvalidRequirement:
            yield f"pip cannot read this line of binder/requirements.txt: {wanted!r}."
            continue
        if not re.fullmatch(r"==[^=*,]+", str(requirement.specifier)):
            yield f"binder/requirements.txt has {wanted.strip()!r} without an exact version: compile it."
        elif not hashes or not all(re.fullmatch(r"[0-9a-f]{64} *", one) for one in hashes):
            yield f"binder/requirements.txt has no hash for {wanted.strip()!r}: compile it."


def _of_script(path: Path) -> Iterator[str]:
    first = path.read_bytes().partition(b"\n")[0]
    if not os.access(path, os.X_OK):
        yield f"binder/{path.name} is not executable: run `chmod +x binder/{path.name}`."
    if not re.fullmatch(rb"#!/(bin|usr/bin)/[a-z /-]+", first):
        yield (
            f"binder/{path.name} begins with {first.decode(errors='replace')!r}, with which Linux cannot run "
            "it: its first line is to be #!/bin/sh, and no line may end with a carriage return."
        )
        return
    read = subprocess.run(["sh", "-n", str(path)], capture_output=True, text=True)
    if read.returncode:
        yield f"The shell cannot read binder/{path.name}: {read.stderr.strip()}"


def _of_workspace(path: Path, root: Path) -> Iterator[str]:
    try:
        workspace = json.loads(path.read_text(encoding="utf-8"))
        layout = workspace["data"]["layout-restorer:data"]
        shown, beside = layout["main"]["current"], layout["right"]["current"]
        tabs, name = layout["main"]["dock"]["widgets"], workspace["metadata"]["id"]
        opened = {tab: workspace["data"][tab]["data"]["path"] for tab in tabs}
    except (ValueError, KeyError, TypeError) as error:
        yield f"binder/{path.name} is no workspace of JupyterLab: {error!r}."
        return
    if name != "default":
        yield f"binder/{path.name} has the name {name!r}; JupyterLab opens the one named 'default'."
    if opened.get(shown) != FIRST_LESSON or beside != SIDEBAR:
        yield (
            f"binder/{path.name} shows {opened.get(shown)} with {beside} on its right; "
            f"it is to show {FIRST_LESSON} with {SIDEBAR}."
        )
    for one in opened.values():
        if not (root / one).is_file():
            yield f"binder/{path.name} opens {one}, which is not there."


def _of_records(path: Path) -> Iterator[str]:
    try:
        records, unread = files.load_records(path)
    except RecordError as error:
        yield str(error)
        return
    yield from unread
    elsewhere = [
        record.cell.name
        for record in records
        if not any(one.kind == "cuda" for one in record.device.ran_on or ())
        or not any("(NVIDIA H200)" in reading.instrument for reading in record.readings)
    ]
    if not records or elsewhere:
        yield (
            f"binder/{path.name} is to hold records of an NVIDIA H200, and "
            + (f"these say nothing of one: {', '.join(map(repr, elsewhere))}." if records else "has none.")
        )


def _of_notebook(path: Path) -> Iterator[str]:
    try:
        text = path.read_text(encoding="utf-8")
        notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook)
    except (ValueError, nbformat.ValidationError) as error:
        yield f"binder/{path.name} is no notebook: {str(error).partition(chr(10))[0]}"
        return
    if not any(f"%mlc_trace replay {RECORDS}" in cell.source for cell in notebook.cells):
        yield f"binder/{path.name} does not replay {RECORDS}, so nothing in it comes from a GPU."
