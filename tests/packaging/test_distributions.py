"""A built package holds all that it should, and the installed one is found by Jupyter."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import hatch_build
import jupyter_mlgpu
from constraints import ROOT
from jupyter_mlgpu.teach.lessons import shipped

#: Bytes, all static files together.
STATIC_LIMIT = 350_000
DATA = f"jupyter_mlgpu-{jupyter_mlgpu.__version__}.data/data"


@pytest.fixture(scope="module")
def wheel(built: Path) -> set[str]:
    """The names of the files in the wheel."""
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return set(archive.namelist())


@pytest.mark.slow
def test_the_wheel_puts_the_labextension_where_jupyterlab_looks(wheel: set[str]) -> None:
    folder = f"{DATA}/share/jupyter/labextensions/jupyter-mlgpu"
    assert f"{folder}/package.json" in wheel
    assert f"{folder}/install.json" in wheel
    assert f"{folder}/schemas/jupyter-mlgpu/sidebar.json" in wheel
    assert any(name.startswith(f"{folder}/static/remoteEntry") for name in wheel)


@pytest.mark.slow
def test_what_a_browser_loads_of_the_extension_is_small(built: Path) -> None:
    static = f"{DATA}/share/jupyter/labextensions/jupyter-mlgpu/static/"
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        sizes = {
            one.filename.removeprefix(static): one.file_size
            for one in archive.infolist()
            # No page loads maps, or the licences of what is bundled; the anywidget bundle is for other pages.
            if one.filename.startswith(static)
            and not one.filename.endswith((".map", ".jsonl", "third-party-licenses.json"))
            and "anywidget" not in one.filename
        }
    assert "style.js" in sizes
    assert sum(sizes.values()) <= STATIC_LIMIT, sizes


@pytest.mark.slow
def test_the_wheel_enables_the_server_extension(built: Path) -> None:
    (path,) = built.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        text = archive.read(f"{DATA}/etc/jupyter/jupyter_server_config.d/jupyter_mlgpu.json")
    extensions = json.loads(text)["ServerApp"]["jpserver_extensions"]
    assert extensions == {"jupyter_mlgpu.serverextension": True}


@pytest.mark.slow
def test_the_wheel_says_that_it_is_typed_and_holds_the_package_s_data(wheel: set[str]) -> None:
    package = ROOT / "jupyter_mlgpu"
    wanted = {
        f"jupyter_mlgpu/{path.relative_to(package)}"
        for path in package.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        # Which is in the wheel where JupyterLab looks, and nowhere else.
        and not path.is_relative_to(package / "labextension")
    }
    assert "jupyter_mlgpu/py.typed" in wanted
    assert wanted <= wheel


@pytest.mark.slow
def test_the_wheel_holds_the_labextension_once(wheel: set[str]) -> None:
    scripts = [name.rpartition("/")[2] for name in wheel if name.endswith(".js")]
    assert any(name.startswith("remoteEntry.") for name in scripts)
    assert len(scripts) == len(set(scripts))
    assert not any(name.startswith("jupyter_mlgpu/labextension/") for name in wheel)


@pytest.mark.slow
def test_the_wheel_holds_the_lessons_solutions_catalogues_and_labs_and_nothing_else_of_them(
    wheel: set[str],
) -> None:
    listed = subprocess.run(
        ["git", "ls-files", "notebooks"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    kept = {name.removeprefix("notebooks/") for name in listed.stdout.split()} - {"conftest.py"}
    assert {"00_start_here.ipynb", "zh/00_start_here.po", "labs/README.md"} <= kept
    folder = f"{hatch_build.TARGET}/"
    assert {name.removeprefix(folder) for name in wheel if name.startswith(folder)} == kept
    assert shipped.PLACES[0] == ROOT / hatch_build.TARGET


@pytest.mark.slow
def test_both_distributions_hold_the_controls_for_other_notebooks(built: Path, wheel: set[str]) -> None:
    script = "jupyter_mlgpu/jupyter/notebook/static/widgets.js"
    assert script in wheel
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        assert any(name.endswith(f"/{script}") for name in archive.getnames())


@pytest.mark.slow
def test_the_source_distribution_leaves_out_what_tools_downloaded(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = archive.getnames()
    assert any(name.endswith("labextension/yarn.lock") for name in names)
    for part in ("node_modules", ".yarn", ".venv", ".git"):
        assert not any(f"/{part}/" in name for name in names), part
    assert path.stat().st_size < 8_000_000


def test_the_version_is_the_same_for_python_and_for_the_labextension() -> None:
    package = json.loads((ROOT / "labextension/package.json").read_text(encoding="utf-8"))
    assert package["name"] == "jupyter-mlgpu"
    assert package["version"] == jupyter_mlgpu.__version__


def test_what_is_cited_is_this_version() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8").splitlines()
    assert f"version: {jupyter_mlgpu.__version__}" in citation


def test_the_command_jupyter_mlgpu_is_there() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jupyter", "mlgpu", "--help"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "run" in done.stdout
