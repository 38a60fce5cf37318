"""Copies of what is checked, in which tests plant mistakes."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import binder_image
import pytest
from binder_files import FIRST_LESSON


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """As much of a checkout as the files of binder/ speak of."""
    for name in ("binder", "pyproject.toml", FIRST_LESSON):
        source, target = binder_image.ROOT / name, tmp_path / name
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target)
        else:
            shutil.copy2(source, target)
    return tmp_path


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
    shutil.copytree(binder_image.ROOT / "binder", whole_image.repository / "binder")
    whole_image.home.mkdir()
