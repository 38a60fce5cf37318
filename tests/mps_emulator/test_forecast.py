"""The forecast for MPS has the operations that PyTorch runs on the emulated device."""

from __future__ import annotations

import pytest

from tests.support import mps_models
from tests.support.mps_models.differences import unexplained
from tests.support.mps_models.table import NOT_RUN, planned, real_counts

COMPARED = [name for name in mps_models.NAMES if name not in NOT_RUN]


@pytest.fixture(scope="module")
def real(library):
    """The operations of each model's step on the device."""
    return real_counts(COMPARED)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", COMPARED)
def test_a_training_step_has_the_operations_of_a_run_on_the_device(real, name):
    assert isinstance(real[name], dict), real[name]
    counts = planned(name)["plans"]["step"]["counts"]
    assert unexplained(counts, real[name]) == set()
    assert set(counts) & set(real[name])
