"""Kernels that have the emulated Metal device, which is built once a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.metal_emulator import building
from tests.support.kernel_fixtures import starting
from tests.support.kernels import Notebook, Spares

#: Where TensorFlow looks for plug-ins when it is imported.
VARIABLE = "TF_PLUGGABLE_DEVICE_LIBRARY_PATH"


@pytest.fixture(scope="session")
def library() -> Path:
    """The plug-in; where it cannot be built, the test is left out with the reason."""
    reason = building.why_not()
    if reason is not None:
        pytest.skip(reason)
    return building.library()


@pytest.fixture
def start_on_metal(spares: Spares, tmp_path: Path, library: Path) -> Iterator[Callable[..., Notebook]]:
    """Starts kernels for one test, with the device and the extension."""
    with starting(spares, tmp_path) as start:
        yield lambda **environment: start(**{VARIABLE: str(library)}, **environment)


@pytest.fixture(scope="module")
def start_on_metal_for_module(
    spares: Spares, tmp_path_factory: pytest.TempPathFactory, library: Path
) -> Iterator[Callable[..., Notebook]]:
    """The same for the tests of a module that look at one kernel together."""
    with starting(spares, tmp_path_factory.mktemp("metal")) as start:
        yield lambda **environment: start(**{VARIABLE: str(library)}, **environment)
