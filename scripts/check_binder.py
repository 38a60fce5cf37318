"""Checks binder/ without Docker: what repo2docker makes of it, and what happens then, step by step.

    build/environments/tools/bin/python scripts/check_binder.py build/environments/binder-image

`make test-binder` makes both environments, and removes them at its end: the first has the tools, the second
only what binder/requirements.txt lists, as Binder's image has. The exit status is 0 when everything holds;
else one sentence says what does not.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import uv
from binder_files import FIRST_LESSON, NOTEBOOK, RECORDS, problems, python_of
from binder_image import BinderError, Image
from check_lab import LABEXTENSION, SERVER_EXTENSION

from jupyter_mlgpu.record.sentence import from_json
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

#: Ubuntu 22.04 has glibc 2.35; repo2docker's images are made from 24.04 now. Apple silicon from macOS 13 on.
SYSTEMS = {"Linux": "x86_64-manylinux_2_35", "macOS": "aarch64-apple-darwin"}
#: What uv and pip say where no package index answers.
NO_INDEX = ("client error", "timed out", "network was disabled")
#: In the repository; run where the package is installed, so the installed ones answer.
RECORDINGS = "jupyter_mlgpu/teach/lessons/recordings"
PRINT_LABELS = """
import sys
from jupyter_mlgpu.teach.lessons.recordings import beside
for name in sys.argv[1:]:
    print(getattr(beside(name), "label", "none"))
"""
NOT_CHECKED = (
    "the image itself, with what repo2docker and Ubuntu bring along: nothing is built by Docker",
    "an installation on macOS: only that every version has a wheel for it",
    "Binder's own limits of memory, processor and network, and its link",
)


def check_files(root: Path) -> None:
    """The files by themselves."""
    if found := problems(root):
        raise BinderError("\n".join(found))


def check_repo2docker(root: Path) -> None:
    """repo2docker takes our files, and nothing in their place."""
    tool = Path(sys.executable).parent / "jupyter-repo2docker"
    done = subprocess.run(
        [str(tool), "--no-build", "--debug", str(root)], capture_output=True, text=True, cwd=root
    )
    written = done.stdout + done.stderr
    if done.returncode:
        raise BinderError(f"repo2docker does not take the repository: {last_line(written)}")
    python = python_of(root / "binder" / "runtime.txt")
    for what, text in (
        (f"Python {python}", f"conda environment for python={python}\n"),
        ("requirements.txt", '-r "binder/requirements.txt"'),
        ("postBuild", "./binder/postBuild"),
        ("start", "/binder/start"),
    ):
        if text not in written:
            raise BinderError(f"repo2docker's Dockerfile has no {text!r}, so {what} would not be used.")


def check_resolution(requirements: Path, system: str, python: str) -> None:
    """Every version listed has a wheel for `system` with one of its hashes, and the list lacks nothing."""
    with tempfile.TemporaryDirectory() as target:
        done = subprocess.run(
            [
                *(uv.find_uv_bin(), "pip", "install", "--dry-run", "--require-hashes"),
                *("--only-binary", ":all:", "--target", target, "--requirement", str(requirements)),
                *("--python-platform", SYSTEMS[system], "--python-version", python),
            ],
            capture_output=True,
            text=True,
            env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": "13.0"},
        )
    if done.returncode:
        raise BinderError(f"binder/requirements.txt cannot be installed on {system}: {done.stderr.strip()}")


def is_offline(error: BinderError) -> bool:
    """Whether a list was not resolved because no package index answers."""
    return any(sign in str(error) for sign in NO_INDEX)


def check_post_build(image: Image) -> None:
    """postBuild installs the package with its labextension where there was none."""
    image.run("python", "-m", "pip", "uninstall", "--yes", "--quiet", "jupyter_mlgpu")
    done = image.run("./binder/postBuild")
    if done.returncode:
        said = last_line(done.stdout + done.stderr)
        raise BinderError(f"binder/postBuild ended with exit status {done.returncode}: {said}")
    for command, name in (("labextension", LABEXTENSION), ("server extension", SERVER_EXTENSION)):
        listed = image.run("jupyter", *command.split(), "list")
        lines = [line for line in (listed.stdout + listed.stderr).splitlines() if name in line]
        if not ("enabled" in "".join(lines) and "OK" in "".join(lines)):
            raise BinderError(f"After binder/postBuild, JupyterLab has no {command} {name}: {lines}")
    fits = image.run("python", "-m", "pip", "check")
    if fits.returncode:
        raise BinderError(f"What is installed does not fit together: {fits.stdout.strip()}")


def check_start(image: Image) -> None:
    """start hands over to the command that it is given: the same process, arguments and exit status."""
    process = subprocess.Popen(
        ["./binder/start", "sh", "-c", 'printf "%s\\n" "$$" "$@"; exit 7', "sh", "two words", "*"],
        cwd=image.repository, env=image.variables, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    printed, said = process.communicate()
    if printed.splitlines() != [str(process.pid), "two words", "*"] or process.returncode != 7:
        raise BinderError(
            "binder/start does not run the command that it is given as it is (its last line is to be "
            f'`exec "$@"`): exit status {process.returncode}, printed {printed!r}, said {said.strip()!r}.'
        )
    if said.strip():
        raise BinderError(f"binder/start says: {said.strip()}")


def check_lesson(image: Image, name: str) -> None:
    """A lesson runs in the image's kernel, without an error, and prints what is saved where that is marked.

    nbval runs outside the image: nothing but the list is installed in that.
    """
    shared = image.home / "kernels"
    image.run("python", "-m", "ipykernel", "install", "--prefix", str(shared), "--name", "binder")
    done = image.run(
        *(sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-p", "nbval.plugin"),
        *("--nbval-lax", "--nbval-kernel-name", "binder", "--nbval-cell-timeout", "600"),
        *("--timeout", "0", name),
        # Offline, as `make test-lessons` runs them.
        JUPYTER_PATH=str(shared / "share" / "jupyter"),
        JUPYTER_MLGPU_OFFLINE="1",
    )
    if done.returncode:
        raise BinderError(f"{name} does not run in Binder's environment:\n{done.stdout[-4000:]}{done.stderr}")


def check_replay(image: Image) -> None:
    """The notebook with a GPU's records shows every one of them, labelled as replayed in each form it has."""
    path = image.repository / "binder" / NOTEBOOK
    done = image.run("jupyter", "execute", "--inplace", str(path))
    if done.returncode:
        raise BinderError(f"binder/{NOTEBOOK} does not run: {last_line(done.stderr)}")
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    (cell,) = (cell for cell in notebook.cells if f"%mlc_trace replay {RECORDS}" in cell.source)
    receipts = [output.data for output in cell.outputs if MIME_TYPE in output.get("data", {})]
    listed = (path.parent / RECORDS).read_text(encoding="utf-8").splitlines()
    if len(receipts) != len(listed):
        raise BinderError(
            f"binder/{NOTEBOOK} shows {len(receipts)} of the {len(listed)} records of {RECORDS}."
        )
    for data in receipts:
        if not is_labelled(data):
            name = data[MIME_TYPE]["cell"]["name"]
            raise BinderError(f"binder/{NOTEBOOK} shows {name!r} without the label replayed.")


def check_recordings(image: Image) -> None:
    """The lessons' figures of a GPU are installed, and a lesson shows them there, labelled as replayed."""
    names = sorted(path.stem for path in (image.repository / RECORDINGS).glob("*.json"))
    labels = image.run(
        *("python", "-P", "-c", PRINT_LABELS, *names),
    )
    found = dict(zip(names, labels.stdout.splitlines(), strict=False))
    missed = [name for name in names if not found.get(name, "").startswith("replayed: ")]
    if missed or "replayed: NVIDIA H200" not in found.values():
        raise BinderError(
            f"The lessons there do not replay {', '.join(missed) or 'a GPU'} of {RECORDINGS}: "
            f"{last_line(labels.stderr)}"
        )


def is_labelled(data: Mapping[str, Any]) -> bool:
    """Whether a receipt says in each of its forms, and for each of its figures, that it is replayed."""
    record = data[MIME_TYPE]
    return (
        record["origin"] == "replayed"
        and all(
            str(from_json(one.get("detail") or "")).startswith(f"replayed from {RECORDS}")
            for one in record["readings"]
        )
        and all("replayed" in data[form].lower() for form in ("text/html", "text/plain"))
    )


def last_line(text: str) -> str:
    """The last line that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "it says nothing")


def main(environment: Path) -> int:
    """Every check in turn; 0 when all hold, else 1 and the sentences."""
    not_checked = list(NOT_CHECKED)
    with tempfile.TemporaryDirectory() as folder:
        image = Image(environment, Path(folder))
        root = image.repository
        try:
            check_files(root)
            print("    binder/ has what it is to have, and every file can be read", flush=True)
            check_repo2docker(root)
            print("    repo2docker takes runtime.txt, requirements.txt, postBuild and start", flush=True)
            python = python_of(root / "binder" / "runtime.txt") or ""
            for system in SYSTEMS:
                try:
                    check_resolution(root / "binder" / "requirements.txt", system, python)
                except BinderError as error:
                    if not is_offline(error):
                        raise
                    not_checked.append(f"the requirements' wheels for {system}: no package index answers")
                else:
                    print(f"    every requirement has a wheel for {system}, Python {python}", flush=True)
            check_post_build(image)
            print("    postBuild builds and installs the package among the requirements alone", flush=True)
            check_start(image)
            print("    start hands over to the command that it is given", flush=True)
            check_lesson(image, FIRST_LESSON)
            print(f"    {FIRST_LESSON} runs there", flush=True)
            check_replay(image)
            check_recordings(image)
            print(f"    {NOTEBOOK} and the lessons replay a GPU's figures there, each labelled", flush=True)
            if (there := image.python) != python:
                not_checked.append(
                    f"Python {python}: it is not at hand, and postBuild and lesson ran on {there}"
                )
        except BinderError as error:
            print(error, file=sys.stderr)
            return 1
    print("    not checked here:")
    for one in not_checked:
        print(f"      - {one}")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1])))
