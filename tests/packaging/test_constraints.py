"""constraints/ agrees with pyproject.toml; needs no network."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tracked import tracked

import constraints
from constraints import BY_NAME, FILES, ROOT, ConstraintFile, leave_out
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.teach.lessons import shipped

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SYSTEMS = {
    "linux": {"sys_platform": "linux", "platform_system": "Linux", "platform_machine": "x86_64"},
    "macos": {"sys_platform": "darwin", "platform_system": "Darwin", "platform_machine": "arm64"},
}


def environment(system: str, python: str) -> dict[str, str]:
    """What markers see in CPython `python` (3.11) on `system`."""
    return {
        **{key: str(value) for key, value in default_environment().items()},
        **SYSTEMS[system],
        "os_name": "posix",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
        "python_version": python,
        "python_full_version": f"{python}.9",
        "extra": "",
    }


def applies(requirement: Requirement, where: dict[str, str]) -> bool:
    """Whether the requirement's marker holds in the environment `where`."""
    return requirement.marker is None or requirement.marker.evaluate(where)


def asked_for(file: ConstraintFile) -> Iterator[Requirement]:
    """The requirements of pyproject.toml that `file` covers, extras of our own spelt out."""
    project = PROJECT["project"]
    texts = [*project["dependencies"]]
    for extra in file.extras:
        texts += project["optional-dependencies"][extra]
    for group in file.groups:
        texts += PROJECT["dependency-groups"][group]
    while texts:
        requirement = Requirement(texts.pop())
        if requirement.name == project["name"]:
            for extra in requirement.extras:
                texts += project["optional-dependencies"][extra]
        else:
            yield requirement


def pins_of(path: Path) -> list[Requirement]:
    """The exact versions that a file of constraints/ lists."""
    lines = path.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    texts = [line.partition("--hash")[0].strip() for line in lines]
    return [Requirement(text) for text in texts if text and not text.startswith("#")]


def versions_in(file: ConstraintFile, where: dict[str, str]) -> dict[str, str]:
    """What `file` installs in the environment `where`: version by normalised name."""
    versions: dict[str, str] = {}
    for pin in pins_of(file.path):
        if applies(pin, where):
            name = canonicalize_name(pin.name)
            assert name not in versions, f"{file.name} pins {name} twice for {where}"
            versions[name] = str(pin.specifier).removeprefix("==")
    return versions


def installed(file: ConstraintFile, where: dict[str, str]) -> dict[str, str]:
    """What is there once `file` and the lists below it are installed: version by normalised name."""
    versions = versions_in(file, where)
    for other in file.above:
        versions |= versions_in(BY_NAME[other], where)
    return versions


each_file = pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)


@each_file
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_pins_are_what_pyproject_asks_for(file: ConstraintFile, system: str, python: str) -> None:
    where = environment(system, python)
    versions = installed(file, where)
    for requirement in asked_for(file):
        if applies(requirement, where):
            name = canonicalize_name(requirement.name)
            assert name in versions, f"{file.name} lacks {name}: run `make constraints`"
            assert requirement.specifier.contains(versions[name]), (
                f"{file.name} has {name} {versions[name]}, pyproject.toml asks for {requirement}: "
                "run `make constraints`"
            )


@each_file
def test_a_list_to_install_from_has_a_hash_for_every_version(file: ConstraintFile) -> None:
    text = file.path.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if "==" in line]
    assert lines
    for line in lines:
        assert ("--hash=sha256:" in line) == file.hashes, line


@each_file
def test_a_list_leaves_out_what_the_lists_below_it_have(file: ConstraintFile) -> None:
    text = file.path.read_text(encoding="utf-8")
    below = [BY_NAME[other].path.read_text(encoding="utf-8") for other in file.above]
    assert leave_out(text, below) == text


@pytest.mark.parametrize(
    ("file", "other"),
    [
        pytest.param(file, BY_NAME[other], id=f"{file.name}-{other}")
        for file in FILES
        for other in (*file.above, *file.agrees_with)
    ],
)
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_files_that_say_they_agree_share_their_versions(
    file: ConstraintFile, other: ConstraintFile, system: str, python: str
) -> None:
    where = environment(system, python)
    ours, theirs = versions_in(file, where), versions_in(other, where)
    assert {name: ours[name] for name in ours & theirs.keys()} == {
        name: theirs[name] for name in ours & theirs.keys()
    }


def test_every_extra_is_covered_by_a_file() -> None:
    covered = {extra for file in FILES for extra in file.extras}
    assert covered | {"tensorflow"} == set(PROJECT["project"]["optional-dependencies"])


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_pinned_tensorflow_is_in_the_range_that_its_extra_has(system: str, python: str) -> None:
    where = environment(system, python)
    asked = map(Requirement, PROJECT["project"]["optional-dependencies"]["tensorflow"])
    (requirement,) = [one for one in asked if applies(one, where)]
    assert requirement.specifier.contains(versions_in(BY_NAME["extras.txt"], where)["tensorflow"])


def test_constraints_holds_no_file_that_nobody_compiles() -> None:
    compiled = {file.path for file in FILES if file.path.parent == constraints.FOLDER}
    assert set(tracked(constraints.FOLDER, "*")) == compiled


def test_what_make_builds_with_is_what_the_build_system_asks_for() -> None:
    asked = set(PROJECT["build-system"]["requires"])
    assert asked <= set(PROJECT["dependency-groups"]["build"])


def test_the_older_metal_pair_is_declared_to_exclude_the_newer_one() -> None:
    for other in ("tensorflow", "metal", "lessons"):
        assert [{"extra": "metal-legacy"}, {"extra": other}] in PROJECT["tool"]["uv"]["conflicts"]


def pythons_with(extra: str, name: str) -> set[tuple[int, int]]:
    """The Pythons from 3.11 to 3.15 under which an extra brings a package, on Linux."""
    asked = [Requirement(text) for text in PROJECT["project"]["optional-dependencies"][extra]]
    return {
        (3, minor)
        for minor in range(11, 16)
        if any(one.name == name and applies(one, environment("linux", f"3.{minor}")) for one in asked)
    }


def test_the_extras_of_tensorflow_end_where_it_was_not_built_and_no_other_does() -> None:
    newest = registry.framework("tensorflow").newest_python
    assert max(pythons_with("tensorflow", "tensorflow")) == newest
    assert max(pythons_with("metal", "tensorflow")) == shipped.NEWEST_PYTHON
    assert pythons_with("lessons", "keras-hub") == pythons_with("metal", "tensorflow")
    for name in ("torch", "jax", "mlx"):
        assert max(pythons_with(name, name)) == (3, 15)
        assert registry.framework(name).newest_python is None
    assert PROJECT["project"]["requires-python"] == ">=3.11"


@pytest.mark.parametrize("name", ["torch", "jax", "mlx"])
def test_an_extra_begins_with_the_oldest_version_that_the_backend_supports(name: str) -> None:
    asked = map(Requirement, PROJECT["project"]["optional-dependencies"][name])
    assert {str(one.specifier) for one in asked} == {f">={registry.framework(name).oldest}"}


def test_the_versions_that_must_go_together_are_pinned_exactly() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    pinned = " ".join(extras["metal"] + extras["lessons"] + extras["metal-legacy"])
    for name in (
        "tensorflow",
        "tensorflow-metal",
        "tensorflow-text",
        "tensorflow-macos",
        "keras",
        "keras-hub",
    ):
        assert re.search(rf"(^| ){name}==[\d.]+", pinned), f"{name} has no exact version"
