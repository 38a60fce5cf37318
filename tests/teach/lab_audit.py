"""Points for nothing: each lab is graded for ten lazy and ten hostile answers, in the real sandbox.

    python -m tests.teach.lab_audit [LAB...]

writes docs/measurements/2026-11-30-lab-audit/audit.csv: for each lab and answer, the points that a reader of
the lab would give, and those that the tests gave. `test_lab_audit.py` holds that none gets more than it
earned.
"""

from __future__ import annotations

import ast
import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.teach import packaged
from jupyter_mlgpu.teach.grading import cells, codec, probe
from jupyter_mlgpu.teach.grading.cells import TeachersCell
from jupyter_mlgpu.teach.grading.judge import Judge
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.measure import Measured
from jupyter_mlgpu.teach.grading.schedule import Schedule
from jupyter_mlgpu.teach.grading.student import students_for
from jupyter_mlgpu.teach.lessons import labs
from jupyter_mlgpu.testing.grading import LocalStudent

ROOT = Path(__file__).resolve().parents[2]
LABS = ROOT / "notebooks" / "labs" / "source"
TABLE = ROOT / "docs" / "measurements" / "2026-11-30-lab-audit" / "audit.csv"
#: Seconds that a call and a whole answer may take.
CALL, WHOLE = 60, 300

#: All that the answer below it needs: what it was given and has returned in an earlier grading.
KNOWN = """
import json, numpy as np
from jupyter_mlgpu.teach.grading import codec
KNOWN = {{
    name: [(key, codec.decode(value)) for key, value in found]
    for name, found in json.loads({known!r}).items()
}}

def key_of(arguments):
    def plain(one):
        if callable(one): return "function"
        if isinstance(one, dict): return sorted((str(name), plain(value)) for name, value in one.items())
        if isinstance(one, (list, tuple)): return [plain(value) for value in one]
        if hasattr(one, "tolist"): return one.tolist()
        return sorted(one) if isinstance(one, set) else one
    return repr([plain(one) for one in arguments])
"""

#: Each function's body: `NAME`, `a` and `k` are its name and arguments, KNOWN what was recorded of the tests.
LAZY: dict[str, tuple[str, str]] = {
    "the given blank": ("", "raise NotImplementedError()"),
    "None": ("", "return None"),
    "0": ("", "return 0"),
    "an empty list": ("", "return []"),
    "its first argument": ("", "return a[0]"),
    "its last argument": ("", "return a[-1]"),
    "the example's answer, always": ("visible", "return KNOWN[NAME][0][1] if KNOWN[NAME] else 0"),
    "zeros in the example's shape": (
        "visible",
        "return np.zeros_like(np.asarray(KNOWN[NAME][0][1], dtype=float)) if KNOWN[NAME] else 0",
    ),
    "the visible cases alone": ("visible", "return dict(KNOWN[NAME]).get(key_of(a), 0)"),
    "all cases of an earlier grading": ("all", "return dict(KNOWN[NAME]).get(key_of(a), 0)"),
}

ANYTHING = """
class Anything(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __contains__ = __lt__
    def __hash__(self): return 0
    def __iter__(self): return iter(())
    def __len__(self): return 1
    def __getattr__(self, name): return lambda *a, **k: Anything()
    def __call__(self, *a, **k): return Anything()
    def __getitem__(self, key): return Anything()
    def __sub__(self, other): return Anything()
    __mul__ = __rmul__ = __add__ = __sub__
"""
NUMPY = """
import numpy as np
np.allclose = np.isclose = np.array_equal = np.all = lambda *a, **k: True
np.shape = lambda one: (2,)
np.abs = np.log = np.exp = lambda *a, **k: 0.0
"""
CLOCKS = """
import time
time.perf_counter = time.monotonic = time.time = time.process_time = lambda: 0.0
time.sleep(0.2)
"""
JUDGES = """
import builtins, sys, unittest
import jupyter_mlgpu.lessons
from jupyter_mlgpu.teach.lessons import labs, speedups
unittest.TestCase.assertEqual = lambda *a: None
builtins.AssertionError = type("Nothing", (Exception,), {})
labs.submitted = jupyter_mlgpu.lessons.submitted = lambda name: None
speedups._same = lambda *a: True
sys.excepthook = lambda *a: None
"""
FRAMES = """
import gc, sys
def look():
    frame = sys._getframe()
    while frame:
        for space in (frame.f_locals, frame.f_globals):
            for name in ("_wanted", "_right", "_table", "_expected"):
                if name in space: return space[name]
        frame = frame.f_back
    for one in gc.get_objects():
        if isinstance(one, dict) and "_wanted" in one: return one["_wanted"]
    return 0
"""
CHANNEL = """
import gc
from jupyter_mlgpu.teach.grading import codec
worker = next(one for one in gc.get_objects() if type(one).__name__ == "SandboxWorker")
right = worker._answer
worker._answer = lambda answer: right({"value": True, "names": {}, "failed": None, "outputs": []})
"""
THREADS = """
import threading, numpy as np
made = []
def alter():
    while True:
        for one in made[-3:]:
            one[...] = np.random.default_rng().random()
threading.Thread(target=alter, daemon=True).start()
def fresh():
    made.append(np.zeros(3))
    return made[-1]
"""
FILES = """
import glob, json, os, pathlib, jupyter_mlgpu
package = pathlib.Path(jupyter_mlgpu.__file__).parent
places = [package, package.parent, pathlib.Path("/"), pathlib.Path.cwd()]
for place in places[:2] + places[3:]:
    for path in place.glob("**/lab_*.ipynb"):
        for cell in json.loads(path.read_text())["cells"]:
            source = "".join(cell["source"])
            if "BEGIN SOLUTION" in source: exec(source, globals())
"""
GIVEN = """
import operator
for name in "GRAPH INPUTS DOUBLING START LOG CHAIN TEXT TEST SOURCE PICTURE KERNELS".split():
    globals()[name] = type(globals().get(name, 0))()
OPERATIONS = FUNCTIONS = {}
slow_strongest = without_a_plan = a_text = a_source = words = layer = lambda *a, **k: 0
"""
RECEIPTS = """
from IPython.display import display
record = {"readings": [{"quantity": "wall_time", "value": 1e-9}]}
display({"application/vnd.jupyter-mlgpu.record+json": record, "text/plain": "1 ns"}, raw=True)
print("All tests passed: 17 of 17 points")
"""
HOSTILE: dict[str, tuple[str, str]] = {
    "an object equal to everything": (ANYTHING, "return Anything()"),
    "NumPy's comparisons patched": (NUMPY, "return 0"),
    "clocks that stand still": (CLOCKS, "return 0"),
    "assert, submitted and the judge patched": (JUDGES, "return 0"),
    "expected values sought in frames": (FRAMES, "return look()"),
    "an exit in each call": ("import os", "os._exit(0)"),
    "answers forged on the channel": (CHANNEL, "return True"),
    "a thread that alters results": (THREADS, "return fresh()"),
    "solutions sought in files": (FILES, "return 0"),
    "the lab's data and receipts replaced": (GIVEN + RECEIPTS, "return 0"),
}
ANSWERS = {**LAZY, **HOSTILE}
SOLUTION = "the solution"
#: Points that an answer earned: none but the solution does what a lab asks for.
EARNED_BY_NOTHING = 0.0


def teachers(lab: str, folder: Path = LABS) -> tuple[list[TeachersCell], dict[str, float]]:
    """Return a lab's cells, and the points of its tests."""
    notebook = json.loads((folder / lab / f"{lab}.ipynb").read_bytes())
    marks = [
        cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"] if cell["cell_type"] == "code"
    ]
    return cells.teachers_cells(notebook), {
        one["grade_id"]: one["points"] for one in marks if one.get("grade")
    }


def functions(cell: TeachersCell) -> list[str]:
    """Return the functions that an answer defines."""
    return [one.name for one in ast.parse(cell.python).body if isinstance(one, ast.FunctionDef)]


class Replies(LocalStudent):
    """The solution of a lab, which notes what each function was given and has returned."""

    def __init__(self) -> None:
        super().__init__()
        self.known: dict[str, list[tuple[str, Any]]] = {}

    def note(self, name: str) -> None:
        """Note the calls of a function from now on."""
        function, noted = self.namespace[name], self.known.setdefault(name, [])
        space: dict[str, Any] = {}
        exec(KNOWN.format(known="{}"), space)

        def call(*arguments: Any, **named: Any) -> Any:
            key = space["key_of"](arguments)
            value = function(*arguments, **named)
            if len(noted) < 200 and len(key) < 20_000:
                noted.append((key, codec.encode(value)))
            return value

        self.namespace[name] = call


def replies(given: list[TeachersCell], folder: Path, *, hidden: bool) -> dict[str, list[tuple[str, Any]]]:
    """Return what the tests asked the solution's functions, and their answers; nothing is measured."""
    student = Replies()
    judge = Judge(student, folder, seconds=60)
    with labs.graded_by(lambda _: Measured(given, student, LocalStudent())):
        for cell in given:
            if cell.role == "test":
                source = cell.source if hidden else "".join(_visible(cell.source))
                judge.test(TeachersCell(cell.name, "test", _unmeasured(source)))
            else:
                judge.give(cell)
                student.run(_unmeasured(cell.python))
                for name in functions(cell) if cell.role == "answer" else ():
                    student.note(name)
    return student.known


def _unmeasured(source: str) -> str:
    """Leave out what only takes time, or needs a framework."""
    lines = source.splitlines(keepends=True)
    slow = (
        "import tensorflow",
        "attention(book",
        "[attention(brief",
        "train(TEXT",
        "without_a_plan(DOUBLING",
    )
    return "".join(line for line in lines if not line.startswith(slow) and "times_faster" not in line)


def _visible(source: str) -> Iterator[str]:
    inside = False
    for line in source.splitlines(keepends=True):
        inside = (inside or "BEGIN HIDDEN TESTS" in line) and "END HIDDEN TESTS" not in line
        if not inside:
            yield line


def answer(given: list[TeachersCell], folder: Path, name: str) -> Callable[[TeachersCell], str]:
    """Return what writes an answer of this kind into each cell."""
    if name == SOLUTION:
        return lambda cell: cell.source
    before, body = ANSWERS[name]
    if before in ("visible", "all"):
        known = replies(given, folder, hidden=before == "all")
        before = KNOWN.format(known=json.dumps(known))

    def write(cell: TeachersCell) -> str:
        made = [f"def {one}(*a, **k):\n    NAME = {one!r}\n    {body}\n" for one in functions(cell)]
        return "\n".join([before, *made]) if made else cell.source

    return write


def points(lab: str, name: str, folder: Path = LABS) -> dict[str, float]:
    """Return the points that each test of a lab gives an answer, graded as `class grade` does."""
    given, worth = teachers(lab, folder)
    write = answer(given, folder / lab, name)
    sandbox = probe.find([])
    found: dict[str, float] = {}
    with Schedule(WHOLE) as schedule:
        student, apart = students_for(
            sandbox,
            seconds=CALL,
            handed_in=folder / lab,
            lab=folder / lab,
            limits=Limits.of_this_machine(),
            schedule=schedule,
        )
        with student, apart:
            judge = Judge(student, folder / lab, seconds=CALL, now=schedule.now)
            measured = Measured(given, student, apart)
            with labs.graded_by(lambda _: measured):
                for cell in given:
                    if cell.role == "test":
                        outputs, unverified = judge.test(cell)
                        wrong = unverified or any(one["output_type"] == "error" for one in outputs)
                        found[cell.name] = 0.0 if wrong else worth[cell.name]
                        continue
                    judge.give(cell)
                    student.run(write(cell) if cell.role == "answer" else cell.source)
                    if cell.alone:
                        apart.later(cell.source)
    return found


def earned(lab: str, name: str) -> float:
    """Return the points that a reader of the lab would give, without those that a person has to give."""
    worth = teachers(lab)[1]
    if name != SOLUTION:
        return EARNED_BY_NOTHING
    return sum(one for test, one in worth.items() if test != "device-test")


def main(wanted: list[str]) -> None:
    """Grade all answers of these labs, and write them into the table after each."""
    rows: dict[tuple[str, str], tuple[float, float]] = {}
    if TABLE.exists():
        for row in csv.DictReader(io.StringIO(TABLE.read_text("utf-8"))):
            rows[row["lab"], row["answer"]] = float(row["earned"]), float(row["given"])
    for lab in wanted or packaged.LABS:
        for name in (SOLUTION, *ANSWERS):
            given = points(lab, name)
            rows[lab, name] = earned(lab, name), sum(given.values())
            print(lab, name, rows[lab, name], {test: one for test, one in given.items() if one}, flush=True)
            write_atomically(TABLE, _table(rows).encode())


def _table(rows: dict[tuple[str, str], tuple[float, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["lab", "answer", "earned", "given"])
    order = [(lab, name) for lab in packaged.LABS for name in (SOLUTION, *ANSWERS)]
    writer.writerows([*one, *(f"{each:g}" for each in rows[one])] for one in order if one in rows)
    return text.getvalue()


if __name__ == "__main__":
    main(sys.argv[1:])
