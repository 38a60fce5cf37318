"""The check names the operation and the line of an error that a device makes on purpose."""

import pytest

from tests.support import check_cells

pytestmark = pytest.mark.needs("torch")

CELLS = check_cells.cells("check_cells/planted.py")


@pytest.mark.parametrize("cell", CELLS, ids=[one.title for one in CELLS])
def test_an_error_on_purpose_is_found_by_operation_and_line(cell):
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    with check_cells.wrong_device(cell.title), checking() as checker:
        check_cells.run(cell)
    first = checker.result().first[0]
    assert (first.operation, first.line.number) == (cell.title, cell.wrong)
    assert first.line.file == f"/cells/{cell.title}.py"


@pytest.mark.parametrize("cell", CELLS, ids=[one.title for one in CELLS])
def test_the_same_cell_without_the_error_raises_no_alarm(cell):
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    with checking() as checker:
        check_cells.run(cell)
    result = checker.result()
    assert result.first == ()
    assert result.checked
