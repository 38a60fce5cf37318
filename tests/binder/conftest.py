"""Copies of what is checked, in which tests plant mistakes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import binder_image
import pytest
from binder_files import FIRST_LESSON
from tracked import tracked


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of a checkout as the files of binder/ speak of."""
    for name in ("binder", "pyproject.toml", FIRST_LESSON):
        copy_tracked(name, tmp_path)
    return tmp_path


def copy_tracked(name: str, to: Path) -> None:
    """Copy a file of the checkout, or the files that git tracks in a folder of it."""
    source = binder_image.ROOT / name
    for path in tracked(source, "**/*") if source.is_dir() else [source]:
        target = to / path.relative_to(binder_image.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)


@pytest.fixture(scope="session")
def whole_image(tmp_path_factory: pytest.TempPathFactory) -> binder_image.Image:
    environment = os.environ.get("JUPYTER_MLGPU_BINDER_IMAGE")
    if environment is None:
        pytest.skip("needs an environment of its own: run `make test-binder`")
    return binder_image.Image(Path(environment), tmp_path_factory.mktemp("image"))


@pytest.fixture
def image(whole_image: binder_image.Image) -> Iterator[binder_image.Image]:
    """What stands for Binder's container: with a new home, and the folder binder/ as it is committed."""
    yield whole_image
    for folder in (whole_image.repository / "binder", whole_image.home):
        shutil.rmtree(folder)
    copy_tracked("binder", whole_image.repository)
    whole_image.home.mkdir()
