"""The check names the operation and the line of an error that a device makes on purpose."""

import pytest

from tests.support import check_cells, check_planted

pytestmark = pytest.mark.needs("torch")

#: In these, one element is 2 % off, or another whole number.
CELLS = check_cells.cells("check_cells/planted.py")
#: In these, an operation has an error such as those that were reported of devices.
REPORTED = check_cells.cells("check_cells/reported.py")


def first_wrong_result(cell, device):
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    with device, checking() as checker:
        check_cells.run(cell)
    return checker.result().first[0]


@pytest.mark.parametrize("cell", CELLS, ids=[one.title for one in CELLS])
def test_an_error_on_purpose_is_found_by_operation_and_line(cell):
    first = first_wrong_result(cell, check_cells.wrong_device(cell.title))
    assert (first.operation, first.line.number) == (cell.title, cell.wrong)
    assert first.line.file == f"/cells/{cell.title}.py"


@pytest.mark.parametrize("cell", REPORTED, ids=[one.title for one in REPORTED])
def test_an_error_like_a_reported_one_is_found_by_operation_and_line(cell):
    operation, error = cell.title.split(" | ")
    first = first_wrong_result(cell, check_planted.wrong_in(operation, error))
    assert (first.operation, first.line.number) == (operation, cell.wrong)


@pytest.mark.parametrize("cell", [*CELLS, *REPORTED], ids=[one.title for one in [*CELLS, *REPORTED]])
def test_the_same_cell_without_the_error_raises_no_alarm(cell):
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    with checking() as checker:
        check_cells.run(cell)
    result = checker.result()
    assert result.first == ()
    assert result.checked
