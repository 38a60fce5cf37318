"""What operations had to do follows from their shapes, and a profile tells how it kept its device at work."""

import pytest

from jupyter_mlgpu.measure.ops import operation_rates, work
from jupyter_mlgpu.measure.ops.busy import device_busy
from jupyter_mlgpu.measure.ops.events import Event, Profile, ProgramCost
from jupyter_mlgpu.record.sentence import Sentence

pytestmark = pytest.mark.small
SECOND = 1_000_000_000


def profile(*events, **more) -> Profile:
    return Profile("torch", Sentence("fake profiler"), events, 0, SECOND, **more)


def on_host(name="aten::mm", start=0.0, seconds=0.1, **more) -> Event:
    kind = name.removeprefix("aten::")
    return Event(name, kind, "host", "host", "thread 1", round(start * 1e9), round(seconds * 1e9), **more)


def on_gpu(name="gemm", start=0.0, seconds=0.1, kind="kernel") -> Event:
    at, took = round(start * 1e9), round(seconds * 1e9)
    return Event(name, kind, "device", "gpu:0", "stream 7", at, took, kind)


def told(seen: Profile) -> dict[str, float]:
    return {one.quantity: one.value for one in operation_rates.readings(seen, device_busy(seen))}


@pytest.mark.parametrize(
    ("kind", "shapes", "type_", "bytes_"),
    [
        ("mm", [[2, 3], [3, 5]], "float32", 4 * (6 + 15 + 10)),
        ("addmm", [[5], [2, 3], [3, 5]], "bfloat16", 2 * (6 + 15 + 10)),
        ("bmm", [[7, 2, 3], [7, 3, 5]], "float32", 4 * 7 * (6 + 15 + 10)),
        ("add", [[100], [100], []], "float32", 4 * 300),
        # With `out=` its shape stands among those of the inputs; it is written, and not read.
        ("add", [[100], [100], [], [100]], "float32", 4 * 300),
        ("add_", [[100], [100]], "float64", 8 * 300),
        ("exp", [[100]], "float16", 2 * 200),
        ("add", [[100, 1], [1, 50]], "float32", 4 * (100 + 50 + 100)),
    ],
)
def test_an_operation_reads_its_arrays_and_writes_one(kind, shapes, type_, bytes_):
    assert work.moved(kind, shapes, type_) == bytes_


@pytest.mark.parametrize(
    ("kind", "shapes", "type_"),
    [
        ("sort", [[100]], "float32"),
        ("mm", [[2, 3], [3, 5]], None),
        ("mm", [[2, 3]], "float32"),
        ("exp", [], "float32"),
    ],
)
def test_of_what_is_not_known_no_bytes_are_told(kind, shapes, type_):
    assert work.moved(kind, shapes, type_) is None


def test_a_product_takes_two_operations_a_multiplication_whichever_side_is_transposed():
    for shapes in ([[2, 3], [3, 5]], [[3, 2], [3, 5]], [[2, 3], [5, 3]]):
        assert work.product_flops("MatMul", shapes) == 2 * 2 * 3 * 5
    assert work.product_flops("Relu", [[2, 3]]) is None
    # Both sizes may be the shared one: 64 makes fewer operations than 10.
    assert work.product_flops("MatMul", [[64, 10], [64, 10]]) == 2 * 10 * 10 * 64


def test_the_work_is_that_of_the_type_that_has_most_of_it():
    seen = profile(
        on_host(flops=2e9, moved=10, number_type="bfloat16"),
        on_host(flops=3e9, moved=work.LARGE, number_type="bfloat16"),
        on_host("aten::add", flops=1e6, moved=20, number_type="float32"),
        on_host("aten::sort"),
    )
    found = work.cell_work(seen)
    assert found == work.CellWork("torch", "cpu:0", "bfloat16", 5_000_000_000, 2, 30 + work.LARGE, work.LARGE)
    assert {one.quantity: one.samples for one in work.readings(seen, found)} == {
        "flops": 2,
        "bytes_moved": 2,
        "bytes_of_large_calls": 2,
    }


def test_on_a_gpu_the_work_is_the_gpus_and_on_several_it_is_nobodys():
    counted = on_host(flops=1e9, number_type="float32")
    assert work.cell_work(profile(counted, on_gpu())).device == "gpu:0"
    other = Event("gemm", "kernel", "device", "gpu:1", "stream 7", 0, 5, "kernel")
    assert work.cell_work(profile(counted, on_gpu(), other)) is None
    assert work.cell_work(profile(counted, devices_unseen=True)) is None
    assert work.cell_work(profile(on_host())) is None


def test_compiled_programs_are_counted_by_their_runs():
    program = ProgramCost("jit_f(4)", 3, 1e9, 100, work.LARGE, "float32")
    found = work.cell_work(profile(programs=(program,)))
    assert (found.flops, found.operations, found.moved, found.large) == (
        3_000_000_000,
        3,
        300,
        3 * work.LARGE,
    )


def test_a_device_has_gaps_copies_and_a_pace():
    seen = profile(
        on_gpu("gemm", 0.1, 0.2),
        on_gpu("Memcpy HtoD (Pinned -> Device)", 0.2, 0.3, "copy"),
        on_gpu("Memcpy DtoD (Device -> Device)", 0.6, 0.1, "copy"),
        on_host("aten::mm", 0.0, 0.5),
    )
    found = told(seen)
    assert found["device_copies"] == pytest.approx(0.2)  # from 0.3 to 0.5: before, a kernel ran beside it
    assert found["device_gaps"] == pytest.approx(0.1)
    assert found["operation_rate"] == pytest.approx(3.0)
    assert found["operation_length"] == pytest.approx(0.5 / 3)
    assert found["host_operations"] == pytest.approx(0.5)


def test_without_a_device_the_hosts_outermost_operations_have_the_pace():
    short = [on_host("aten::add", 0.5 + 1e-5 * number, 5e-6) for number in range(10_000)]
    inner = on_host("aten::copy_", 0.1, 0.1)
    whole = on_host("annotated", 0.0, 0.9)
    found = told(profile(on_host("aten::mm", 0.0, 0.4), inner, *short))
    assert found["host_operations"] == pytest.approx(0.45)
    assert found["short_operations"] == pytest.approx(0.05)
    assert found["operation_rate"] == pytest.approx(10_001)
    annotated = Event("mine", "annotation", "host", "host", "thread 1", 0, whole.duration_ns)
    assert told(profile(on_host(), annotated))["operation_rate"] == pytest.approx(1.0)


def test_parts_of_compiled_programs_are_started_by_nobody():
    assert "short_operations" not in told(profile(on_host(), compiled=True))


def test_a_profile_that_did_not_see_all_tells_no_pace():
    assert told(profile(on_host(), whole=False)) == {}
    assert told(profile(on_host(), devices_unseen=True)) == {}
