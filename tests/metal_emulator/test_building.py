"""The emulated device is made of tensorflow-metal's own registrations, for one TensorFlow that is known."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.metal_emulator import building
from tests.metal_emulator.conftest import VARIABLE


def test_every_registration_of_tensorflow_metal_is_there():
    lines = building.registrations()
    assert len(lines) == 561
    assert [line for line, times in Counter(lines).items() if times > 1] == [
        '{"InTopK", {{"T", TF_FLOAT}}, {}},'
    ]


def test_arguments_that_stay_on_the_host_are_told():
    assert (
        '{"Sum", {{"T", TF_FLOAT}, {"Tidx", TF_INT32}}, {"reduction_indices"}},' in building.registrations()
    )


@pytest.mark.slow
def test_a_tensorflow_with_other_kernels_is_refused_in_one_sentence(library, tmp_path, monkeypatch):
    monkeypatch.setitem(building.HIDDEN, "2.19.1", 4000)
    other = tmp_path / "other.so"
    building._build(other, "2.19.1")
    done = subprocess.run(
        [sys.executable, "-c", "import tensorflow"],
        env={**os.environ, VARIABLE: str(other)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3
    assert "4543 kernels of CUDA were found where 4000 were expected" in done.stderr


def test_without_a_compiler_the_reason_is_told(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert building.why_not() == "the emulated Metal device is built by g++, which is not here"
