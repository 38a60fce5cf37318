"""Which folders a sandbox covers: all that is shipped and holds a solution, a hidden test or an answer."""

import inspect
import json
from pathlib import Path

import pytest
from tracked import tracked

from jupyter_mlgpu.teach.grading import sandbox, withheld
from jupyter_mlgpu.teach.grading.sealed import FOLDERS, PACKAGE, READABLE, Sealed, find_sealed
from jupyter_mlgpu.teach.lessons import exercises, shipped

ROOT = Path(__file__).resolve().parents[2]


def is_covered(path):
    """Whether a file of the package, by its path within it, lies in a covered folder and is not kept."""
    return any(path.is_relative_to(folder) and path != folder / READABLE for folder in FOLDERS)


@pytest.mark.needs("hatchling")
def test_every_notebook_of_the_wheel_is_covered():
    import hatch_build

    target = Path(hatch_build.TARGET).relative_to(PACKAGE.name)
    shown = [name for name in hatch_build.packaged(ROOT) if not is_covered(target / name)]
    assert shown == []


@pytest.mark.needs("numpy")
def test_every_reference_answer_and_every_known_mistake_is_covered():
    functions = [one.reference for one in exercises.exercises().values()]
    for name in exercises.exercises():
        functions += [one.answer for one in exercises.coaching_of(name).mistakes]
    files = {Path(inspect.getsourcefile(inspect.unwrap(one))) for one in functions}
    assert len(files) > 20
    assert [file for file in sorted(files) if not is_covered(file.relative_to(PACKAGE))] == []


def test_no_other_file_of_the_package_has_a_line_of_a_solution_or_of_a_hidden_test():
    closed = set()
    for language in shipped.LANGUAGES:
        for lab in shipped.labs(language):
            closed |= withheld.lines(json.loads(shipped.content(lab)))
    assert len(closed) > 100
    shown = [path for path in tracked(PACKAGE, "**/*") if not is_covered(path.relative_to(PACKAGE))]
    giving = [
        (path.name, line)
        for path in shown
        for line in path.read_text("utf-8", "replace").splitlines()
        if line.strip() in closed
    ]
    assert giving == []


def test_what_stays_of_the_covered_folders_holds_no_answer():
    for folder in FOLDERS:
        kept = PACKAGE / folder / READABLE
        assert not kept.exists() or "EXERCISES =" not in kept.read_text("utf-8")


def install(prefix, *, packages="lib/python3.11/site-packages"):
    """A package in a Python's folder, as a wheel is installed."""
    package = prefix / packages / PACKAGE.name
    for folder in FOLDERS:
        (package / folder).mkdir(parents=True)
        (package / folder / "solution").write_text("return 42")
    (package / FOLDERS[1] / READABLE).write_text("")
    return package


@pytest.mark.parametrize(
    "packages",
    [
        "lib/python3.11/site-packages",
        "local/lib/python3.12/dist-packages",
        "envs/other/lib/python3.11/site-packages",
    ],
)
def test_each_copy_that_a_sandbox_would_show_is_covered(tmp_path, packages):
    package = install(tmp_path / "prefix", packages=packages)
    found = find_sealed([tmp_path / "prefix"])
    assert {one.folder for one in found} == {package / folder for folder in FOLDERS}
    assert Sealed(package / FOLDERS[1], (READABLE,)) in found
    assert find_sealed([tmp_path / "elsewhere"]) == []


def test_a_copy_behind_a_link_is_covered_under_the_path_that_is_shown(tmp_path):
    install(tmp_path / "real")
    (tmp_path / "prefix").symlink_to(tmp_path / "real")
    (tmp_path / "real" / "lib64").symlink_to("lib")
    assert {one.folder for one in find_sealed([tmp_path / "prefix"])} == {
        tmp_path / "prefix" / "lib/python3.11/site-packages" / PACKAGE.name / folder for folder in FOLDERS
    }


def test_of_a_checkout_that_is_shown_the_rest_is_covered_and_python_in_it_is_not(tmp_path):
    package = install(tmp_path, packages="")
    for name in ("notebooks", "tests", ".git", "lib", ".venv/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text("")
    install(tmp_path / "envs" / "wheel")  # covered with the folder that it lies in
    found = {one.folder for one in find_sealed([tmp_path, tmp_path / ".venv"])}
    beside = {tmp_path / name for name in ("notebooks", "tests", ".git", "envs")}
    assert found == beside | {package / folder for folder in FOLDERS}


def test_condas_store_of_packages_is_covered(tmp_path):
    for name in ("conda-meta", "pkgs"):
        (tmp_path / name).mkdir()
    assert find_sealed([tmp_path]) == [Sealed(tmp_path / "pkgs")]


def test_bubblewrap_and_the_profile_of_macos_cover_these_folders():
    found = sandbox.hidden_folders()
    words = sandbox.SANDBOXES["bubblewrap"].command(["python"], Path("/tmp"), 1)
    profile = sandbox.profile(Path("/tmp"))
    assert {one.folder for one in found} >= {
        PACKAGE / folder for folder in FOLDERS if (PACKAGE / folder).is_dir()
    }
    for one in found:
        begin = words.index(str(one.folder))
        assert words[begin - 1] == "--tmpfs"
        assert str(one.folder) in words[begin + 1 :]  # made read-only afterwards
        assert f'(deny file-read-data (subpath "{one.folder}"))' in profile
