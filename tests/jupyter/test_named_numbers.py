"""Which whole numbers of the notebook a cell works with, and which it sets itself."""

import pytest

from jupyter_mlgpu.jupyter.notebook.cell.named_numbers import whole_numbers

pytestmark = pytest.mark.small

NOTEBOOK = {"batch": 64, "rows": 32, "rate": 0.1, "on": True, "i": 7, "name": "x"}


@pytest.mark.parametrize(
    ("code", "numbers"),
    [
        ("fit(x, batch)", {"batch": 64}),
        ("%%time\nfit(x, batch_size=batch)", {"batch": 64}),
        ("!ls\nfit(batch, rows, rate, on, name)", {"batch": 64, "rows": 32}),
        ("rows = 64\nfit(rows, batch)", {"batch": 64}),
        ("for i in range(batch): fit(i)", {"batch": 64}),
        ("fit(batch", {}),
        ("fit(batch)" + " " * 9000, {}),
    ],
)
def test_a_cell_s_numbers_are_those_it_names_and_does_not_set(code, numbers):
    assert whole_numbers(code, NOTEBOOK) == numbers


def test_numbers_that_functions_of_the_notebook_name_are_the_cell_s_too():
    notebook = {"batch": 64}
    exec("def fit(x): return x * batch", notebook)
    assert whole_numbers("fit(x)", notebook) == {"batch": 64}
