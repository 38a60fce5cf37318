"""The progress of a command in a log file: a line for each cell, with a time that tells something."""

from __future__ import annotations

import io

from jupyter_mlgpu.jupyter.cli.progress import ProgressLines
from jupyter_mlgpu.testing import FakeClock


def test_a_line_has_the_time_since_the_start_once_some_has_passed():
    printed, clock = io.StringIO(), FakeClock()
    shown = ProgressLines(printed, clock)
    clock.advance(4e-6)
    shown.cell(1, 2, "import numpy")
    clock.advance(12.5)
    shown.cell(2, 2, "numpy.ones(3)")
    assert printed.getvalue().splitlines() == ["[1/2] import numpy", "[2/2] after 12.5 s: numpy.ones(3)"]
