"""What receipts say of an MLX learner's cells, on Linux and on an emulated Mac."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.mlx_emulator import EMULATE
from tests.support import learner_cells
from tests.support.learner_cells import LearnerResult
from tests.support.shared_kernels import LOAD

pytestmark = [pytest.mark.kernel, pytest.mark.slow, pytest.mark.needs("mlx")]

#: Cells that have no receipt, because they only select a device.
WITHOUT = {"19"}
#: Nanoseconds of the emulated GPU that are no work: its threads wake up when they are waited for.
IDLE_NS = 200_000


def run(notebook, gpu_ns="None"):
    """The results of all cells. Products of 2,000 rows and columns would take minutes on a CPU."""
    found, before = {}, 0
    for cell in learner_cells.cells("mlx.py"):
        cell = replace(cell, source=cell.source.replace("2000", "600"))
        result = notebook.run(cell.source, timeout=300)
        after = notebook.evaluate(gpu_ns) or 0
        found[cell.number] = LearnerResult(cell, result, after - before)
        before = after
    print("\n".join(line for one in found.values() if one.cell.number not in WITHOUT for line in one.lines()))
    return found


@pytest.fixture(scope="module")
def on_linux(start_for_module):
    return run(start_for_module())


@pytest.fixture(scope="module")
def on_a_mac(start_for_module):
    notebook = start_for_module(extension=False)
    for cell in (EMULATE, LOAD):
        assert notebook.run(cell).status == "ok"
    notebook.open_page()
    return run(notebook, "mac.nanoseconds()")


@pytest.fixture(params=["on_linux", "on_a_mac"])
def told(request):
    return request.getfixturevalue(request.param)


def receipts(results):
    return {number: one for number, one in results.items() if number not in WITHOUT}


def test_cells_fail_as_they_do_without_us(on_linux, on_a_mac):
    failed = {number for number, one in receipts(on_linux).items() if one.result.status == "error"}
    assert failed == {"14", "15", "16"}  # there is no GPU for cell 15
    assert {number for number, one in on_a_mac.items() if one.result.status == "error"} == {"14", "16"}


def test_what_a_cell_left_for_later_is_named(told):
    assert "`a`, `b`, `c` not computed yet (MLX is lazy)" in told["01"].text
    assert "`big` not computed yet" in told["03"].text
    assert "`model` not computed yet" in told["06"].text
    assert "not computed yet" not in told["02"].text


def test_the_cell_that_computed_it_says_whose_work_it_was(told):
    for number, cell, name in (("04", told["03"], "big"), ("07", told["06"], "l")):
        asked = cell.result.execution_count
        assert f"what cell [{asked}] had asked for (`{name}`)" in told[number].text, number


def test_no_time_of_mlx_is_a_wait_and_no_advice_is_another_frameworks(told):
    for number, one in receipts(told).items():
        limit = one.result.receipt.get("limit") or {}
        assert limit.get("kind") != "waiting", number
        for other in ("nvidia-smi", "DataLoader", "tf.", "request less"):
            assert other not in (limit.get("next") or ""), number


def test_a_cell_that_used_the_gpu_says_so_and_no_other_does(on_a_mac):
    for one in receipts(on_a_mac).values():
        used = "gpu:0" in (one.places or ())
        assert used == ((one.gpu_ns or 0) > IDLE_NS), (one.cell.title, one.gpu_ns, one.places)


def test_without_a_gpu_no_cell_names_one(on_linux):
    assert {device for one in receipts(on_linux).values() for device in one.places or ()} == {"cpu:0"}


def test_what_the_user_reads_of_memory_is_their_own(told):
    active, peak, _ = map(int, told["11"].result.text.split())
    assert peak > active > 0
