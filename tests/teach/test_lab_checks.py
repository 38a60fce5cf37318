"""What labs expect of measurements: it holds, it does not, or it cannot be judged, always with a sentence."""

import pytest
from msgspec.structs import replace

import jupyter_mlgpu
from jupyter_mlgpu.explain.comparing import expect
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.teach.lessons import assert_gpu_used, faster_than, peak_below
from jupyter_mlgpu.testing import example_record

GIBIBYTE = 1024**3


def record(device=None, *, wall=0.5, peak=GIBIBYTE, device_time=None, **changes):
    one = example_record()
    readings = {reading.quantity: reading for reading in one.readings}
    readings["wall_time"] = Reading("wall_time", wall, "s", "cell", "simulated", 1, detail="fake clock")
    readings["peak_memory_process"] = Reading(
        "peak_memory_process", peak, "bytes", "process", "simulated", 1, detail="fake"
    )
    if device_time is not None:
        readings["device_time"] = Reading(
            "device_time", device_time, "s", "device", "simulated", 4, detail="fake profiler"
        )
    return replace(one, device=device or one.device, readings=tuple(readings.values()), **changes)


def on(*devices, why=None):
    ran_on = tuple(RanOn("torch", one, one.partition(":")[0], None, 1, None) for one in devices)
    return DeviceUse({}, ran_on, why)


NOT_KNOWN = DeviceUse({"*": "gpu:0"}, None, "PyTorch does not report where its operations ran.")


def test_work_on_a_gpu_holds_also_beside_the_cpu():
    judged = expect.gpu_used(record(on("cpu:0", "gpu:1")))
    assert (judged.state, judged.sentence) == ("holds", "'model.fit(x, y)' ran on gpu:1.")


def test_kernels_that_a_profiler_saw_are_work_on_a_gpu_also_where_operations_were_not_counted():
    judged = expect.gpu_used(record(NOT_KNOWN, device_time=0.25, mode="profiled"))
    assert judged.state == "holds"
    assert "250 ms (fake profiler)" in judged.sentence


def test_work_on_the_cpu_alone_does_not_hold_and_says_where_it_ran():
    judged = expect.gpu_used(record(DeviceUse({"*": "gpu:0"}, on("cpu:0").ran_on)))
    assert judged.state == "does not hold"
    assert judged.sentence == "'model.fit(x, y)' ran on cpu:0, not on a GPU. gpu:0 was requested."


def test_where_it_is_not_known_it_cannot_be_judged_and_the_reason_is_given():
    judged = expect.gpu_used(record(NOT_KNOWN))
    assert judged.state == "cannot judge"
    assert judged.sentence.endswith("PyTorch does not report where its operations ran.")
    partly = expect.gpu_used(record(on("cpu:0", why="PyTorch's part is not known.")))
    assert partly.state == "cannot judge"


def test_memory_given_out_on_a_cpu_says_nothing_of_what_else_ran():
    entry = RanOn("jax", "cpu:0", "cpu", None, None, None, evidence="results")
    assert expect.gpu_used(record(DeviceUse({}, (entry,)))).state == "cannot judge"


def test_a_framework_that_has_no_gpu_cannot_have_used_one():
    cpu_only = DeviceUse({}, None, "PyTorch is not watched.", {"torch": "cpu:0"})
    assert expect.gpu_used(record(cpu_only)).state == "does not hold"
    gpu_only = DeviceUse({}, None, "PyTorch is not watched.", {"torch": "gpu:0"})
    judged = expect.gpu_used(record(gpu_only))
    assert judged.state == "cannot judge"
    assert "can only have run on gpu:0, but whether it did is not known" in judged.sentence


def test_a_cell_without_operations_used_no_gpu():
    assert expect.gpu_used(record(on())).state == "does not hold"


def test_the_median_peak_counts_so_one_high_run_does_not_fail_a_lab():
    runs = [record(peak=one * GIBIBYTE) for one in (1, 1, 9)]
    judged = expect.peak_below(runs, 2 * GIBIBYTE)
    assert judged.state == "holds"
    assert judged.sentence == "Peak memory, process: 1 GiB (median of 3 runs), below 2 GiB."
    assert expect.peak_below(runs, GIBIBYTE).state == "does not hold"


def test_a_peak_that_was_not_measured_cannot_be_judged():
    judged = expect.peak_below([record()], GIBIBYTE, "peak_memory_allocator")
    assert judged.state == "cannot judge"
    assert "TensorFlow keeps no allocator statistics for cpu:0." in judged.sentence
    assert expect.peak_below([], GIBIBYTE).state == "cannot judge"
    assert expect.peak_below([record(outcome="error")], GIBIBYTE).state == "cannot judge"


def test_what_is_no_memory_is_refused():
    with pytest.raises(UsageError, match="choose peak_memory_process, memory_growth"):
        expect.peak_below([record()], 1, "wall_time")


def timed(*walls, **changes):
    return [record(wall=one, **changes) for one in walls]


def test_faster_holds_where_the_whole_interval_says_so():
    judged = expect.faster_than(timed(1, 1.1, 1.2, 1.3), timed(3, 3.1, 3.2, 3.3), times=2)
    assert judged.state == "holds"
    assert "times as fast, 95 % interval" in judged.sentence


def test_slower_does_not_hold():
    judged = expect.faster_than(timed(3, 3.1, 3.2, 3.3), timed(1, 1.1, 1.2, 1.3))
    assert judged.state == "does not hold"
    assert judged.sentence.endswith("so not faster.")


def test_runs_that_overlap_leave_it_open():
    judged = expect.faster_than(timed(1, 2, 3, 4), timed(1.5, 2.5, 3.5, 4.5))
    assert judged.state == "cannot judge"
    assert "More runs would help" in judged.sentence


def test_few_runs_profiled_runs_and_runs_that_failed_cannot_be_judged():
    many = timed(3, 3.1, 3.2, 3.3)
    assert expect.faster_than(timed(1), timed(3)).sentence.endswith("one run each.")
    profiled = expect.faster_than(timed(1, 1, 1, 1, mode="profiled"), many)
    assert profiled.state == "cannot judge"
    failed = expect.faster_than(timed(1, 1, 1, 1, outcome="error"), many)
    assert failed.state == "cannot judge"
    assert expect.faster_than(timed(0, 0, 0, 0), many).state == "cannot judge"


def test_a_factor_that_makes_no_sense_is_refused():
    with pytest.raises(UsageError, match="above 0; found 0"):
        expect.faster_than(timed(1), timed(1), times=0)


def test_a_check_raises_with_a_sentence_only_where_it_does_not_hold():
    with pytest.raises(AssertionError, match="ran on cpu:0, not on a GPU"):
        assert_gpu_used(record(on("cpu:0")))
    assert assert_gpu_used(record(NOT_KNOWN)).state == "cannot judge"
    with pytest.raises(AssertionError, match="not below 1 MiB"):
        peak_below(record(), 1024**2)
    assert bool(peak_below(record(), 2 * GIBIBYTE))


def test_what_cannot_be_judged_is_neither_true_nor_silently_false():
    judged = faster_than(timed(1), timed(2))
    assert repr(judged).startswith("○ cannot judge: 1 s (1 run) versus 2 s (1 run)")
    with pytest.raises(AssertionError, match="one run each"):
        bool(judged)


def test_a_judgement_shows_hostile_names_as_text():
    hostile = record(on("cpu:0"))
    hostile = replace(hostile, cell=replace(hostile.cell, name="<script>"))
    assert "<script>" not in expect.gpu_used(hostile)._repr_html_()


def test_runs_are_found_by_the_name_of_a_block_and_by_the_number_of_a_cell():
    for _ in range(4):
        with jupyter_mlgpu.trace("a block of the lab"):
            pass
    last = jupyter_mlgpu.records()[-1]
    judged = peak_below("a block of the lab", 1024**5)
    assert judged.state == "holds"
    assert "4 runs" in judged.sentence
    assert peak_below(f"#{last.cell.sequence}", 1024**5).state == "holds"
    # A framework that another test has imported here ran nothing in the block.
    if expect.gpu_used(last).state == "does not hold":
        with pytest.raises(AssertionError, match="ran no operation"):
            assert_gpu_used()
    else:
        assert assert_gpu_used().state == expect.gpu_used(last).state
    with pytest.raises(UsageError, match=r"no record of cell \[99999\]"):
        peak_below(99999, 1)
    assert peak_below("no such block", 1).state == "cannot judge"


def test_a_missing_time_cannot_be_judged():
    lost = record()
    lost = replace(lost, readings=(missing("wall_time", "The clock failed."),))
    judged = expect.faster_than([lost], timed(1))
    assert judged.sentence == "'model.fit(x, y)' has no timing: The clock failed."
