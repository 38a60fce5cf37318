"""Line numbers are those that the user sees: of a cell's own text, or none."""

import linecache
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.cell.cell_lines import in_cells, lines_above, visible_line
from jupyter_mlgpu.measure.activity.activity import Line
from jupyter_mlgpu.testing.activity import activity, part


@pytest.mark.parametrize(
    ("number", "compiled", "code", "seen"),
    [
        (2, "x = 1\ny()\n", "x = 1\ny()", 2),
        (1, "x = 1\ny()\n", "\n\nx = 1\ny()\n\n", 3),
        (2, "# %%mlc_trace --ops\ny()\n", "%%mlc_trace --ops\ny()", 2),
        (
            2,
            "get_ipython().run_line_magic('mlc_device', 'cpu --this-cell')\ny()\n",
            "%%mlc_device cpu\ny()",
            2,
        ),
        (2, "x = 1\ny()\n", "%%capture\nx = 1\ny()", 3),
        (1, "y()\n", "    y()\n", 1),
        # A magic over two lines became one.
        (2, "get_ipython().system('ls -l')\ny()\n", "!ls \\\n -l\ny()", 3),
        # Code that the cell has compiled, whose text is not its own.
        (
            9,
            "import time\n\n\n\n\n\n\ndef nap():\n    time.sleep(0.6)\n",
            "get_ipython().run_cell('...')",
            None,
        ),
        (1, "y()\n", "get_ipython().run_cell('y()')", None),
        (1, "y()\n", "a()\nb()", None),
        (3, "y()\n", "y()\n\n\n", None),
        (0, "y()\n", "y()", None),
        (1, "", "y()", None),
    ],
)
def test_a_compiled_line_is_found_in_the_text_of_its_cell(number, compiled, code, seen):
    assert visible_line(number, compiled.splitlines(keepends=True), code) == seen


def test_lines_above_the_code_are_empty_ones_and_cell_magics():
    assert lines_above("x = 1\n") == 0
    assert lines_above("\n\nx = 1\n") == 2
    assert lines_above("%%mlc_trace --ops\n%%time\n\nx = 1\n") == 3
    assert lines_above("") == 0


@pytest.fixture
def compiled():
    """Makes a file of compiled code known, as IPython does."""
    names = []

    def add(text):
        names.append(f"<compiled {len(names)}>")
        linecache.cache[names[-1]] = (len(text), None, text.splitlines(keepends=True), names[-1])
        return names[-1]

    yield add
    for name in names:
        del linecache.cache[name]


def test_lines_of_earlier_cells_are_counted_in_their_own_text(compiled):
    first, nested = compiled("def f():\n    wait()\n"), compiled("\n\ndef g():\n    wait()\n")
    shell = SimpleNamespace(history_manager=SimpleNamespace(input_hist_raw=["", "\n\ndef f():\n    wait()"]))
    parts = [
        replace(part("idle"), line=line)
        for line in (Line(2, 1, first), Line(4, 1, nested), Line(1, 2, compiled("f()\n")), Line(7, None))
    ]
    moved = in_cells(activity(*parts), "f()", 2, shell)
    assert [one.line for one in moved.parts] == [Line(4, 1), None, Line(1), None]
    assert in_cells(activity(parts[2]), "f()", None, shell).parts[0].line == Line(1)


@pytest.mark.parametrize(("number", "seen"), [(1, Line(2)), (2, Line(3)), (9, None)])
def test_what_time_compiles_stands_below_it(number, seen):
    one = part("idle", line=number)
    assert in_cells(activity(one), "%%time\nx()\ny()", 2, None).parts[0].line == seen


def test_the_lines_of_a_strip_are_counted_as_the_user_sees_them():
    seen = replace(activity(), lane_lines=(Line(2), None, Line(99)))
    assert in_cells(seen, "%%time\nx()\ny()", 2, None).lane_lines == (Line(3), None, None)
