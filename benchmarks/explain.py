"""What `jupyter mlgpu explain` needs for a log of 100 MB: seconds and memory, for both forms of output.

The log is a mixture, the same every time: most of it are lines that a training loop prints; the others, in
equal parts, are messages of the catalogue, unknown native lines, lines that are all different, progress bars
and messages of several lines.

Exit status 1: a run took longer, or more memory, than its target.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import machine
from jupyter_mlgpu.explain.logs.catalogue import Catalogue

MEGABYTES = 100
#: Targets: seconds, and MB of the process's peak memory.
SECONDS = 20.0
MEMORY = 300.0

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_PROGRAM = "import sys; from jupyter_mlgpu.jupyter.cli import main; sys.exit(main())"


def write_log(path: Path, megabytes: float) -> int:
    """Write the mixture; returns its number of lines."""
    chance = random.Random(1)
    kinds, weights = zip(*_kinds(chance).items(), strict=True)
    lines = size = 0
    with path.open("wb") as file:
        while size < megabytes * 1e6:
            pieces = [kind() for kind in chance.choices(kinds, weights, k=1000)]
            block = "".join(pieces).encode()
            file.write(block)
            size += len(block)
            lines += block.count(b"\n")
    return lines


def _kinds(chance: random.Random) -> dict[Callable[[], str], int]:
    """Makers of lines, and how often each is asked."""
    examples: list[str] = [
        example
        for definition in Catalogue.load().definitions.values()
        for example in definition.tables["examples"]
    ]

    def stamp() -> str:
        return (
            f"2021-06-14 09:{chance.randrange(60):02}:{chance.randrange(60):02}.{chance.randrange(10**6):06}"
        )

    def word() -> str:
        return "".join(chance.choices(_LETTERS, k=8))

    def known() -> str:
        return chance.choice(examples) + "\n"

    def printed() -> str:
        step, loss, rate = chance.randrange(10**4), chance.random(), chance.random()
        figures = f"loss: {loss:.4f} - accuracy: {rate:.4f} - val_loss: {loss:.4f} - val_accuracy: {rate:.4f}"
        return f"{step}/{step} [==============================] - {step % 40}s 3ms/step - {figures}\n"

    def native() -> str:
        return f"{stamp()}: I tensorflow/core/x.cc:{chance.randrange(900)}] step of node {word()} begins\n"

    def different() -> str:
        return " ".join(word() for _ in range(12)) + "\n"

    def bar() -> str:
        done = chance.randrange(100)
        return f"{done}%|{'█' * (done // 10):10}| {done}/100 [00:{done:02}<00:01, 25.31it/s]\r"

    def several() -> str:
        node = word()
        return f"{stamp()}: W tensorflow/core/x.cc:9] Details:\n\t[[{{{{node {node}}}}}]]\n\tof {word()}\n"

    return {printed: 60, known: 8, native: 8, different: 8, bar: 8, several: 8}


def measure(log: Path, *words: str) -> tuple[float, float, float]:
    """Run the command on a log; returns its seconds, those of them on a CPU, and its peak memory in MB."""
    command = [sys.executable, "-c", _PROGRAM, "explain", *words, str(log)]
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"`{' '.join(command)}` ended with status {child.returncode}.")
    return (
        seconds,
        usage.ru_utime + usage.ru_stime,
        usage.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3),
    )


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=MEGABYTES, help="size of the log")
    megabytes = parser.parse_args(words).megabytes
    for name, value in machine.describe(["jupyter_mlgpu"]).items():
        print(f"{name}: {value}")
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "mixed.log"
        lines = write_log(log, megabytes)
        print(f"a log of {megabytes:g} MB, {lines:,} lines")
        for name, options in {"text": (), "JSON": ("--json",)}.items():
            seconds, busy, memory = measure(log, *options)
            figures = f"{seconds:.1f} s ({busy:.1f} s on a CPU), {memory:.0f} MB"
            print(f"{name}: {figures}, {lines / seconds:,.0f} lines/s")
            missed = missed or (megabytes >= MEGABYTES and seconds > SECONDS) or memory > MEMORY
    print("missed" if missed else "holds")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
