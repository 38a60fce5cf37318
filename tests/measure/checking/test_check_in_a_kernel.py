"""`%%mlc_trace --check` in a notebook: its answer, and that the cell runs as it does without it."""

import pytest

from tests.support.kernels import MIME_TYPE

pytestmark = [pytest.mark.kernel, pytest.mark.needs("torch")]

#: From here on, `cumsum` is 0.31 off in its last element, as a device may be.
WRONG = """
import torch
from torch.utils._python_dispatch import TorchDispatchMode
class Wrong(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if "cumsum" in str(function):
            result[-1] += 0.31
        return result
wrong = Wrong()
wrong.__enter__()
"""


def answer(result):
    pages = [
        data["text/plain"]
        for kind, data in result.outputs
        if kind == "display_data" and MIME_TYPE not in data
    ]
    assert len(pages) == 1, result
    return pages[0]


@pytest.fixture(scope="module")
def notebook(start_for_module):
    return start_for_module()


def test_right_results_are_counted_and_the_cell_has_its_value(notebook):
    result = notebook.run("%%mlc_trace --check\nimport torch\nx = torch.ones(3, 3)\n(x @ x).sum().item()")
    assert ("execute_result", "27.0") in [
        (kind, data["text/plain"]) for kind, data in result.outputs if kind == "execute_result"
    ]
    assert answer(result).startswith("No wrong result in 4 operations.")


def test_the_receipt_of_a_checked_cell_is_no_timing(notebook):
    receipt = notebook.run("%%mlc_trace --check\ntorch.ones(3).exp()").receipt
    assert receipt["mode"] == "checked"
    assert [one["quantity"] for one in receipt["readings"] if one["value"] is not None] == []
    assert receipt["notes"] == ["No wrong result in 2 operations."]


def test_the_first_wrong_result_is_named_with_its_line_and_the_cells_own_error_is_raised(notebook):
    notebook.run(WRONG)
    result = notebook.run(
        "%%mlc_trace --check\n\n# a comment\ntotals = torch.ones(10).cumsum(0)\n1 / 0",
    )
    notebook.run("wrong.__exit__(None, None, None)")
    assert result.error == "ZeroDivisionError: division by zero"
    first = f"First wrong result: `cumsum` on line 4 of [{result.execution_count}] is off by 0.31"
    assert answer(result).startswith(first)


def test_the_next_cell_is_measured_as_before(notebook):
    result = notebook.run("torch.ones(3).cumsum(0)")
    assert result.receipt["mode"] == "light"
    assert result.value("wall_time") > 0


def test_a_race_is_refused_in_a_checked_cell(notebook):
    result = notebook.run("%%mlc_trace --check\n%%mlc_race\ntorch.ones(3)")
    assert "leave out --ops or --check" in result.text


@pytest.mark.parametrize("others", ["--ops", "--shapes", "--repeat 5", "--items 8"])
def test_other_options_are_refused_before_the_cell_runs(notebook, others):
    result = notebook.run(f"%%mlc_trace --check {others}\nran = True")
    assert "--check is not a timed run" in result.text
    assert notebook.evaluate("'ran' in globals()") is False


def test_a_wrong_operation_in_a_loop_is_told_once_with_its_count(notebook):
    notebook.run(WRONG)
    result = notebook.run("%%mlc_trace --check\nfor _ in range(30):\n    torch.ones(10).cumsum(0)")
    notebook.run("wrong.__exit__(None, None, None)")
    (row,) = [line for line in answer(result).splitlines() if line.startswith("cumsum ")]
    assert row.split()[-1] == "30"


def test_a_cell_without_pytorch_has_nothing_to_check(notebook):
    assert answer(notebook.run("%%mlc_trace --check\n1 + 1")).startswith(
        "This cell computed nothing with PyTorch"
    )


@pytest.mark.parametrize("code", ["%mlc_trace --check", "%%time\n%%mlc_trace --check\ntorch.ones(3)"])
def test_a_check_elsewhere_than_in_the_first_line_is_told(notebook, code):
    assert "works only as the first line of a cell" in notebook.run(code).text
