"""A kernel without the package is told a line that works: from where this copy was installed."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path

import pytest

from jupyter_mlgpu.record import origin

FROM_THE_INDEX = "pip install jupyter_mlgpu"


class Installed(metadata.Distribution):
    """A public fake of an installed distribution that has one file, or none."""

    def __init__(self, direct_url: str | None) -> None:
        self.direct_url = direct_url

    def read_text(self, filename: str) -> str | None:
        return self.direct_url if filename == "direct_url.json" else None

    def locate_file(self, path: object) -> Path:  # type: ignore[override]
        raise NotImplementedError


@pytest.fixture
def line(monkeypatch):
    """The line where an installer wrote `told` into direct_url.json."""

    def of(told: object) -> str:
        text = told if isinstance(told, str) or told is None else json.dumps(told)
        monkeypatch.setattr(metadata, "distribution", lambda name: Installed(text))
        return origin.install_line()

    return of


def test_what_came_from_an_index_comes_from_there_again(line):
    assert line(None) == FROM_THE_INDEX


def test_a_wheel_is_installed_again_from_its_file_while_it_is_there(line, tmp_path):
    wheel = tmp_path / "my wheels" / "jupyter_mlgpu-1.0-py3-none-any.whl"
    told = {"url": wheel.as_uri(), "archive_info": {}}
    assert line(told) == FROM_THE_INDEX
    wheel.parent.mkdir()
    wheel.touch()
    assert line(told) == f"pip install '{wheel}'"


def test_a_checkout_is_installed_as_it_was(line, tmp_path):
    assert line({"url": tmp_path.as_uri(), "dir_info": {}}) == f"pip install {tmp_path}"
    told = {"url": tmp_path.as_uri(), "dir_info": {"editable": True}}
    assert line(told) == f"pip install -e {tmp_path}"


def test_a_repository_keeps_its_commit_and_an_archive_its_address(line):
    told = {"url": "https://example.org/kit.git", "vcs_info": {"vcs": "git", "commit_id": "0f1e2d"}}
    assert line(told) == "pip install git+https://example.org/kit.git@0f1e2d"
    told = {"url": "https://example.org/kit-1.0.whl", "archive_info": {}}
    assert line(told) == "pip install https://example.org/kit-1.0.whl"


@pytest.mark.parametrize("told", ["{", "[]", '{"url": 3}', '{"vcs_info": {}}', '{"vcs_info": 1, "url": ""}'])
def test_a_file_that_cannot_be_read_is_no_reason_to_fail(line, told):
    assert line(told) == FROM_THE_INDEX


def test_a_copy_that_was_never_installed_names_the_index(monkeypatch):
    def none(name: str) -> metadata.Distribution:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", none)
    assert origin.install_line() == FROM_THE_INDEX
