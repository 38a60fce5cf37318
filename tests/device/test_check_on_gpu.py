"""`%%mlc_trace --check` on a CUDA GPU: no alarm about ordinary cells, and every planted error found."""

from __future__ import annotations

import contextlib
import os

import pytest

from tests.support import check_cells, check_planted

#: Seeds of the ordinary cells, so that a run of another day meets other numbers.
SEED = int(os.environ.get("CHECK_SEED", "0"))


@contextlib.contextmanager
def tf32(torch, on):
    """TensorFloat-32 in products of matrices and convolutions, as many notebooks switch it on."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = on
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = False, True


def checked(torch, cell, **names):
    """The check of a cell on the GPU, and what ended the cell."""
    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(SEED)
    ended = ""
    with torch.device("cuda"), checking() as checker:
        try:
            check_cells.run(cell, **names)
        except (RuntimeError, TypeError, NotImplementedError, torch.AcceleratorError) as error:
            ended = str(error).partition("\n")[0]
    return checker.result(), ended


def alarms(torch, cells, **names):
    """Run cells, print each alarm and what cannot run; return the number of runs, and the alarms."""
    runs = operations = 0
    found, uncompared = [], set()
    for cell in cells:
        dtypes = cell.title.partition(" | ")[2].split() or ["float32"]
        for dtype in dtypes:
            result, ended = checked(torch, cell, T=getattr(torch, dtype), **names)
            runs += not ended
            operations += result.checked
            uncompared |= {*result.not_comparable}
            if ended:
                print(f"DOES NOT RUN {cell.title} {dtype}: {ended}")
            for one in result.first:
                found.append((cell.title, dtype, one.operation, one.line.number, one.dtype, one.deviation))
                print("ALARM", *found[-1])
    print(f"{runs} runs of {len(cells)} cells, {operations} operations, {len(found)} alarms")
    print("not compared:", *sorted(uncompared))
    return runs, found


@pytest.mark.parametrize("on", [False, True], ids=["float32", "TF32"])
def test_ordinary_cells_raise_no_alarm(torch, on):
    with tf32(torch, on):
        runs, found = alarms(torch, check_cells.cells("check_cells/ordinary.py"))
    assert runs > 200
    assert found == []


@pytest.mark.parametrize("on", [False, True], ids=["float32", "TF32"])
def test_cells_for_a_gpu_raise_no_alarm(torch, on):
    with tf32(torch, on):
        cells = check_cells.cells("check_cells/gpu.py")
        runs, found = alarms(torch, cells)
    assert found == []
    assert runs == len(cells)


#: Planted errors in operations that CUDA has others for.
NOT_OF_CUDA = {"aten._scaled_dot_product_flash_attention_for_cpu", "aten.native_batch_norm"}


def test_every_planted_error_is_found_by_operation_and_line(torch):
    planted = [
        (one, check_cells.wrong_device(one.title))
        for one in check_cells.cells("check_cells/planted.py")
        if one.title not in NOT_OF_CUDA
    ]
    for one in check_cells.cells("check_cells/reported.py"):
        operation, error = one.title.split(" | ")
        if operation not in NOT_OF_CUDA:
            planted.append((one, check_planted.wrong_in(operation, error)))
    missed = []
    for cell, device in planted:
        with device:
            result, ended = checked(torch, cell)
        first = [(one.operation, one.line.number) for one in result.first[:1]]
        if first != [(cell.title.partition(" | ")[0], cell.wrong)]:
            missed.append((cell.title, cell.wrong, first, ended))
            print("MISSED", *missed[-1])
    print(f"{len(planted) - len(missed)} of {len(planted)} planted errors found")
    assert missed == []
