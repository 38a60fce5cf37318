"""What limited a cell follows from what was seen of it; what is not enough for an answer gives none."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.judge import with_limit
from jupyter_mlgpu.measure.activity.activity import Line
from jupyter_mlgpu.record.reading import new_reading
from jupyter_mlgpu.record.record import COMPUTED_FOR, DeviceUse, Fact, RanOn, Record
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.show.receipts.limits import clause, kind_of
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.activity import activity, part

pytestmark = pytest.mark.small


def judged(*parts, record=None, **more) -> Record:
    return with_limit(record or example_record(1), activity(*parts, **more))


def answer(*parts, **more) -> tuple[str, str]:
    limit = judged(*parts, **more).limit
    return limit.kind, limit.confidence


@pytest.fixture
def mlx_item():
    return part("idle", calls="x.item", module="mlx.core", size=4)


def without_a_framework() -> Record:
    return replace(example_record(1), device=DeviceUse({}, None))


def on_a_gpu() -> Record:
    record = example_record(1)
    ran = RanOn("torch", "gpu:0", "cuda", "cuda:0", None, None, None, "allocator")
    return replace(record, device=replace(record.device, ran_on=(ran,)))


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("waiting", [part("idle", calls="time.sleep", module="time")]),
        ("waiting", [part("idle", calls="q.get", module="queue", doing="waiting")]),
        ("python", [part("interpreter", module="builtins")]),
        ("input", [part("idle", doing="input", calls="next(loader)")]),
        ("compiling", [part("short calls", doing="compiling")]),
        ("compiling", [part("interpreter", doing="importing")]),
        ("launch", [part("short calls", calls="torch.add", module="torch")]),
        ("launch", [part("interpreter", calls="arithmetic", module="numpy", size=64)]),
        ("device", [part("native", calls="np.sort", module="numpy")]),
        ("device", [part("short calls", calls="np.add", module="numpy", size=1 << 28)]),
        ("device", [part("idle beside others", calls="TFE_Py_Execute")]),
    ],
)
def test_what_nearly_all_looks_saw_is_the_answer_and_sure(kind, parts):
    assert answer(*parts) == (kind, "sure")


def test_a_thread_that_sleeps_while_others_work_probably_waits():
    assert answer(part("idle beside others", calls="time.sleep", module="time")) == ("waiting", "likely")


def test_the_sentence_names_the_share_the_call_and_the_line():
    record = judged(
        part("idle", 0.9, 27, calls="time.sleep", module="time", line=4), part("interpreter", 0.1, 3)
    )
    assert str(record.limit.said) == "Waited about 90 % of the time in time.sleep (line 4)."
    assert record.limit.share == pytest.approx(0.9)


def test_what_every_one_of_a_few_looks_saw_is_said_to_be_nearly_all():
    record = judged(part("idle", 1.0, 25, calls="time.sleep", module="time"))
    assert str(record.limit.said).startswith("Waited nearly all of the time in time.sleep")
    assert record.limit.share == 1.0


def test_importing_counts_as_compiling_and_is_told_as_importing():
    imports = part("interpreter", 0.9, 27, doing="importing")
    limit = judged(imports, part("native", 0.1, 3, doing="compiling")).limit
    assert limit.kind == "compiling"
    assert str(limit.said) == "Importing modules took about 90 % of the time (line 3)."
    assert "imported only once" in limit.next
    (told,) = [one for one in limit.evidence if one.quantity == "importing_share"]
    assert (told.value, told.samples) == (pytest.approx(0.9), 30)
    assert told.value == limit.share
    assert str(clause(limit)) == "about 90 % importing"
    assert str(kind_of(limit)) == "importing"


def test_a_cell_that_imports_little_and_compiles_for_long_is_compiling():
    imports = part("interpreter", 0.3, 9, doing="importing")
    limit = judged(imports, part("native", 0.7, 21, doing="compiling")).limit
    assert str(limit.said).startswith("Tracing and compiling took")
    assert str(clause(limit)) == "about 70 % compiling"
    assert all(one.quantity != "importing_share" for one in limit.evidence)
    without = judged(part("native", doing="compiling")).limit
    assert all(one.quantity != "importing_share" for one in without.evidence)


def test_a_line_of_another_cell_is_named_by_its_cell():
    here = judged(part("interpreter", module="builtins", line=3))
    assert "(line 3)" in here.limit.said
    there = replace(part("interpreter", module="builtins"), line=Line(2, 7))
    assert "(line 2 of [7])" in judged(there).limit.said


def test_time_shared_out_among_many_kinds_is_no_answer():
    kinds = [
        part("idle", calls="time.sleep", module="time"),
        part("interpreter", module="builtins"),
        part("native", calls="np.sort"),
        part("interpreter", doing="importing"),
    ]
    limit = judged(*kinds).limit
    assert (limit.kind, limit.confidence, limit.share) == ("unknown", "open", None)
    assert limit.next is not None


def test_few_looks_are_likely_at_most_and_fewer_than_three_say_nothing():
    assert answer(part("idle", 0.2, 5, calls="time.sleep")) == ("waiting", "likely")
    short = judged(part("idle", 0.1, 2, calls="time.sleep"))
    assert short.limit is None
    assert str(short.why_no_limit) == "The cell was sampled 2 times, which is not enough to judge."


def test_clocks_that_disagree_with_the_looks_leave_the_question_open():
    assert answer(part("interpreter", module="builtins"), process_time=0.1) == ("python", "open")
    assert answer(part("idle", calls="time.sleep"), thread_time=0.9) == ("waiting", "open")


def test_what_was_seen_only_after_the_lock_had_been_kept_is_likely_at_most():
    kept = part("interpreter", 0.8, 1, calls="sum", module="builtins")
    seen = part("interpreter", 0.2, 6, module="builtins")
    assert answer(seen, unsampled=0.8, unsampled_in=(kept,), process_time=1.0) == ("python", "likely")


def test_a_cell_that_never_gave_the_lock_up_worked_in_python_most_likely():
    never = {"seconds": 2.0, "unsampled": 2.0, "unsampled_busy": 2.0, "process_time": 2.0}
    record = example_record(1)
    without = replace(record, device=replace(record.device, ran_on=None))
    assert answer(record=without, **never) == ("python", "likely")
    # Where a framework worked, its native code may have kept the lock.
    assert answer(record=record, **never) == ("python", "open")


def test_a_share_that_few_looks_leave_open_is_open():
    def some(seconds, samples):
        rest = part("interpreter", 1 - seconds, 8 - samples, module="builtins")
        return answer(part("idle", seconds, samples, calls="time.sleep"), rest, thread_time=0.3)

    assert some(0.9, 7) == ("waiting", "likely")
    assert some(0.55, 4) == ("waiting", "open")


def test_data_that_few_looks_saw_got_ready_is_likely_only_from_half_at_the_low_end_on():
    def some(samples, of):
        seen = part("native", samples / of, samples, calls="PIL.Image.open", doing="input")
        rest = part("interpreter", 1 - samples / of, of - samples, module="builtins")
        return answer(seen, rest)

    # As many as seen of a loop of data that took 0.3 of its cell's time: 0.81 of 7 looks.
    assert some(6, 7) == ("input", "open")
    assert [some(7, 8), some(7, 11), some(8, 12)] == [
        ("input", "likely"),
        ("input", "open"),
        ("input", "likely"),
    ]


def test_python_that_was_only_seen_at_operations_of_arrays_may_be_these():
    at = part("interpreter", 0.7, 21, module="tensorflow.python.framework.ops")
    kept = part("kept lock", 0.7, 21, calls="torch.add", module="torch")
    own = part("interpreter", 0.3, 9, module="builtins")
    assert answer(at, own) == ("python", "open")
    assert answer(kept, own) == ("python", "open")
    assert "`%%mlc_trace --ops`" in judged(kept, own).limit.next
    assert answer(replace(own, seconds=0.7, samples=21), replace(kept, seconds=0.3, samples=9)) == (
        "python",
        "likely",
    )


def test_a_wait_for_a_handful_of_numbers_on_the_host_is_for_threads_that_hand_them_on():
    handed = part("idle", calls="mx.eval", module="mlx", size=4)
    assert answer(handed, process_time=0.9) == ("launch", "likely")
    assert answer(handed, process_time=0.1) == ("launch", "open")
    assert answer(part("idle", calls="x.item", module="jaxlib", size=1 << 24))[0] == "waiting"


@pytest.mark.parametrize(
    ("calls", "module"), [("print", "builtins"), ("float", "builtins"), ("np.array", "numpy")]
)
def test_to_convert_an_array_of_a_gpu_is_to_wait_for_the_gpu_while_the_processor_rests(calls, module):
    waits = part("idle", calls=calls, module=module)
    found = judged(waits, record=on_a_gpu(), process_time=0.05)
    assert (found.limit.kind, found.limit.confidence) == ("device", "likely")
    assert judged(waits, record=without_a_framework()).limit.kind == "waiting"


def test_a_wait_for_an_array_in_a_local_variable_is_computing_if_a_framework_worked_in_the_cell():
    waits = part("idle", calls="array.item", module=None)
    assert answer(waits)[0] == "device"
    assert judged(waits, record=without_a_framework()).limit.kind == "waiting"


def test_work_that_earlier_cells_had_left_is_computing_however_small_its_result(mlx_item):
    late = replace(example_record(1), facts={COMPUTED_FOR: Fact([3], Sentence("MLX"))})
    assert judged(mlx_item).limit.kind == "launch"
    assert judged(mlx_item, record=late).limit.kind == "device"


def test_a_wait_in_a_call_of_a_lazy_framework_is_its_own_computing():
    evaluated = part("idle", calls="mx.eval", module="mlx.core", size=1 << 24)
    assert answer(evaluated)[0] == "device"
    assert "request less of it" not in judged(evaluated).limit.next


@pytest.mark.parametrize(
    ("parts", "traced"),
    [
        ([part("interpreter", 0.1, 2, doing="profiler"), part("idle", 0.9, 20)], False),
        ([part("interpreter", module="builtins")], True),
    ],
    ids=["a profiler", "a trace function"],
)
def test_somebody_s_profiler_or_trace_function_makes_times_say_nothing(parts, traced):
    record = judged(*parts, traced=traced)
    assert record.limit is None
    assert "A profiler or debugger was active" in record.why_no_limit
    assert record.lines == ()


def test_a_wait_for_processors_that_others_had_is_contention():
    busy = part("interpreter", module="builtins")
    assert answer(busy, processor_wait=0.9, others_time=3.0) == ("contention", "sure")
    # Its own threads may have had them.
    assert answer(busy, processor_wait=0.9, others_time=0.1) == ("python", "sure")


def test_where_others_had_the_processors_as_long_as_the_cell_both_are_named():
    """A strip beside it has as much waiting as native code."""
    native = part("native", 1.0, 20, calls="arithmetic", module="numpy", size=1 << 24)
    limit = judged(native, processor_wait=0.49, others_time=1.0, cores=2).limit
    assert (limit.kind, limit.confidence) == ("device", "open")
    assert str(limit.said) == "No single cause: about 50 % computing, about 50 % other programs."
    assert limit.parts == pytest.approx({"device": 0.51, "contention": 0.49})


def test_looks_that_came_late_beside_a_busy_machine_leave_it_open_what_they_saw():
    late = [part("kept lock", 0.5, 15), part("short calls", 0.5, 15, calls="torch.add", module="torch")]
    assert answer(*late, others_time=2.0)[1] == "open"
    assert answer(part("kept lock")) == ("python", "likely")


def test_who_idles_beside_a_busy_machine_may_wait_for_threads_of_its_own_without_a_processor():
    runs = part("idle", calls="TFE_Py_Execute", module="tensorflow")
    assert answer(runs, others_time=2.0, processor_wait=0.0) == ("waiting", "open")
    assert answer(runs, others_time=0.1, processor_wait=0.0) == ("waiting", "likely")
    sleeps = part("idle", calls="time.sleep", module="time")
    assert answer(sleeps, others_time=2.0, processor_wait=0.0) == ("waiting", "sure")


def test_who_sleeps_does_not_wait_for_a_processor_that_others_have():
    assert answer(part("idle", calls="time.sleep"), others_time=4.0, processor_wait=0.0)[0] == "waiting"


def test_waiting_for_memory_counts_where_pages_came_from_the_swap():
    busy = part("interpreter", module="builtins")
    assert answer(busy, memory_stall=0.8, swapped=9_000) == ("memory", "sure")
    assert answer(busy, memory_stall=0.8, swapped=0)[0] == "python"


def test_a_machine_on_which_another_program_swaps_is_not_what_the_cell_is_short_of():
    busy = part("interpreter", module="builtins")
    swaps = {"memory_stall": 0.8, "swapped": 9_000}
    assert answer(busy, **swaps, major_faults=0) == ("python", "sure")
    own = judged(busy, **swaps, major_faults=2_000).limit
    assert (own.kind, own.confidence) == ("memory", "sure")
    assert {"major_faults", "memory_stall"} <= {one.quantity for one in own.evidence}


def test_what_ran_first_after_long_tracing_was_its_preparation():
    traced = part("short calls", 0.4, 8, doing="compiling", line=1)
    ran = part("native", 0.6, 12, calls="TFE_Py_Execute", line=1)
    assert answer(traced, ran) == ("compiling", "likely")
    hardly_seen = replace(traced, seconds=0.1, samples=2)
    assert answer(hardly_seen, ran)[0] == "device"
    assert answer(hardly_seen, ran, compile_time=0.35, compiled=4)[0] == "compiling"


def test_a_first_run_that_compiled_as_well_is_compiling_and_what_ran_after_it_is_not():
    ran = part("native", 1.0, 25, calls="TFE_Py_Execute")
    assert answer(ran, first_runs=0.8) == ("compiling", "likely")
    assert answer(ran, first_runs=0.2)[0] == "device"


def test_compiling_that_the_framework_has_measured_itself_needs_no_guess():
    traced = part("short calls", 0.4, 8, doing="compiling", line=1)
    ran = part("native", 0.6, 12, calls="TFE_Py_Execute", line=1)
    assert answer(traced, ran, compile_time=0.98) == ("compiling", "sure")
    assert answer(traced, ran, compile_time=0.4) == ("compiling", "likely")


def test_compiling_that_nobody_saw_is_told_by_the_framework_and_shown_as_evidence():
    kept = part("interpreter", 0.7, 1, calls="jit", module="jax")
    seen = part("short calls", 0.3, 9, calls="jnp.add", module="jax")
    limit = judged(
        seen, unsampled=0.7, unsampled_in=(kept,), process_time=1.0, compile_time=0.65, compiled=3
    ).limit
    assert (limit.kind, limit.share) == ("compiling", pytest.approx(0.65))
    (told,) = [one for one in limit.evidence if one.quantity == "compile_time"]
    assert (told.value, told.unit, told.samples) == (0.65, "s", 3)


def test_measured_compiling_is_told_of_a_cell_that_was_hardly_looked_at():
    seen = part("idle", 0.14, 2, calls="fused", module="torch")
    assert answer(seen, compile_time=0.12, compiled=1) == ("compiling", "likely")
    assert judged(seen, compile_time=0.02, compiled=1).limit is None


def test_a_child_that_worked_compiled_nothing_where_the_framework_says_so():
    waits = part("idle", calls="loss.numpy", module="tensorflow")
    assert answer(waits, children_time=0.9) == ("compiling", "likely")
    assert answer(waits, children_time=0.9, compile_time=0.0, compiled=0)[0] == "waiting"


def test_native_threads_that_call_python_leave_it_open_what_they_compute():
    waits = part("idle beside others", calls="TFE_Py_Execute")
    assert answer(waits, called_back=True) == ("device", "open")
    assert answer(waits) == ("device", "sure")
    assert answer(part("native", calls="TFE_Py_Execute"), called_back=True) == ("device", "sure")


def test_python_that_native_threads_were_seen_to_run_gets_data_ready():
    waits = part("idle beside others", 0.2, 6, calls="TFE_Py_Execute")
    ran = part("idle beside Python", 0.8, 24, calls="TFE_Py_Execute")
    assert answer(waits, ran, called_back=True) == ("input", "likely")
    asked = part("idle beside Python", calls="loss.numpy", module="tensorflow")
    assert answer(asked, called_back=True) == ("input", "likely")


def on_gpu(*parts, busy, **more):
    """The limit of a cell on a GPU that was busy for a part of the time, as the driver tells it."""
    return judged(*parts, record=on_a_gpu(), gpus={"GPU 0": (busy, 40)}, **more).limit


def test_who_waits_for_a_gpu_that_had_little_to_do_waits_for_a_copy_and_else_for_its_work():
    waits = part("idle beside others", calls="y.block_until_ready", module="jaxlib")
    copies = part("native", calls="y.to", module="torch")
    for seen in (waits, copies):
        assert on_gpu(seen, busy=0.13).kind == "transfer"
        assert on_gpu(seen, busy=0.97).kind == "device"


def test_the_work_of_a_gpu_that_others_may_use_as_well_is_not_sure():
    waits = part("native", doing="values", calls="torch.cuda.synchronize", module="torch.cuda")
    alone = on_gpu(waits, busy=0.99, gpu_others=0.0)
    assert (alone.kind, alone.confidence) == ("device", "sure")
    assert on_gpu(waits, busy=0.99, gpu_others=None).confidence == "likely"
    assert on_gpu(waits, busy=0.99, gpu_others=None, gpu_neighbours=0).confidence == "likely"
    assert on_gpu(waits, busy=0.99, gpu_others=0.0, gpu_neighbours=1).confidence == "sure"
    beside_others = on_gpu(waits, busy=0.99, gpu_others=None, gpu_neighbours=1)
    assert (beside_others.kind, beside_others.confidence, beside_others.share) == ("unknown", "open", None)
    assert str(beside_others.said) == (
        "GPU 0 was working nearly all of the time (line 3), for this cell or for another program."
    )
    assert "nvidia-smi" in str(beside_others.next)


def test_what_stays_where_it_was_is_as_much_of_a_guess_as_before():
    late = part("kept lock", 0.9, 27, calls="min", module="builtins")
    starts = part("short calls", 0.1, 3, calls="torch.add", module="torch")
    limit = on_gpu(late, starts, busy=0.97)
    assert (limit.kind, limit.confidence) == ("python", "likely")


def test_a_backward_pass_that_other_threads_start_is_the_gpu_s_as_long_as_that_works():
    backward = part("idle beside others", calls="engine.run_backward", module="torch.autograd.variable")
    mostly = on_gpu(backward, busy=0.57)
    assert (mostly.kind, mostly.share) == ("device", pytest.approx(0.57))
    assert str(mostly.said) == "GPU 0 was working about 60 % of the time (line 3)."
    seldom = on_gpu(backward, busy=0.2)
    assert (seldom.kind, seldom.confidence) == ("launch", "likely")
    assert seldom.share == pytest.approx(0.8)


def test_what_the_host_does_ahead_of_a_gpu_that_always_works_limits_nothing():
    starts = part("kept lock", calls="fused", module="torch")
    assert on_gpu(starts, busy=0.97).kind == "device"
    assert on_gpu(part("short calls", calls="there.sum", module="torch"), busy=0.95).kind == "device"
    assert on_gpu(starts, busy=0.5).kind == "python"
    # Python's own work may have nothing to do with the GPU, which others may use.
    assert on_gpu(part("interpreter", calls="min", module="builtins"), busy=0.97).kind == "python"


def test_values_that_a_busy_gpu_computed_are_its_work_and_from_an_idle_one_they_are_copies():
    asks = part("native", calls="loss.item", module="torch")
    busy = judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.97, 40)}).limit
    assert (busy.kind, str(busy.said)) == ("device", "GPU 0 was working nearly all of the time (line 3).")
    idle = judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.1, 40)}).limit
    assert idle.kind == "transfer"
    waits = part("idle", calls="y.block_until_ready", module="jaxlib")
    assert judged(waits, record=on_a_gpu(), gpus={"GPU 0": (0.1, 40)}).limit.kind == "transfer"


def test_lines_are_told_with_their_intervals_from_twenty_looks_on():
    often, seldom = part("idle", 0.8, 24, calls="fetch", line=4), part("interpreter", 0.2, 6, line=9)
    lines = judged(often, seldom).lines
    assert [(one.line, one.samples, one.share, one.calls) for one in lines] == [
        (4, 24, 0.8, "fetch"),
        (9, 6, 0.2, None),
    ]
    assert lines[0].low < 0.8 < lines[0].high
    assert judged(replace(often, samples=13), seldom).lines == ()


def test_evidence_has_units_sources_and_samples():
    evidence = {one.quantity: one for one in judged(part("idle", calls="time.sleep")).limit.evidence}
    samples = evidence["samples_share"]
    assert (samples.value, samples.unit, samples.source, samples.samples) == (1.0, "share", "samples", 30)
    assert evidence["thread_time"].unit == "s"
    assert "memory_stall" not in evidence


def test_a_record_with_a_limit_is_read_back_as_it_was():
    record = judged(part("idle", calls="time.sleep", module="time"))
    assert Record.from_json(record.to_json()) == record


def test_a_gpu_that_others_use_as_well_is_contention():
    asks = part("native", calls="loss.item", module="torch")
    limit = judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.99, 40)}, gpu_others=0.7).limit
    assert limit.kind == "contention"
    assert judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.99, 40)}, gpu_others=0.1).limit.kind == "device"


def test_of_a_gpu_that_is_shared_nobody_is_sure_whose_work_it_was():
    asks = part("native", calls="loss.item", module="torch")
    limit = judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.99, 40)}, gpu_others=0.4).limit
    assert (limit.kind, limit.confidence) == ("unknown", "open")
    assert "was working nearly all of the time" in limit.said
    assert "for this cell or for another program" in limit.said


def test_an_allocator_that_tried_again_and_again_is_short_of_memory_and_how_long_is_not_told():
    asks = part("native", calls="loss.item", module="torch")
    limit = judged(asks, record=on_a_gpu(), allocator_retries=40).limit
    assert (limit.kind, limit.confidence, limit.share) == ("memory", "likely", None)
    assert "retried 40 times" in limit.said
    assert judged(asks, record=on_a_gpu(), allocator_retries=1).limit.kind == "device"


def test_who_waits_in_a_call_that_nobody_knows_waits_for_a_busy_gpu():
    waits = part("idle")
    assert judged(waits, record=on_a_gpu(), gpus={"GPU 0": (0.9, 40)}).limit.kind == "device"
    assert judged(waits, record=on_a_gpu(), gpus={"GPU 0": (0.1, 40)}).limit.kind == "waiting"


def on_a_mac() -> Record:
    record = on_a_gpu()
    ran = RanOn("torch", "gpu:0", "metal", "mps", None, None, None, "driver")
    return replace(record, device=replace(record.device, ran_on=(ran,)))


@pytest.mark.parametrize(("call", "module"), [("v.item", "torch"), ("float", "builtins")])
@pytest.mark.parametrize("busy", [0.1, 0.97])
def test_who_asks_a_mac_s_gpu_for_values_waits_for_the_gpu_however_busy_it_is(call, module, busy):
    asks = part("idle", calls=call, module=module)
    limit = judged(asks, record=on_a_mac(), gpus={"GPU": (busy, 40)}).limit
    assert limit.kind == "device"
    assert limit.said.endswith("(line 3).")
    assert "request less" not in limit.next
    assert ("Waited for the GPU" in limit.said) == (busy < 0.6)
    assert ("waiting for the GPU" in clause(limit)) == (busy < 0.6)


def counted(share) -> Record:
    """A cell on a Mac, for which its driver counted such a share of its time for the GPU."""
    record = on_a_mac()
    time = new_reading("device_time", share * record.duration, "process", "IORegistry", 1, device="gpu:0")
    return replace(record, readings=(*record.readings, time))


def test_a_wait_without_a_name_is_for_the_gpu_that_the_driver_counted_as_busy():
    backward = part("idle", calls="Variable._execution_engine.run_backward", module="torch")
    busy = judged(backward, record=counted(0.95)).limit
    assert (busy.kind, busy.confidence) == ("device", "likely")
    assert str(busy.said).startswith("gpu:0 ran kernels about 95 %")
    assert [one.quantity for one in busy.evidence if one.quantity == "device_busy"] == []
    assert busy.bound is None
    # The count may be too low, so a low one says nothing.
    low = judged(backward, record=counted(0.2)).limit
    assert low.kind == judged(backward, record=on_a_mac()).limit.kind == "waiting"


def test_without_a_count_of_the_gpu_s_use_asking_for_values_is_waiting_for_the_gpu_too():
    limit = judged(part("idle", calls="v.item", module="torch"), record=on_a_mac()).limit
    assert str(limit.said).startswith("Waited for the GPU")
    assert "read them after it" in limit.next
