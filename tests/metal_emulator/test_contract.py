"""The contract suite over TensorFlow on the emulated device, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.metal_emulator.conftest import VARIABLE

ROOT = Path(__file__).parents[2]


def test_the_contract_suite_passes_on_metal(library):
    suite = [sys.executable, "-m", "pytest", "tests/measure/contract", "-k", "tensorflow", "-v", "-n", "0"]
    environment = {**os.environ, VARIABLE: str(library)}
    done = subprocess.run(suite, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "exercised_on_such_hardware[tensorflow-metal] PASSED" in done.stdout
