"""What strangers write, given to all that reads it: only sentences come out, in time and in little memory.

`make test` gives every reader a few inputs, `make test-all` 2,000. JUPYTER_MLGPU_FUZZ_SEED chooses others. An
input that failed is kept under build/fuzz; one that was mended has its place in `found` beside this file.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tracked import tracked

from tests.fuzz import driver
from tests.fuzz.readers import READERS

FEW, MANY = 50, 2_000
FOUND = tracked(Path(__file__).parent / "found", "*.bin")


def reader_of(path: Path) -> str:
    """`found/records-show-name-of-the-mistake.bin`: the reader's name comes first."""
    return next(name for name in sorted(READERS, key=len, reverse=True) if path.stem.startswith(name))


@pytest.mark.parametrize("path", FOUND, ids=lambda path: path.stem)
def test_what_once_failed_is_read_or_refused_in_a_sentence(path):
    assert driver.failure(READERS[reader_of(path)], path.read_bytes()) is None


@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_or_refuses_what_strangers_write(name):
    told = driver.fuzz(name, READERS[name], FEW, driver.SEED)
    assert told.to_json()["found"] == [], f"seed {driver.SEED}"
    assert told.inputs >= FEW


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", READERS)
def test_a_reader_reads_or_refuses_very_much_of_it_in_little_memory(name):
    """In a process of its own, whose memory is nobody else's."""
    words = [sys.executable, "-m", "tests.fuzz.driver", name, "--inputs", str(MANY)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr[-2_000:]
    told = json.loads(done.stdout)
    print(f"{name}: seed {told['seed']}, slowest {told['slowest']:.2f} s, peak {told['peak'] / 1e6:.0f} MB")
    assert told["found"] == [], f"seed {told['seed']}"
    assert told["inputs"] >= MANY
    assert told["slowest"] < driver.SLOW
    assert told["peak"] < driver.MEMORY
