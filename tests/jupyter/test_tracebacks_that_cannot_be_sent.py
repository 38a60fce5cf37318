"""An exception whose traceback no message can hold: the cell has its receipt all the same."""

import pytest

pytestmark = pytest.mark.kernel

OUTCOMES = {
    r"raise ValueError('\ud800')": "error",
    r"raise SyntaxError('\ud800')": "error",
    r"raise SystemExit('\ud800')": "error",
    r"raise KeyboardInterrupt('\ud800')": "interrupted",
    "class Half(Exception):\n    def __str__(self): return '\\ud800'\nraise Half": "error",
    "try:\n    raise ValueError('\\ud800')\nexcept ValueError:\n    get_ipython().showtraceback()": "error",
}


@pytest.mark.parametrize(("cell", "outcome"), OUTCOMES.items())
def test_such_a_cell_has_a_receipt_and_so_has_the_next(plain, cell, outcome):
    result = plain.run(cell)
    assert result.status == "error"
    assert [kind for kind, _ in result.outputs] == ["display_data"]
    assert result.receipt["outcome"] == outcome
    assert result.receipt["cell"]["execution_count"] == result.execution_count
    following = plain.run("1 + 1")
    assert (following.receipt["outcome"], following.text) == ("ok", "")


def test_making_such_a_traceback_is_not_the_cells_time(plain):
    result = plain.run("def deep(n):\n    if n: deep(n - 1)\n    raise ValueError('\\ud800')\ndeep(400)")
    record = result.receipt
    assert record["outcome"] == "error"
    assert "traceback" in record["facts"]


def test_a_cell_that_runs_such_a_cell_inside_goes_on(plain):
    result = plain.run(r"""inner = get_ipython().run_cell(r"raise ValueError('\ud800')"); 1 / 0""")
    assert result.receipt["outcome"] == "error"
    assert "ZeroDivisionError" in str(result.outputs[0])
    assert len(result.receipts) == 1


def test_such_a_run_of_a_cell_that_repeats_has_a_receipt(plain):
    result = plain.run("%%mlc_trace --ops --repeat 3\nraise ValueError('\\ud800')")
    assert result.receipt["outcome"] == "error"
    assert plain.run("1 + 1").receipt["outcome"] == "ok"
