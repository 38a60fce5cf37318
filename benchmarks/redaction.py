"""Measure how long redaction takes for 1 MB of texts that patterns find hard, and for ordinary lines.

Processor time of this process, the least of three. Target: 0.2 s for each text.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import MS, US, Figure, Table, at_least_one
from benchmarks.statistics import exact
from jupyter_mlgpu.record.redact import redact
from tests.support import hard_texts

PACKAGES = ("jupyter_mlgpu",)
#: Seconds for a text of CHARACTERS.
TARGET = 0.2
CHARACTERS = 1_000_000
_ORDINARY = Path(__file__).parent.parent / "tests" / "data" / "secrets" / "ordinary.txt"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the length of the texts."""
    parser.add_argument(
        "--characters", type=at_least_one, default=CHARACTERS, metavar="N", help="of each text"
    )


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Redact each text."""
    figures = []
    for name in hard_texts.PIECES:
        seconds = hard_texts.seconds(hard_texts.text_of(name, options.characters))
        target = TARGET * options.characters / CHARACTERS
        columns = {"ratio to the target": f"{seconds / target:.2f}"}
        figures.append(Figure(name, seconds, exact(seconds), MS, target, columns))
    figures.sort(key=lambda one: -one.value)
    lines = _ORDINARY.read_text(encoding="utf-8").splitlines()
    taken = []
    for _ in range(3):
        begun = time.process_time()
        for line in lines:
            redact(line)
        taken.append((time.process_time() - begun) / len(lines))
    figures.append(Figure(f"each of {len(lines):,} ordinary lines", min(taken), exact(min(taken)), US))
    method = "Processor time, the least of three runs."
    yield Table(f"Redaction of {options.characters:,} characters", figures, method=method)
