"""Line numbers are those that the user sees: of a cell's own text, or none."""

import linecache
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.cell_lines import in_cells, lines_above, visible_line
from jupyter_mlgpu.measure.activity.activity import Line
from jupyter_mlgpu.testing.activity import activity, part

SLEEPS = "for _ in range(20): time.sleep(0.05)"


@pytest.mark.small
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


@pytest.mark.small
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


@pytest.mark.small
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


@pytest.mark.small
@pytest.mark.parametrize(("number", "seen"), [(1, Line(2)), (2, Line(3)), (9, None)])
def test_what_time_compiles_stands_below_it(number, seen):
    one = part("idle", line=number)
    assert in_cells(activity(one), "%%time\nx()\ny()", 2, None).parts[0].line == seen


def told(result):
    """The lines that a receipt names: in its answer, and as its hot lines."""
    receipt = result.receipt
    said = str(receipt["limit"]["said"])
    return said.partition("(line ")[2].partition(")")[0], [one["number"] for one in receipt.get("lines", ())]


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("cell", "line"),
    [
        (f"%%mlc_trace --ops\n{SLEEPS}", 2),
        (f"%%mlc_trace --items 3\n\n{SLEEPS}", 3),
        (f"%%mlc_trace --ops\n%%time\n{SLEEPS}", 3),
        (f"%%mlc_device cpu\n{SLEEPS}", 2),
        (f"\n\n{SLEEPS}", 3),
        (f"%%capture\nx = 1\n{SLEEPS}", 3),
        (f"%%time\nx = 1\n{SLEEPS}", 3),
    ],
)
def test_the_line_in_which_a_cell_waits_is_counted_from_the_top_that_the_user_sees(plain, cell, line):
    plain.run("import time")
    said, lines = told(plain.run(cell))
    assert said == str(line)
    assert set(lines) <= {line}


@pytest.mark.kernel
def test_code_that_a_cell_has_run_by_the_shell_has_no_line_of_that_cell(plain):
    plain.run("get_ipython().run_cell('import time\\n\\n\\n\\n\\n\\n\\ndef nap():\\n    time.sleep(0.9)\\n')")
    assert told(plain.run("nap()")) == ("", [])
    inside = plain.run("get_ipython().run_cell('\\n\\n\\n\\nimport time\\ntime.sleep(0.9)\\n')")
    assert told(inside) == ("", [])
    plain.run("\n\ndef nap2():\n    time.sleep(0.9)")
    said = str(plain.run("nap2()").receipt["limit"]["said"])
    assert "line 4 of" in said, said


@pytest.mark.kernel
def test_lines_of_a_traced_block_are_counted_in_the_text_of_its_cell(plain):
    plain.run("import time, jupyter_mlgpu")
    block = "\n\nwith jupyter_mlgpu.trace('nap') as record:\n    for _ in range(20): time.sleep(0.05)"
    assert plain.run(block).status == "ok"
    assert "(line 4)" in plain.run("print(record.limit.said)").text
