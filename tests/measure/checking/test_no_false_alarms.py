"""The check raises no alarm about ordinary cells, whose errors their number types explain."""

import pytest

from tests.support import check_cells

pytestmark = pytest.mark.needs("torch")

#: Each cell's title is followed by the number types that it is run in.
CELLS = [
    (cell, dtype)
    for cell in check_cells.cells("check_cells/ordinary.py")
    for dtype in cell.title.partition(" | ")[2].split()
]
#: What cannot be compared here: decompositions that are not unique, a library's own layout of weights, views
#: by strides, scaled gradients, and parts of forward-mode differentiation.
NOT_COMPARABLE = {
    "aten._linalg_eigh",
    "aten._linalg_slogdet",
    "aten._linalg_svd",
    "aten.linalg_lstsq",
    "aten.linalg_qr",
    "aten.mkldnn_rnn_layer",
    "aten.mkldnn_rnn_layer_backward",
    "aten.as_strided",
    "aten._amp_foreach_non_finite_check_and_unscale_",
    "aten._amp_update_scale_",
    "aten.expand",
    "aten.to",
    "prims.add",
    "prims.mul",
}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of PyTorch's own modules, as they are imported
@pytest.mark.parametrize(("cell", "dtype"), CELLS, ids=[f"{cell.title} {dtype}" for cell, dtype in CELLS])
def test_an_ordinary_cell_raises_no_alarm(cell, dtype):
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    with checking() as checker:
        check_cells.run(cell, T=getattr(torch, dtype))
    result = checker.result()
    assert result.first == ()
    assert result.checked or result.random
    assert set(result.not_comparable) <= NOT_COMPARABLE
