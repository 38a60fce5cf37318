"""The steps behind a Binder link, without Docker: building, starting, running."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import uv

from constraints import ROOT
from tests.binder.conftest import LABEXTENSION, SERVER_EXTENSION, Image
from tests.binder.test_files import NOTEBOOK, PYTHON, assert_replayed

#: Ubuntu 22.04 has glibc 2.35; repo2docker's images are made from 24.04 now. Apple silicon from macOS 13 on.
SYSTEMS = {"Linux": "x86_64-manylinux_2_35", "macOS": "aarch64-apple-darwin"}
PRINT_LABELS = """
import sys
from jupyter_mlgpu.teach.lessons.recordings import find
for name in sys.argv[1:]:
    print(getattr(find(name), "label", "none"))
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_requirement_has_a_wheel_with_one_of_its_hashes(system: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(uv.find_uv_bin(), "pip", "install", "--dry-run", "--require-hashes", "--only-binary", ":all:"),
            *("--target", str(tmp_path), "--requirement", str(ROOT / "binder" / "requirements.txt")),
            *("--python-platform", SYSTEMS[system], "--python-version", PYTHON),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "MACOSX_DEPLOYMENT_TARGET": "13.0"},
    )
    if re.search(r"client error|timed out|network was disabled", done.stderr):
        pytest.skip("No package index answers, so Binder's list cannot be resolved here.")
    assert done.returncode == 0, done.stderr


def test_start_hands_over_to_the_command_that_it_is_given(built: Image) -> None:
    process = subprocess.Popen(
        ["./binder/start", "sh", "-c", 'printf "%s\\n" "$$" "$@"; exit 7', "sh", "two words", "*"],
        cwd=built.repository, env=built.variables, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    printed, said = process.communicate()
    assert printed.splitlines() == [str(process.pid), "two words", "*"]
    assert (process.returncode, said) == (7, "")


def test_a_start_that_finds_no_workspace_says_so_and_still_hands_over(built: Image, tmp_path: Path) -> None:
    workspace = built.repository / "binder" / "workspace.json"
    text = workspace.read_text(encoding="utf-8")
    workspace.write_text("[]", encoding="utf-8")
    # Nothing is imported where a layout is there already, as after another start.
    done = built.run("./binder/start", "echo", "served", JUPYTERLAB_WORKSPACES_DIR=str(tmp_path / "none"))
    workspace.write_text(text, encoding="utf-8")
    assert "so it opens without the first lesson" in done.stderr
    assert done.stdout == "served\n"


def test_post_build_installs_the_package_with_its_extensions(built: Image) -> None:
    for command, name in (("labextension", LABEXTENSION), ("server extension", SERVER_EXTENSION)):
        listed = built.run("jupyter", *command.split(), "list")
        said = "".join(line for line in (listed.stdout + listed.stderr).splitlines() if name in line)
        assert "enabled" in said
        assert "OK" in said
    fits = built.run("python", "-m", "pip", "check")
    assert fits.returncode == 0, fits.stdout
    python = built.run("python", "-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
    if python != PYTHON:
        pytest.skip(f"Python {PYTHON} is not at hand: postBuild and the lesson ran on {python}.")


def test_the_first_lesson_runs_and_prints_what_is_saved(built: Image) -> None:
    """nbval runs outside the image: nothing but the list is installed in that."""
    shared = built.home / "kernels"
    built.run("python", "-m", "ipykernel", "install", "--prefix", str(shared), "--name", "binder")
    done = built.run(
        *(sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-p", "nbval.plugin"),
        *("--nbval-lax", "--nbval-kernel-name", "binder", "--nbval-cell-timeout", "600", "--timeout", "0"),
        "notebooks/00_start_here.ipynb",
        JUPYTER_PATH=str(shared / "share" / "jupyter"),
        JUPYTER_MLGPU_OFFLINE="1",
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


def test_the_notebook_with_a_gpus_records_runs_and_labels_each_as_replayed(built: Image) -> None:
    path = built.repository / "binder" / NOTEBOOK.name
    done = built.run("jupyter", "execute", "--inplace", str(path))
    assert done.returncode == 0, done.stderr
    assert_replayed(path)


def test_the_lessons_figures_of_a_gpu_are_installed_and_labelled_as_replayed(built: Image) -> None:
    folder = built.repository / "jupyter_mlgpu" / "teach" / "lessons" / "recordings"
    names = sorted(path.stem for path in folder.glob("*.json"))
    printed = built.run("python", "-P", "-c", PRINT_LABELS, *names)
    labels = printed.stdout.splitlines()
    assert len(labels) == len(names), printed.stderr
    assert all(label.startswith("replayed: ") for label in labels)
    assert "replayed: NVIDIA H200" in labels
