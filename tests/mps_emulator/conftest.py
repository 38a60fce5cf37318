"""Kernels whose PyTorch has the emulated MPS device, which is built once a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.mps_emulator import building
from tests.support.kernel_fixtures import starting
from tests.support.kernels import Notebook, Spares


@pytest.fixture(scope="session")
def library() -> Path:
    """The library; where it cannot be built, the test is left out with the reason."""
    reason = building.why_not()
    if reason is not None:
        pytest.skip(reason)
    return building.library()


@pytest.fixture(scope="module")
def start_on_mps(
    spares: Spares, tmp_path_factory: pytest.TempPathFactory, library: Path
) -> Iterator[Callable[..., Notebook]]:
    """Starts kernels with the device and the extension, for the tests of a module."""
    with starting(spares, tmp_path_factory.mktemp("mps")) as start:
        yield lambda **variables: start(**building.environment(library), **variables)
