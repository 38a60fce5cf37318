"""What the tests of several files measure with."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from jupyter_mlgpu.measure import runtime as kits


@pytest.fixture
def runtime() -> Iterator[kits.Runtime]:
    """This process's kit for one test: it has no records yet, and nothing is open."""
    before, fresh = kits.current(), kits.Runtime()
    kits.install(fresh)
    yield fresh
    while fresh.recorder.open:
        fresh.recorder.open[-1].abandon()
    fresh.close()
    kits.install(before)


@pytest.fixture
def no_collection() -> Iterator[None]:
    """What earlier tests have left is let go before, and nothing meanwhile: so memory is the test's own."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()
