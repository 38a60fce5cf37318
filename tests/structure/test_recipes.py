"""The recipes of docs/design.md, performed on a copy of the package: what they name is all that it takes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell

PROJECT = Path(__file__).parents[2]
PACKAGE = PROJECT / "jupyter_mlgpu"


class Copy:
    """A copy of the package, and the files of it that a recipe has touched."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "jupyter_mlgpu"
        self.touched: set[str] = set()
        shutil.copytree(
            PACKAGE, self.root, ignore=shutil.ignore_patterns("__pycache__", "static", "labextension")
        )

    def add(self, path: str, text: str) -> None:
        """A new file, in a new folder where there is none."""
        file = self.root / path
        assert not file.exists(), f"{path} is there already"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        self.touched.add(path)

    def insert(self, path: str, line: str, *, after: str) -> None:
        """A line behind the one that holds `after`, which stands there once."""
        file = self.root / path
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        (at,) = [number for number, one in enumerate(lines) if after in one]
        lines.insert(at + 1, f"{line}\n")
        file.write_text("".join(lines), encoding="utf-8")
        self.touched.add(path)

    def replace(self, path: str, old: str, new: str) -> None:
        """Other text in place of one that stands there once."""
        file = self.root / path
        text = file.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old} stands in {path} {text.count(old)} times"
        file.write_text(text.replace(old, new), encoding="utf-8")
        self.touched.add(path)

    def bring(self, path: str | Path) -> None:
        """A file or a folder of the project beside the package."""
        there = self.root.parent / path
        there.parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (PROJECT / path).is_dir() else shutil.copy
        copy(PROJECT / path, there)

    def add_cells(self, path: str, *cells: tuple[str, list[str]]) -> None:
        """Code cells with their tags at the end of a notebook."""
        notebook = nbformat.read(self.root / path, 4)  # type: ignore[no-untyped-call]
        for source, tags in cells:
            cell = new_code_cell(source, metadata={"tags": tags})  # type: ignore[no-untyped-call]
            notebook.cells.append(cell)
        nbformat.write(notebook, self.root / path)  # type: ignore[no-untyped-call]
        self.touched.add(path)

    def python(self, code: str) -> str:
        """What code prints in a fresh process that imports the copy."""
        ran = subprocess.run(
            [sys.executable, "-c", code], cwd=self.root.parent, capture_output=True, text=True, check=False
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_framework_is_a_folder_and_a_line(copy: Copy) -> None:
    copy.add(
        "measure/frameworks/abacus/__init__.py",
        "from jupyter_mlgpu.measure.frameworks.base import Framework\n"
        "WHERE = 'jupyter_mlgpu.measure.frameworks.abacus.backend:'\n"
        "FRAMEWORK = Framework('abacus', 'Abacus', WHERE + 'make', WHERE + 'sample')\n",
    )
    copy.add(
        "measure/frameworks/abacus/backend.py",
        "from jupyter_mlgpu.testing import FakeBackend\n"
        "BACKEND = FakeBackend('abacus', ('cpu:0', 'gpu:0'))\n"
        "def make(): return BACKEND\n",
    )
    line = '    "abacus": Registered("abacus", "jupyter_mlgpu.measure.frameworks.abacus:FRAMEWORK"),'
    copy.insert("measure/frameworks/registry.py", line, after='"mlx": Registered(')
    receipt = copy.python(
        "import sys, types; sys.modules['abacus'] = types.ModuleType('abacus')\n"
        "import jupyter_mlgpu\n"
        "from jupyter_mlgpu.measure.frameworks.abacus.backend import BACKEND\n"
        "with jupyter_mlgpu.trace('counting') as traced:\n"
        "    BACKEND.run(3, 'gpu:0')\n"
        "from jupyter_mlgpu.show.receipts import html\n"
        "print(html.receipt(jupyter_mlgpu.records()[0]))"
    )
    assert "ran on gpu:0" in receipt
    assert "gpu:0 (Abacus, gpu): 3 operations" in receipt
    folders = {str(Path(path).parent) for path in copy.touched if "abacus" in path}
    assert (len(folders), copy.touched - {p for p in copy.touched if "abacus" in p}) == (
        1,
        {"measure/frameworks/registry.py"},
    )


def test_a_figure_of_a_receipt_and_of_the_sidebar_is_a_line(copy: Copy) -> None:
    line = '        "readings": say("{count} readings taken", count=len(record.readings)),'
    copy.insert("show/receipts/head.py", line, after='"gpu": busy,')
    shown = copy.python(
        "from jupyter_mlgpu.testing import example_record\n"
        "from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle\n"
        "made = bundle(example_record())\n"
        "print(made['text/plain'], made['text/html'], made[MIME_TYPE]['head'])"
    )
    assert shown.count("readings taken") == 3, "in the text, the HTML, and what the browser shows"
    assert len(copy.touched) == 1


def test_a_kind_of_limit_is_a_word_and_its_sentences(copy: Copy) -> None:
    copy.insert("record/limit.py", '    "thermal",', after='    "unknown",')
    words = '    "thermal": LimitWords(say("cooling down"), say("Most of the time, the chip was too hot.")),'
    copy.insert("explain/limits/kinds.py", words, after="KINDS: Mapping[LimitKind, LimitWords] = {")
    shown = copy.python(
        "from msgspec.structs import replace\n"
        "from jupyter_mlgpu.record.limit import Limit\n"
        "from jupyter_mlgpu.record.record import Record\n"
        "from jupyter_mlgpu.record.sentence import say\n"
        "from jupyter_mlgpu.show.page.rendering import as_text\n"
        "from jupyter_mlgpu.show.receipts import text\n"
        "from jupyter_mlgpu.show.why.page import Reasons\n"
        "from jupyter_mlgpu.testing import example_record\n"
        "limit = Limit('thermal', 'sure', say('It was hot.'), 0.9)\n"
        "record = Record.from_json(replace(example_record(), limit=limit).to_json())\n"
        "print(text.receipt(record), as_text(Reasons(record)))"
    )
    assert "90 % cooling down" in shown
    assert "the chip was too hot" in shown
    assert copy.touched == {"record/limit.py", "explain/limits/kinds.py"}


def test_a_probe_is_a_module_and_its_entry_in_the_table_of_quantities(copy: Copy) -> None:
    copy.insert(
        "record/quantities.py",
        '    "collections": _Of("collections", say("Garbage collections")),',
        after='"energy": _Of(',
    )
    copy.add(
        "measure/probes/cell/collections.py",
        '"""How often Python\'s garbage collector ran while a cell did."""\n'
        "import gc\n"
        "from jupyter_mlgpu.record.reading import new_reading\n"
        "def probe(instruments): return Collections()\n"
        "def count(): return sum(one['collections'] for one in gc.get_stats())\n"
        "class Collections:\n"
        "    quantity = 'collections'\n"
        "    def start(self):\n"
        "        before = count()\n"
        "        return lambda: new_reading('collections', count() - before, 'process', 'other', 1)\n",
    )
    shown = copy.python(
        "import gc, jupyter_mlgpu\n"
        "gc.disable()\n"
        "with jupyter_mlgpu.trace('collecting'):\n"
        "    gc.collect(); gc.collect(); gc.collect()\n"
        "(record,) = jupyter_mlgpu.records()\n"
        "from jupyter_mlgpu.record.record import Record\n"
        "from jupyter_mlgpu.show.receipts import html\n"
        "(reading,) = [one for one in Record.from_json(record.to_json()).readings if one.value == 3]\n"
        "print(reading.quantity, html.receipt(record))"
    )
    assert shown.startswith("collections ")
    assert "Garbage collections<td>3\N{NO-BREAK SPACE}collections<td>process" in shown
    assert len(copy.touched) == 2


def test_an_option_of_a_magic_is_where_its_work_is_done_and_a_line_of_its_help(copy: Copy) -> None:
    magics, command = "jupyter/notebook/magics/magics.py", "jupyter/notebook/magics/export_command.py"
    copy.insert(
        magics,
        "        %mlc_trace export --newest 5 trace.json   the same for the last five cells",
        after="%mlc_trace export --cell 10",
    )
    copy.insert(
        command, '    parser.add_argument("--newest", type=int)', after='parser.add_argument("--cell")'
    )
    copy.insert(
        command,
        "    if arguments.newest is not None:\n        records = records[-arguments.newest :]",
        after="records: Sequence[Record] = runtime.store.records()",
    )
    shown = copy.python(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "shell.run_line_magic('load_ext', 'jupyter_mlgpu')\n"
        "for number in range(3): shell.run_cell(f'a = {number}', store_history=True)\n"
        "shell.run_cell('%mlc_trace export --newest 2 trace.json')\n"
        "print(shell.object_inspect_text('%mlc_trace'))"
    )
    assert "from 2 cells to trace.json" in shown
    assert "the same for the last five cells" in shown
    assert copy.touched == {magics, command}


def test_an_exercise_of_a_lesson_is_a_blank_a_reference_and_its_help(copy: Copy) -> None:
    pytest.importorskip("numpy", reason="the exercises of the lesson need NumPy")
    (lesson,) = PROJECT.glob("notebooks/02_*.ipynb")
    copy.bring("scripts")
    copy.bring(lesson.relative_to(PROJECT))
    copy.replace(
        "teach/lessons/exercises/lesson_02.py",
        "EXERCISES = (",
        "def add_two(x: float, y: float) -> float:\n"
        '    """The sum of two numbers."""\n'
        "    return x + y\n\n\n"
        "EXERCISES = (\n"
        '    Exercise("add_two", say("return the sum of x and y"), add_two, {"x": 1.0, "y": 20.0},\n'
        '        lambda draw: {"x": draw.uniform(1, 9), "y": draw.uniform(1, 9)}),',
    )
    copy.insert(
        "teach/lessons/mistakes/lesson_02.py",
        '    "add_two": coaching(\n'
        '        [say("How many summands are there?"), say("Take both."), say("Add them.")],\n'
        '        [(say("You left out y."), lambda x, y: x)],\n'
        "    ),",
        after="COACHING = {",
    )
    blank = 'def add_two(x, y):\n    """The sum of two numbers."""\n    return ...\n'
    copy.add_cells(
        f"../notebooks/{lesson.name}",
        (blank, ["exercise"]),
        ("from jupyter_mlgpu.lessons import check\n\ncheck('add_two', add_two)", []),
    )
    shown = copy.python(
        "import sys; sys.path.insert(0, 'scripts')\n"
        "from pathlib import Path\n"
        "import lesson_solutions, nbformat\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "(path,) = Path('notebooks').glob('*.ipynb')\n"
        "lesson = nbformat.read(path, 4)\n"
        "for notebook in (lesson, lesson_solutions.build(lesson, path)):\n"
        "    for cell in notebook.cells[-2:]: shell.run_cell(cell.source, store_history=True)\n"
        "shell.run_cell('check(\"add_two\", lambda x, y: x)', store_history=True)"
    )
    assert shown.count("○ Still open.") == 1, "in the lesson"
    assert shown.count("✓ Right.") == 1, "in its solutions"
    assert "You left out y." in shown
    assert len(copy.touched) == 3
