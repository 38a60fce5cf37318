"""What limited a cell follows from what was seen of it; what is not enough for an answer gives none."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.judge import with_limit
from jupyter_mlgpu.measure.activity.activity import Line
from jupyter_mlgpu.record.record import LogLine, RanOn, Record
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.activity import activity, part

pytestmark = pytest.mark.small


def judged(*parts, record=None, lines_above=0, **more) -> Record:
    return with_limit(record or example_record(1), activity(*parts, **more), lines_above)


def answer(*parts, **more) -> tuple[str, str]:
    limit = judged(*parts, **more).limit
    return limit.kind, limit.confidence


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


def test_the_sentence_names_the_share_the_call_and_the_line():
    record = judged(
        part("idle", 0.9, 27, calls="time.sleep", module="time", line=4), part("interpreter", 0.1, 3)
    )
    assert str(record.limit.said) == "Waited 90 % of the time in time.sleep (line 4)."
    assert record.limit.share == pytest.approx(0.9)


def test_a_line_of_another_cell_is_named_by_its_cell_and_lines_of_this_one_are_counted_from_its_top():
    here = judged(part("interpreter", module="builtins", line=2), lines_above=1)
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
    assert str(short.why_no_limit) == "The cell was looked at 2 times, which is too little to tell."


def test_clocks_that_disagree_with_the_looks_leave_the_question_open():
    assert answer(part("interpreter", module="builtins"), process_time=0.1) == ("python", "open")
    assert answer(part("idle", calls="time.sleep"), thread_time=0.9) == ("waiting", "open")


def test_what_was_seen_only_after_the_lock_had_been_kept_is_likely_at_most():
    kept = part("interpreter", 0.8, 1, calls="sum", module="builtins")
    seen = part("interpreter", 0.2, 6, module="builtins")
    assert answer(seen, unseen=0.8, unseen_in=(kept,), process_time=1.0) == ("python", "likely")


def test_a_cell_that_never_gave_the_lock_up_worked_in_python_most_likely():
    assert answer(seconds=2.0, unseen=2.0, unseen_busy=2.0, process_time=2.0) == ("python", "likely")


def test_somebody_s_profiler_makes_times_say_nothing():
    record = judged(part("interpreter", 0.1, 2, doing="profiler"), part("idle", 0.9, 20))
    assert record.limit is None
    assert "A profiler or debugger was at work" in record.why_no_limit
    assert record.lines == ()


def test_a_wait_for_processors_that_others_had_is_contention():
    busy = part("interpreter", module="builtins")
    assert answer(busy, processor_wait=0.9, others_time=3.0) == ("contention", "sure")
    # Its own threads may have had them.
    assert answer(busy, processor_wait=0.9, others_time=0.1) == ("python", "sure")


def test_looks_that_came_late_beside_a_busy_machine_leave_it_open_what_they_saw():
    late = [part("kept lock", 0.5, 15), part("short calls", 0.5, 15, calls="torch.add", module="torch")]
    assert answer(*late, others_time=2.0)[1] == "open"
    assert answer(part("kept lock")) == ("python", "likely")


def test_who_sleeps_does_not_wait_for_a_processor_that_others_have():
    assert answer(part("idle", calls="time.sleep"), others_time=4.0, processor_wait=0.0)[0] == "waiting"


def test_waiting_for_memory_counts_where_pages_came_from_the_swap():
    busy = part("interpreter", module="builtins")
    assert answer(busy, memory_stall=0.8, swapped=9_000) == ("memory", "sure")
    assert answer(busy, memory_stall=0.8, swapped=0)[0] == "python"


def test_what_ran_first_after_long_tracing_was_its_preparation():
    traced = part("short calls", 0.4, 8, doing="compiling", line=1)
    ran = part("native", 0.6, 12, calls="TFE_Py_Execute", line=1)
    assert answer(traced, ran) == ("compiling", "likely")
    assert answer(replace(traced, seconds=0.1, looks=2), ran)[0] == "device"


def test_a_compiler_that_only_its_message_tells_of_is_likely():
    line = LogLine(
        "Compiled cluster", "xla-cluster-compiled", "info", None, None, {}, 1, "stderr", None, False
    )
    record = replace(example_record(1), logs=(line,))
    assert answer(part("native", calls="TFE_Py_Execute"), record=record) == ("compiling", "likely")


def test_native_threads_that_call_python_leave_it_open_what_they_compute():
    waits = part("idle beside others", calls="TFE_Py_Execute")
    assert answer(waits, called_back=True) == ("device", "open")
    assert answer(waits) == ("device", "sure")
    assert answer(part("native", calls="TFE_Py_Execute"), called_back=True) == ("device", "sure")


def test_values_that_a_busy_gpu_computed_are_its_work_and_from_an_idle_one_they_are_copies():
    asks = part("native", calls="loss.item", module="torch")
    busy = judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.97, 40)}).limit
    assert (busy.kind, str(busy.said)) == ("device", "GPU 0 worked 100 % of the time (line 3).")
    idle = judged(asks, record=on_a_gpu(), gpus={"GPU 0": (0.1, 40)}).limit
    assert idle.kind == "transfer"
    # What only waits copies nothing.
    waits = part("idle", calls="y.block_until_ready", module="jaxlib")
    assert judged(waits, record=on_a_gpu(), gpus={"GPU 0": (0.1, 40)}).limit.kind == "device"


def test_lines_are_told_with_their_intervals_from_twenty_looks_on():
    often, seldom = part("idle", 0.8, 24, calls="fetch", line=4), part("interpreter", 0.2, 6, line=9)
    lines = judged(often, seldom).lines
    assert [(one.line, one.samples, one.share, one.calls) for one in lines] == [
        (4, 24, 0.8, "fetch"),
        (9, 6, 0.2, None),
    ]
    assert lines[0].low < 0.8 < lines[0].high
    assert judged(replace(often, looks=13), seldom).lines == ()


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


def test_an_allocator_that_tried_again_and_again_is_short_of_memory_and_how_long_is_not_told():
    asks = part("native", calls="loss.item", module="torch")
    limit = judged(asks, record=on_a_gpu(), allocator_retries=40).limit
    assert (limit.kind, limit.confidence, limit.share) == ("memory", "likely", None)
    assert "tried again 40 times" in limit.said
    assert judged(asks, record=on_a_gpu(), allocator_retries=1).limit.kind == "device"


def test_who_waits_in_a_call_that_nobody_knows_waits_for_a_busy_gpu():
    waits = part("idle")
    assert judged(waits, record=on_a_gpu(), gpus={"GPU 0": (0.9, 40)}).limit.kind == "device"
    assert judged(waits, record=on_a_gpu(), gpus={"GPU 0": (0.1, 40)}).limit.kind == "waiting"
