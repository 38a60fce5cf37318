"""The lines that a receipt names, of real cells with magics, empty lines and code that a cell has run."""

import pytest

pytestmark = pytest.mark.kernel
SLEEPS = "for _ in range(20): time.sleep(0.05)"


def told(result):
    """The lines that a receipt names: in its answer, and as its hot lines."""
    receipt = result.receipt
    said = str(receipt["limit"]["said"])
    return said.partition("(line ")[2].partition(")")[0], [one["number"] for one in receipt.get("lines", ())]


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


def test_code_that_a_cell_has_run_by_the_shell_has_no_line_of_that_cell(plain):
    plain.run("get_ipython().run_cell('import time\\n\\n\\n\\n\\n\\n\\ndef nap():\\n    time.sleep(0.9)\\n')")
    assert told(plain.run("nap()")) == ("", [])
    inside = plain.run("get_ipython().run_cell('\\n\\n\\n\\nimport time\\ntime.sleep(0.9)\\n')")
    assert told(inside) == ("", [])
    plain.run("\n\ndef nap2():\n    time.sleep(0.9)")
    said = str(plain.run("nap2()").receipt["limit"]["said"])
    assert "line 4 of" in said, said


def test_lines_of_a_traced_block_are_counted_in_the_text_of_its_cell(plain):
    plain.run("import time, jupyter_mlgpu")
    block = "\n\nwith jupyter_mlgpu.trace('nap') as record:\n    for _ in range(20): time.sleep(0.05)"
    assert plain.run(block).status == "ok"
    assert "(line 4)" in plain.run("print(record.limit.said)").text
