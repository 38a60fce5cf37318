"""Records how lab 8's functions are timed on a machine that other programs keep busy.

    python -m tests.teach.record_speedups SERIES

Writes SERIES series for each function and load to tests/data/speedups.json, each with the rounds of one
judgement that never stops early. The function is called in the sandbox, as `jupyter mlgpu class grade` does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_mlgpu.teach.grading import cells
from jupyter_mlgpu.teach.grading.judge import StudentsFunction
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.grading.student import Student
from jupyter_mlgpu.teach.lessons import speedups

ROOT = Path(__file__).resolve().parents[2]
LAB = ROOT / "notebooks/labs/source/lab_8_make_it_faster/lab_8_make_it_faster.ipynb"
RECORDED = ROOT / "tests/data/speedups.json"

#: Answers to the lab. The first two reach both steps of points, the third reaches one, the last two none.
ANSWERS = {
    "whole picture": """
def strongest(picture, kernels):
    count, tall, wide = kernels.shape
    rows, columns = picture.shape[0] - tall + 1, picture.shape[1] - wide + 1
    sums = np.zeros((count, rows, columns))
    for down in range(tall):
        for right in range(wide):
            sums += kernels[:, down, right, None, None] * picture[down : down + rows, right : right + columns]
    return sums.max(axis=(1, 2))
""",
    "windows": """
def strongest(picture, kernels):
    windows = np.lib.stride_tricks.sliding_window_view(picture, kernels.shape[1:])
    return np.einsum("hwij,cij->chw", windows, kernels).max(axis=(1, 2))
""",
    "place by place": """
def strongest(picture, kernels):
    count, tall, wide = kernels.shape
    best = np.full(count, -np.inf)
    for row in range(picture.shape[0] - tall + 1):
        for column in range(picture.shape[1] - wide + 1):
            window = picture[row : row + tall, column : column + wide]
            best = np.maximum(best, (window * kernels).sum(axis=(1, 2)))
    return best
""",
    "lists": """
def strongest(picture, kernels):
    numbers, (_, tall, wide) = picture.tolist(), kernels.shape
    places = [
        (row, column)
        for row in range(len(numbers) - tall + 1)
        for column in range(len(numbers[0]) - wide + 1)
    ]
    best = []
    for kernel in kernels.tolist():
        best.append(max(
            sum(
                numbers[row + down][column + right] * kernel[down][right]
                for down in range(tall)
                for right in range(wide)
            )
            for row, column in places
        ))
    return np.array(best)
""",
    "slow": "strongest = slow_strongest",
}

#: Programs that run beside a measurement, as often as the machine has processors.
LOADS = {
    "none": "",
    "busy": "while True: pass",
    "bursts": "import random, time\nwhile True:\n    until = time.monotonic() + random.expovariate(20)\n"
    "    while time.monotonic() < until: pass\n    time.sleep(random.expovariate(20))",
    "memory": "import numpy as np\na = np.ones(8_000_000)\nwhile True: a = a + 1.0",
}


@contextmanager
def beside(load: str) -> Iterator[None]:
    """Run a load's program within the block, one for each processor."""
    count = (os.cpu_count() or 1) if load else 0
    program = [sys.executable, "-c", load]
    others = [subprocess.Popen(program, start_new_session=True) for _ in range(count)]
    try:
        yield
    finally:
        for one in others:
            one.kill()
            one.wait()


def given_cells() -> list[str]:
    """The code of the lab's cells that define the slow function and its data."""
    source = json.loads(LAB.read_text("utf-8"))
    return [cell.python for cell in cells.teachers_cells(source) if cell.name in ("import", "slow")]


def names_of_the_lab() -> dict[str, object]:
    """What the lab's given cells define, for the grader's side."""
    names: dict[str, object] = {}
    for code in given_cells():
        exec(code, names)
    return names


@contextmanager
def student_with(answer: str) -> Iterator[Student]:
    """A student in the sandbox who has given this answer."""
    with Student(SANDBOXES["bubblewrap"], seconds=300) as student:
        for code in [*given_cells(), answer]:
            assert student.run(code) == []
        yield student


def rounds_of(student: Student) -> Iterator[speedups.Round]:
    """The rounds that lab 8's tests judge."""
    lab = names_of_the_lab()
    function = StudentsFunction(student, "strongest")
    return speedups.timed_rounds(function, lab["slow_strongest"], lab["fresh"], student.paused)


def main(series: int) -> None:
    """Record, and say how far it is."""
    found = []
    for number in range(series):
        for load, code in LOADS.items():
            for name, answer in ANSWERS.items():
                with beside(code), student_with(answer) as student:
                    rounds = list(rounds_of(student))
                brief = [[round(seconds, 6) for seconds in one] for one in rounds]
                found.append({"answer": name, "load": load, "rounds": brief})
                print(
                    number,
                    load,
                    name,
                    *(speedups.judge(rounds, least).state for least in (4, 20)),
                    flush=True,
                )
                RECORDED.write_text(json.dumps(found), "utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]))
