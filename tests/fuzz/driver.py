"""Gives one reader many inputs, in a process of its own, and tells what came of it as JSON.

    python -m tests.fuzz.driver records-show --inputs 2000 --seed 1 --kept build/fuzz
    python -m tests.fuzz.driver records-show build/fuzz/records-show-1.bin     # one input again, with its traceback

It does not stop at the first failure: of each line that failed it keeps the smallest input.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

#: Seconds of the processor that an input may take, and by the clock: what waits takes none of the first.
SLOW, WAITING = 5.0, 60.0
#: Bytes that the process may have in the machine's memory, at most.
MEMORY = 300_000_000
PACKAGE = f"{os.sep}jupyter_mlgpu{os.sep}"


class TooSlowError(BaseException):
    """Comes out of a reader that is too slow; nothing that catches errors catches it."""


@dataclass
class Found:
    """What failed at one line: how often, and the smallest input that it failed with."""

    where: str
    what: str
    count: int
    data: bytes = field(repr=False)


def peak() -> int:
    """The most memory that this process has had, in bytes."""
    try:
        # Of this program alone: what getrusage tells begins, on Linux, with the peak of who started it.
        status = Path("/proc/self/status").read_bytes()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a Mac's, in bytes
    return int(status.partition(b"VmHWM:")[2].split()[0]) * 1024


@contextmanager
def limited() -> Iterator[None]:
    """Raises TooSlowError in what takes too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TooSlowError(f"more than {SLOW if number == signal.SIGPROF else WAITING:g} s")

    timers = {signal.SIGPROF: (signal.ITIMER_PROF, SLOW), signal.SIGALRM: (signal.ITIMER_REAL, WAITING)}
    before = {number: signal.signal(number, stop) for number in timers}
    for timer, seconds in timers.values():
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for timer, _ in timers.values():
            signal.setitimer(timer, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def failure(reader: Any, data: bytes) -> tuple[str, str] | None:
    """Where and how a reader failed with this input; None where it read it, or refused it in a sentence."""
    from jupyter_mlgpu.errors import MlgpuError

    with tempfile.TemporaryDirectory() as folder:
        try:
            with limited():
                reader.read(data, Path(folder))
        except MlgpuError as error:
            said = str(error)
            if said and said.isprintable() and "Traceback" not in said:
                return None
            return line_of(error), f"an error that is no sentence: {said[:300]!r}"
        except (Exception, TooSlowError) as error:
            return line_of(error), f"{type(error).__name__}: {str(error)[:300]}"
    return None


def line_of(error: BaseException) -> str:
    """The last line of ours that an error came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if PACKAGE in one.filename and "/tests/" not in one.filename] or frames
    last = ours[-1]
    name = last.filename.partition(PACKAGE)[2] or Path(last.filename).name
    return f"{name}:{last.lineno} {last.name}"


def fuzz(name: str, inputs: int, seed: int) -> dict[str, Any]:
    """Give a reader so many inputs; what came of it."""
    import hypothesis

    from tests.fuzz.readers import READERS

    reader = READERS[name]
    found: dict[str, Found] = {}
    given = refused_memory = 0
    slowest = 0.0

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=inputs,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(reader.inputs())
    def give(data: bytes) -> None:
        nonlocal given, slowest, refused_memory
        given += 1
        begun, before = time.process_time(), peak()
        failed = failure(reader, data)
        slowest = max(slowest, time.process_time() - begun)
        if before <= MEMORY < peak() and failed is None:
            refused_memory += 1
            failed = "memory", f"{peak() / 1e6:,.0f} MB"
        if failed is not None:
            where, what = failed
            kept = found.setdefault(where, Found(where, what, 0, data))
            kept.count += 1
            if len(data) < len(kept.data):
                kept.data, kept.what = data, what

    give()
    return {
        "reader": name,
        "seed": seed,
        "inputs": given,
        "slowest": slowest,
        "peak": peak(),
        "found": sorted(found.values(), key=lambda one: one.where),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reader")
    parser.add_argument("file", nargs="?", type=Path, help="an input to give again")
    parser.add_argument("--inputs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--kept", type=Path, default=Path("build/fuzz"))
    asked = parser.parse_args()
    from hypothesis import configuration

    configuration.set_hypothesis_home_dir(asked.kept.absolute() / "hypothesis")
    if asked.file is not None:
        from tests.fuzz.readers import READERS

        with tempfile.TemporaryDirectory() as folder:
            READERS[asked.reader].read(asked.file.read_bytes(), Path(folder))
        return 0
    told = fuzz(asked.reader, asked.inputs, asked.seed)
    asked.kept.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(told["found"], start=1):
        path = asked.kept / f"{asked.reader}-{number}.bin"
        path.write_bytes(one.data)
        told["found"][number - 1] = {
            "where": one.where,
            "what": one.what,
            "count": one.count,
            "file": str(path),
        }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main())
