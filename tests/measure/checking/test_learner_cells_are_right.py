"""The check raises no alarm about cells of learners, some of which loop, fail, or use several processes."""

import pytest

from tests.support import learner_cells

pytestmark = [pytest.mark.kernel, pytest.mark.slow, pytest.mark.needs("torch")]

#: Seconds that the check may take in each cell.
BUDGET = 2.0
RUN = """
with checking({budget}) as checker:
    exec({source!r}, globals())
"""
#: The cells that fail, as they do without the check.
FAIL = {"20", "21", "22"}


def test_no_cell_of_a_learner_has_a_wrong_result(start_for_module):
    notebook = start_for_module(extension=False)
    notebook.run("from jupyter_mlgpu.measure.checking.check_mode import checking")
    failed, wrong, checked = set(), {}, 0
    for cell in learner_cells.cells("torch.py"):
        result = notebook.run(RUN.format(budget=BUDGET, source=cell.source))
        if result.status == "error":
            failed.add(cell.number)
        if first := notebook.evaluate("[one.operation for one in checker.result().first]"):
            wrong[cell.title] = first
        checked += notebook.evaluate("checker.result().checked")
    assert (failed, wrong) == (FAIL, {})
    assert checked > 1000
