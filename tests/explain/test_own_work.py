"""What the records of its own GPU work say of a cell: the samples of its host give way to them."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.judge import with_limit
from jupyter_mlgpu.measure.activity.activity import Activity
from jupyter_mlgpu.record.gpu_work import CopySum, GpuWork
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn, Record
from jupyter_mlgpu.show.receipts import figures_in_words, limits
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.activity import activity, part

pytestmark = pytest.mark.small

WAITS = part("native", doing="values", calls="torch.cuda.synchronize", module="torch.cuda")
LAUNCHES = part("short calls", calls="torch.add", module="torch", size=4)
ASKS = part("native", calls="loss.item", module="torch")
LOOPS = part("interpreter", calls="min", module="builtins")


def on_gpu(*, busy=0.0, kernels=None, wall=1.0, copies=(), launches=100, went_on=0.0, earlier=0.0) -> Record:
    """A cell of so many seconds, in which a GPU did this."""
    record = example_record(1)
    readings = [
        Reading("wall_time", wall, "s", "cell", "clock", 1),
        Reading("device_time", busy, "s", "device", "CUPTI", launches, device="gpu:0"),
    ]
    kernels = busy if kernels is None else kernels
    work = GpuWork("gpu:0", launches, kernels, copies, went_on=went_on, earlier=earlier)
    ran = RanOn("torch", "gpu:0", "cuda", "cuda:0", None, None, None, "allocator")
    return replace(
        record,
        readings=tuple(readings),
        gpu_work=(work,) if launches or earlier else (),
        asynchronous=went_on > 0,
        device=replace(record.device, ran_on=(ran,)),
    )


def limit(record, *parts, **more):
    return with_limit(record, activity(*parts, **{"gpu_others": 0.0, **more})).limit


def copied(direction, seconds, size):
    return CopySum(direction, 8, size, seconds)


def test_a_gpu_that_ran_kernels_most_of_the_time_is_the_limit_whatever_the_host_did_in_advance():
    for seen in (WAITS, LAUNCHES, LOOPS):
        found = limit(on_gpu(busy=0.97), seen)
        assert (found.kind, found.confidence, found.share) == ("device", "sure", 0.97)
    assert str(found.said) == "The GPU ran kernels 97 % of the time."
    (busy,) = [one for one in found.evidence if one.quantity == "device_busy"]
    assert (busy.value, busy.source, busy.samples, busy.device) == (0.97, "CUPTI", 100, "gpu:0")


def test_the_drivers_gauge_does_not_stand_beside_the_records():
    found = limit(on_gpu(busy=0.97), WAITS, gpus={"GPU 0": (0.4, 9)})
    assert [one.source for one in found.evidence if one.device is not None] == ["CUPTI"]


def test_one_who_always_works_himself_never_waited_for_a_gpu_that_was_busy_meanwhile():
    found = limit(on_gpu(busy=0.6), LOOPS)
    assert (found.kind, found.confidence) == ("python", "sure")


def test_a_wait_counts_for_the_gpu_as_long_as_that_worked_and_for_launches_beyond():
    found = limit(on_gpu(busy=0.1, launches=40_000), ASKS)
    assert (found.kind, found.share) == ("launch", pytest.approx(0.9))
    found = limit(on_gpu(busy=0.7, launches=40_000), ASKS)
    assert (found.kind, found.share) == ("device", pytest.approx(0.7))
    assert str(limits.answer(found)).startswith("Waited for the GPU about 70 % of the time (line 3).")


def test_few_launches_explain_no_long_wait():
    found = limit(on_gpu(busy=0.1, launches=3), ASKS)
    assert (found.kind, found.confidence) == ("unknown", "open")


def test_native_code_that_asks_nothing_of_an_idle_gpu_computed_on_the_cpu():
    computes = part("native", calls="torch.rand", module="torch")
    found = limit(on_gpu(busy=0.02, launches=3), computes)
    assert (found.kind, found.confidence) == ("native", "sure")
    assert str(found.said) == "Native code on the CPU computed nearly all of the time (line 3)."


def test_copies_are_the_limit_where_the_gpu_did_nothing_else():
    copies = (copied("host-to-device", 0.9, 8_000_000_000), copied("device-to-device", 0.02, 10))
    found = limit(on_gpu(busy=0.93, kernels=0.01, copies=copies), part("native", calls="batch.to"))
    assert (found.kind, found.confidence, found.share) == ("transfer", "sure", pytest.approx(0.9))


def test_bytes_tell_of_a_copy_that_took_the_host_longer_than_the_gpu():
    waits = part("idle beside others", calls="y.block_until_ready", module="jaxlib")
    there = (copied("host-to-device", 0.15, 8_000_000_000),)
    assert limit(on_gpu(busy=0.15, kernels=0.0, copies=there), waits).kind == "transfer"
    computes = part("native", 0.6, 18, calls="torch.rand", module="torch")
    both = limit(
        on_gpu(busy=0.15, kernels=0.0, copies=there), computes, part("native", 0.4, 12, calls="x.cpu")
    )
    assert str(both.said).startswith("Native code on the CPU computed")


def test_the_time_after_the_code_counts_and_is_the_gpus():
    found = limit(on_gpu(busy=0.9, wall=0.2, went_on=0.8), LAUNCHES)
    assert (found.kind, found.share) == ("device", 0.9)
    loads = part("idle", doing="input", calls="next(loader)")
    found = limit(on_gpu(busy=0.3, wall=0.9, went_on=0.1), loads)
    assert (found.kind, found.share) == ("input", pytest.approx(0.9))


def test_a_cell_too_short_for_samples_is_judged_where_its_gpu_went_on():
    record = on_gpu(busy=0.9, wall=0.02, went_on=0.88)
    found = with_limit(record, Activity(seconds=0.02, samples=0, parts=())).limit
    assert (found.kind, found.confidence) == ("device", "likely")
    idle = on_gpu(busy=0.001, wall=0.02)
    assert with_limit(idle, Activity(seconds=0.02, samples=0, parts=())).limit is None


def test_a_wait_for_the_work_of_earlier_cells_is_told_as_such():
    found = limit(on_gpu(launches=0, earlier=0.9), WAITS)
    assert (found.kind, str(found.said)) == (
        "waiting",
        "Waited about 90 % of the time for the GPU to end earlier cells' work (line 3).",
    )
    converts = part("native", calls="float", module="builtins")
    assert limit(on_gpu(launches=3, busy=0.001, earlier=0.99), converts).kind == "waiting"
    # Who computes meanwhile has not waited.
    assert limit(on_gpu(launches=0, earlier=0.9), LOOPS).kind == "python"
    assert "gpu:0 was busy with earlier cells until 900 ms after the cell began." in figures_in_words.places(
        on_gpu(launches=0, earlier=0.9)
    )


def test_other_programs_on_the_gpu_are_contention_and_unknown_ones_leave_it_likely():
    assert limit(on_gpu(busy=0.98), WAITS, gpu_others=0.7).kind == "contention"
    assert limit(on_gpu(busy=0.98), WAITS, gpu_others=None).confidence == "likely"
    beside = limit(on_gpu(busy=0.98), WAITS, gpu_others=None, gpu_neighbours=1)
    assert (beside.kind, beside.confidence) == ("device", "open")
    assert "nvidia-smi" in str(beside.next)


def test_no_answer_of_a_gpu_is_sure_without_its_evidence():
    record = on_gpu(busy=0.98)
    reading = Reading("device_time", None, "s", "device", "none", 0, "A profiler was on.")
    unknown = replace(record, gpu_work=(), readings=(record.readings[0], reading))
    for seen in (WAITS, LAUNCHES, part("native", calls="x.cpu", module="torch")):
        assert limit(unknown, seen).confidence == "likely"


def test_the_bound_leaves_what_the_gpu_has_to_do():
    found = limit(on_gpu(busy=0.25), part("idle", 0.75, 75, doing="input"), part("native", 0.25, 25))
    (without,) = [one for one in found.evidence if one.quantity == "time_without"]
    assert without.value == pytest.approx(0.25)
    assert str(found.bound) == "Without it the cell would take at least 250 ms (at most 4 times as fast)."
    assert str(limits.answer(found)).endswith(str(found.bound))


def test_where_nothing_prevails_the_parts_are_named():
    thirds = [
        part("idle", 0.3, 30, calls="time.sleep", module="time"),
        part("interpreter", 0.34, 34, calls="min", module="builtins"),
        part("short calls", 0.36, 36, calls="np.add", module="numpy"),
    ]
    found = with_limit(example_record(1), activity(*thirds)).limit
    assert found.confidence == "open"
    assert dict(found.parts) == {"launch": 0.36, "python": 0.34, "waiting": 0.3}
    assert str(found.said) == "No single cause: about 40 % launching, about 30 % Python, about 30 % waiting."
    assert found.bound is None


def test_an_answer_with_parts_and_a_bound_is_read_back():
    record = on_gpu(busy=0.25)
    judged = with_limit(record, activity(part("idle", 0.75, 75, doing="input"), part("native", 0.25, 25)))
    assert Record.from_json(judged.to_json()).limit == judged.limit
