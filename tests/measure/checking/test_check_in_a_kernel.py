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
    first = f"First wrong result: `aten.cumsum` on line 4 of [{result.execution_count}]: off by 0.31"
    assert answer(result).startswith(first)


def test_the_next_cell_is_measured_as_before(notebook):
    result = notebook.run("torch.ones(3).cumsum(0)")
    assert result.receipt["mode"] == "light"
    assert result.value("wall_time") > 0


def test_a_race_is_refused_in_a_checked_cell(notebook):
    result = notebook.run("%%mlc_trace --check\n%%mlc_race\ntorch.ones(3)")
    assert "leave out --ops or --check" in result.text


def test_other_options_are_refused_before_the_cell_runs(notebook):
    result = notebook.run("%%mlc_trace --check --ops\nran = True")
    assert "--check is not a timed run" in result.text
    assert notebook.evaluate("'ran' in globals()") is False
