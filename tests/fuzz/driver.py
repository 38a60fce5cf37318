"""Gives one reader many inputs, in a process of its own, and tells what came of it as JSON.

    python -m tests.fuzz.driver records-show --inputs 2000 --seed 1
    python -m tests.fuzz.driver records-show build/fuzz/records-show-1.bin     # one again, with its traceback

It does not stop at the first failure: of each line that failed it keeps the smallest input.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import Any

#: Seconds of the processor that an input may take, and by the clock: what waits takes none of the first.
SLOW, WAITING = 5.0, 60.0
#: Bytes that the process may have in the machine's memory, at most.
MEMORY = 300_000_000
#: Where inputs that failed are kept, and what Hypothesis keeps for itself.
KEPT = Path(__file__).parents[2] / "build" / "fuzz"
#: Another one gives other inputs.
SEED = int(os.environ.get("JUPYTER_MLGPU_FUZZ_SEED", "21"))
_SPAWN = multiprocessing.get_context("spawn")
PACKAGE = f"{os.sep}jupyter_mlgpu{os.sep}"


class TooSlowError(BaseException):
    """Comes out of a reader that is too slow; nothing that catches errors catches it."""


@dataclass
class Found:
    """What failed at one line: how often, and the smallest input that it failed with."""

    where: str
    what: str
    count: int
    data: bytes
    file: str = ""


@dataclass
class Told:
    """What came of many inputs; `slowest` in seconds of the processor, `peak` in bytes of this process."""

    reader: str
    seed: int
    inputs: int = 0
    slowest: float = 0.0
    peak: int = 0
    found: dict[str, Found] = field(default_factory=dict)

    def note(self, where: str, what: str, data: bytes) -> None:
        """An input that failed."""
        one = self.found.setdefault(where, Found(where, what, 0, data))
        one.count += 1
        if len(data) < len(one.data):
            one.data, one.what = data, what

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data, without the inputs, which are in files."""
        found = [
            {"where": one.where, "what": one.what, "count": one.count, "file": one.file}
            for one in self.found.values()
        ]
        return {**vars(self), "found": found}


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


@cache
def prepare(reader: Any) -> None:
    """Let a reader read a whole file once: what it imports for that is no input's time."""
    if reader.whole is not None:
        with tempfile.TemporaryDirectory() as folder:
            reader.read(reader.whole(), Path(folder))


def failure(reader: Any, data: bytes) -> tuple[str, str] | None:
    """Where and how a reader failed with this input; None where it read it, or refused it in a sentence."""
    from jupyter_mlgpu.record.errors import MlgpuError

    prepare(reader)
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


def drawn(strategy: Any, count: int, seed: int, give: Callable[[bytes], None]) -> None:
    """Give so many inputs of a strategy, the same ones for the same seed."""
    import hypothesis
    from hypothesis import configuration
    from hypothesis.internal.conjecture import providers

    # It would also draw from the constants of our modules that happen to be imported.
    nothing = providers.Constants()
    providers._get_local_constants = lambda: nothing
    configuration.set_hypothesis_home_dir(KEPT / "hypothesis")

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def each(data: bytes) -> None:
        give(data)

    each()


def drawn_elsewhere(name: str, count: int, seed: int, give: Callable[[bytes], None]) -> None:
    """The same for a reader's own inputs, from another process: Hypothesis remembers what it has drawn."""
    receiving, sending = _SPAWN.Pipe(duplex=False)
    # A daemon, so that a reader that fails ends this process instead of waiting for who draws.
    drawing = _SPAWN.Process(target=_draw, args=(name, count, seed, sending), daemon=True)
    drawing.start()
    sending.close()
    with suppress(EOFError):
        while True:
            give(receiving.recv_bytes())
    drawing.join()
    if drawing.exitcode:
        raise RuntimeError(f"the inputs of {name} could not be made up")


def _draw(name: str, count: int, seed: int, sending: Connection) -> None:
    from tests.fuzz.readers import READERS

    drawn(READERS[name].inputs(), count, seed, sending.send_bytes)


def fuzz(name: str, reader: Any, count: int, seed: int, *, alone: bool = False) -> Told:
    """Give a reader so many inputs; what came of it. An input that failed is kept under build/fuzz.

    `alone` leaves the memory of this process to the reader.
    """
    told = Told(name, seed)

    def give(data: bytes) -> None:
        told.inputs += 1
        prepare(reader)
        begun, before = time.process_time(), peak()
        failed = failure(reader, data)
        told.slowest = max(told.slowest, time.process_time() - begun)
        told.peak = peak()
        if before <= MEMORY < told.peak and failed is None:
            failed = "memory", f"{told.peak / 1e6:,.0f} MB"
        if failed is not None:
            told.note(*failed, data)

    if alone:
        drawn_elsewhere(name, count, seed, give)
    else:
        drawn(reader.inputs(), count, seed, give)
    for number, one in enumerate(told.found.values(), start=1):
        one.file = str(KEPT / f"{name}-{number}.bin")
        KEPT.mkdir(parents=True, exist_ok=True)
        Path(one.file).write_bytes(one.data)
    return told


def main() -> int:
    """See the top of this module."""
    from tests.fuzz.readers import READERS

    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("file", nargs="?", type=Path, help="an input to give again")
    parser.add_argument("--inputs", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=SEED)
    asked = parser.parse_args()
    if asked.file is not None:
        with tempfile.TemporaryDirectory() as folder:
            READERS[asked.reader].read(asked.file.read_bytes(), Path(folder))
        return 0
    told = fuzz(asked.reader, READERS[asked.reader], asked.inputs, asked.seed, alone=True)
    print(json.dumps(told.to_json()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
