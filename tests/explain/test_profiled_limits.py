"""What limited a profiled cell follows from its trace; where the device was idle, the looks say why."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.judge import PROFILED, with_limit
from jupyter_mlgpu.explain.limits.profiled import IN_THE_TABLE, with_trace
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import OpStat, Record
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.activity import activity, part

pytestmark = pytest.mark.small
UNITS = {"operation_rate": "1/s", "operation_length": "s"}


def traced(*parts, device="gpu:0", **values) -> Record:
    """A profiled cell with looks at its code, and with these readings of its trace."""
    record = replace(example_record(1), mode="profiled")
    if parts:
        record = with_limit(record, activity(*parts))
    on = {name: None if name in ("host_operations", "short_operations") else device for name in values}
    trace = tuple(
        Reading(name, value, UNITS.get(name, "share"), "device", "profiler", 100, device=on[name])
        for name, value in values.items()
    )
    return with_trace(replace(record, readings=(*record.readings, *trace)))


def on_gpu(*parts, busy, copies=0.0, **more) -> Record:
    return traced(*parts, device_idle=1 - busy, device_copies=copies, **more)


def answer(record: Record) -> tuple[str, str]:
    return record.limit.kind, record.limit.confidence


LOOPS = part("interpreter", module="builtins")
WAITS = part("idle", calls="loss.item", module="torch", doing="values")


def test_a_device_that_worked_most_of_the_run_is_what_it_waited_for_and_surely():
    assert answer(on_gpu(busy=0.9)) == ("device", "sure")
    assert answer(on_gpu(LOOPS, busy=0.9)) == ("device", "sure")  # Python ran ahead of it
    assert answer(on_gpu(busy=0.55)) == ("device", "likely")


def test_copies_that_took_most_of_the_run_are_the_answer():
    assert answer(on_gpu(WAITS, busy=0.9, copies=0.8)) == ("transfer", "sure")
    assert answer(on_gpu(WAITS, busy=0.6, copies=0.4)) == ("transfer", "open")


def test_a_device_that_was_idle_leaves_the_answer_to_the_looks_and_says_so():
    found = on_gpu(LOOPS, busy=0.1)
    assert answer(found) == ("python", "likely")  # a profiler makes Python slower
    assert found.limit.said.startswith("gpu:0 was idle for 90 % of the profiled run. Python itself took")
    assert answer(on_gpu(part("idle", doing="input", calls="next(loader)"), busy=0.1)) == ("input", "likely")
    assert answer(on_gpu(part("idle", calls="time.sleep", module="time"), busy=0.1)) == ("waiting", "sure")


def test_short_kernels_with_longer_gaps_while_the_host_starts_operations_are_launches():
    pace = {"device_gaps": 0.8, "operation_rate": 50_000.0, "operation_length": 3e-6, "host_operations": 0.9}
    assert answer(on_gpu(busy=0.15, **pace)) == ("launch", "likely")
    assert answer(on_gpu(WAITS, busy=0.15, **pace)) == ("launch", "likely")
    long = {**pace, "operation_rate": 10.0, "operation_length": 15e-3, "host_operations": 0.1}
    assert answer(on_gpu(busy=0.15, **long)) == ("unknown", "open")


def test_of_the_host_many_short_operations_are_launches_and_long_ones_its_work():
    assert answer(traced(host_operations=0.9, short_operations=0.85)) == ("launch", "likely")
    assert answer(traced(host_operations=0.9, short_operations=0.01)) == ("device", "likely")
    small = part("short calls", calls="torch.add", module="torch")
    assert answer(traced(small, host_operations=0.9, short_operations=0.01))[0] == "device"
    assert answer(traced(LOOPS, host_operations=0.9, short_operations=0.8))[0] == "launch"


def test_of_a_host_with_few_operations_the_looks_know_more():
    assert answer(traced(LOOPS, host_operations=0.2, short_operations=0.1)) == ("python", "likely")
    native = part("native", calls="np.sort", module="numpy")
    assert answer(traced(native, host_operations=0.1, short_operations=0.0)) == ("device", "sure")
    assert traced(host_operations=0.2, short_operations=0.1).limit is None


def test_the_readings_of_the_trace_are_the_evidence_before_the_looks():
    found = on_gpu(LOOPS, busy=0.1, device_gaps=0.5, host_operations=0.2).limit.evidence
    assert [one.quantity for one in found[:4]] == [
        "device_idle",
        "device_copies",
        "device_gaps",
        "host_operations",
    ]
    assert found[4].quantity == "samples_share"


def test_a_users_own_profiler_and_a_profile_without_a_trace_leave_it_as_it_was():
    own = traced(part("interpreter", doing="profiler"), device_idle=0.1)
    assert (own.limit, own.why_no_limit) == (None, PROFILED)
    bare = with_limit(replace(example_record(1), mode="profiled"), activity(LOOPS))
    assert with_trace(bare) == bare


def test_a_profiled_cell_is_not_advised_to_be_profiled():
    row = OpStat("mm", "mm", "host", 1, 0.1, 0.1, "fake profiler", "host")
    sampled = replace(example_record(1), mode="profiled", ops=())
    sampled = with_limit(sampled, activity(part("native", module="torch")))
    assert "--ops" in sampled.limit.next
    assert with_trace(replace(sampled, ops=(row,))).limit.next == IN_THE_TABLE
    assert with_trace(sampled).limit.next is None
    assert "--ops" not in (on_gpu(busy=0.9).limit.next or "")
