"""The contract suite over PyTorch on the emulated device, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.mps_emulator import building

ROOT = Path(__file__).parents[2]


def test_the_contract_suite_passes_on_mps(library):
    suite = [sys.executable, "-m", "pytest", "tests/measure/contract", "-k", "torch", "-v", "-n", "0"]
    variables = {**os.environ, **building.environment(library)}
    done = subprocess.run(suite, cwd=ROOT, env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "exercised_on_such_hardware[torch-metal] PASSED" in done.stdout
