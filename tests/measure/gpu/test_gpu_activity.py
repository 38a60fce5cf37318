"""What a cell's GPUs did, from records as CUPTI writes them; no GPU is needed."""

import os

import numpy as np
import pytest

from jupyter_mlgpu.measure.gpu import activity_switch, gpu_activity
from jupyter_mlgpu.measure.gpu import intervals as intervals_module
from jupyter_mlgpu.measure.gpu.activity_records import UnknownKindError, read, sizes_of
from jupyter_mlgpu.measure.gpu.cupti import COPY, KERNEL, PEER_COPY, SET
from jupyter_mlgpu.measure.gpu.driver import DriverError
from jupyter_mlgpu.measure.gpu.gpu_activity import GpuActivity
from jupyter_mlgpu.measure.gpu.gpu_meter import CLOCK_JUMPED, GpuMeter
from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals
from jupyter_mlgpu.measure.gpu.kernel_names import demangle
from jupyter_mlgpu.measure.ops.busy import length, union
from jupyter_mlgpu.measure.probes.sampler import Sampler
from tests.support.cupti import RECORDED, SIZES, FakeCupti, FakeProfilers, copy, kernel, memory_set
from tests.support.gpu_machine import Machine, end

pytestmark = pytest.mark.needs("numpy")


def recorded(name):
    return np.frombuffer((RECORDED / f"{name}.bin").read_bytes(), np.uint64)


def totals_of(*records):
    totals = GpuTotals()
    for columns in read(np.frombuffer(b"".join(records), np.uint64), SIZES):
        totals.add(columns)
    return totals


@pytest.fixture
def machine(monkeypatch):
    for name in activity_switch.TOOLS:
        monkeypatch.delenv(name, raising=False)
    return Machine(0)


def test_recorded_buffers_are_read_by_kind():
    step = {one.kind: one for one in read(recorded("torch_step"), SIZES)}
    assert {kind: len(one) for kind, one in step.items()} == {KERNEL: 257, SET: 22, COPY: 25}
    assert [int(step[COPY].size[step[COPY].detail == kind].sum()) for kind in (1, 2)] == [72_000_000] * 2
    jax = {one.kind: len(one) for one in read(recorded("jax"), SIZES)}
    assert jax == {KERNEL: 23, SET: 4, COPY: 2}


def test_busy_time_of_recorded_buffers_is_the_union_of_their_intervals():
    totals, intervals = GpuTotals(), []
    for columns in read(recorded("torch_step"), SIZES):
        totals.add(columns)
        intervals += zip(columns.start.tolist(), columns.end.tolist(), strict=True)
    assert totals.all.length() == length(union(intervals))
    assert totals.launches == 304


def test_sizes_of_records_are_learned_from_where_they_begin():
    words = np.frombuffer(kernel(1, 2) + memory_set(3, 4) + copy(5, 6, 7), np.uint64)
    with pytest.raises(UnknownKindError):
        read(words, {})
    assert sizes_of(words, [0, 27, 38]) == {KERNEL: 27, SET: 11, COPY: 12}


def test_copies_are_added_up_by_direction_and_kernels_by_name():
    totals = totals_of(
        copy(0, 10, 100, 1),
        copy(10, 30, 200, 2),
        copy(30, 40, 50, 1),
        copy(40, 45, 8, kind=PEER_COPY),
        kernel(50, 60, name=7),
        kernel(60, 90, name=7),
        kernel(60, 80, name=9),
    )
    assert {name: (one.count, one.ticks, one.bytes) for name, one in totals.copies.items()} == {
        "host-to-device": (2, 20, 150),
        "device-to-host": (1, 20, 200),
        "between GPUs": (1, 5, 8),
    }
    assert {name: (one.count, one.ticks) for name, one in totals.kernels.items()} == {7: (2, 40), 9: (1, 20)}
    assert totals.all.length() == 45 + 40


def test_two_million_launches_take_constant_memory_and_none_is_lost(monkeypatch):
    monkeypatch.setattr(intervals_module, "_MERGE_AT", 2_000)
    monkeypatch.setattr(intervals_module, "_KEEP", 4_000)
    totals = GpuTotals()
    one = read(np.frombuffer(b"".join(kernel(10 * n, 10 * n + 4) for n in range(1_000)), np.uint64), SIZES)[0]
    for block in range(2_000):
        shift = np.uint64(10_000 * block)
        totals.add(
            type(one)(
                one.kind,
                one.start + shift,
                one.end + shift,
                *(getattr(one, name) for name in one.__slots__[3:]),
            )
        )
        assert totals.all._merged.shape[1] <= 6_000
    assert totals.launches == 2_000_000
    assert totals.all.length() == 2_000_000 * 4
    assert totals.all.late == 0


def test_a_record_that_comes_very_late_is_an_uncertainty(monkeypatch):
    monkeypatch.setattr(intervals_module, "_MERGE_AT", 1)
    monkeypatch.setattr(intervals_module, "_KEEP", 1)
    totals = totals_of(kernel(0, 10))
    for start in (100, 200, 300):
        totals.add(read(np.frombuffer(kernel(start, start + 10), np.uint64), SIZES)[0])
    totals.add(read(np.frombuffer(kernel(50, 60), np.uint64), SIZES)[0])  # between what was closed
    assert (totals.all.length(), totals.all.late) == (40, 10)


def test_a_cell_has_what_began_in_it_and_no_more(machine):
    machine.cell()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))  # between two cells
    machine.cupti.ticks += 100
    begun = machine.cupti.ticks + 10
    (busy,), (work,) = machine.cell(
        kernel(begun, begun + 300, name=5),
        kernel(begun + 100, begun + 400, name=5),
        copy(begun, begun + 50, 64),
    )
    assert (busy.value, busy.device, busy.samples) == (pytest.approx(400e-9), "gpu:0", 3)
    assert (busy.source, busy.scope) == ("CUPTI", "device")
    assert (work.device, work.launches, work.kernel_seconds) == ("gpu:0", 3, pytest.approx(600e-9))
    assert [(one.direction, one.count, one.bytes) for one in work.copies] == [("host-to-device", 1, 64)]
    assert [(one.name, one.count) for one in work.kernels] == [("kernel 5", 2)]


def test_a_cell_that_left_the_gpu_alone_has_a_busy_time_of_zero(machine):
    (busy,), works = machine.cell()
    assert (busy.value, busy.device, busy.samples, works) == (0.0, "gpu:0", 0, ())


def test_two_gpus_have_a_reading_each():
    machine = Machine(0, 1)
    machine.cell()
    begun = machine.cupti.ticks + 10
    readings, works = machine.cell(kernel(begun, begun + 100, device=1))
    assert [(one.device, one.value) for one in readings] == [("gpu:0", 0.0), ("gpu:1", pytest.approx(1e-7))]
    assert [one.device for one in works] == ["gpu:1"]


def test_full_buffers_are_read_while_the_cell_runs(machine):
    cell = machine.begin()
    begun = machine.cupti.ticks + 1
    for n in range(20):
        machine.cupti.happen(kernel(begun + 10 * n, begun + 10 * n + 5))
        machine.cupti.fill()
    assert machine.activity.drain() == 20
    machine.cupti.ticks += 1_000
    assert end(cell)[0][0].samples == 20


def test_the_processors_ticks_become_seconds_after_pytorchs_profiler(machine):
    class TwoTicks(FakeCupti):
        def clock(self):
            self.ticks += 2
            return self.ticks, self.ticks // 2

    machine.cupti.__class__ = TwoTicks
    begun = machine.cupti.ticks + 10
    (busy,), _ = machine.cell(kernel(begun, begun + 1_000))
    assert busy.value == pytest.approx(500e-9, rel=0.01)


def test_records_that_another_profiler_took_are_no_zero_and_the_next_cell_has_its_own(machine):
    machine.cell()
    machine.cupti.is_ours = False
    assert machine.why(kernel(1, 2)) == gpu_activity.TAKEN_OVER
    begun = machine.cupti.ticks + 10
    cell = machine.begin()
    machine.cupti.happen(kernel(begun + 5, begun + 15))
    machine.cupti.ticks += 1_000
    assert end(cell)[0][0].samples == 1


def test_a_profiler_of_the_users_is_given_way_before_it_begins(machine):
    machine.cell()
    cell = machine.begin()
    machine.profilers.begin()
    assert machine.cupti.enabled == set()
    assert end(cell)[0][0].why_missing == activity_switch.PROFILER
    assert machine.why() == activity_switch.PROFILER
    machine.profilers.on = False
    assert machine.cell()[0][0].value == 0.0
    assert machine.cupti.enabled == {KERNEL, COPY, SET, PEER_COPY}


def test_a_clock_that_goes_backwards_is_a_reason_and_no_negative_time(machine):
    machine.cell()
    cell = machine.begin()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    machine.cupti.ticks -= 1_000_000
    (reading,), works = end(cell)
    assert (reading.value, reading.why_missing, works) == (None, CLOCK_JUMPED, ())


def test_lost_records_are_counted_and_no_time_is_told(machine):
    machine.cell()
    cell = machine.begin()
    machine.cupti.lost = 1_234
    (reading,), _ = end(cell)
    assert reading.value is None
    assert "lost 1,234 records" in reading.why_missing


def test_without_a_context_cupti_is_left_alone(machine):
    machine.driver.devices = []
    assert machine.why() == activity_switch.NO_GPU
    assert machine.cupti.enabled == set()


def test_where_the_driver_is_not_loaded_there_is_a_reason():
    def missing():
        raise OSError("libcuda.so.1: cannot open shared object file")

    meter = GpuMeter(GpuActivity(FakeProfilers(), missing), Sampler(linger=0))
    (reading,), _ = end(meter.cell_begins())
    assert reading.why_missing == activity_switch.NO_CUDA


def test_where_cupti_is_missing_or_refuses_the_reason_is_told_in_every_cell(machine):
    def missing():
        raise OSError("the library libcupti was not found")

    activity = GpuActivity(machine.profilers, lambda: machine.driver, missing)
    meter = GpuMeter(activity, Sampler(linger=0))
    for _ in range(2):
        (reading,), _ = end(meter.cell_begins())
        assert "the library libcupti was not found" in reading.why_missing


@pytest.mark.parametrize("variable", activity_switch.TOOLS)
def test_a_tool_that_traces_the_process_keeps_the_records(machine, monkeypatch, variable):
    monkeypatch.setenv(variable, "/opt/tool")
    assert variable in machine.why()
    assert machine.cupti.enabled == set()


def test_a_driver_that_refuses_costs_the_reading_alone(machine):
    machine.cell()

    def refuse(device, number):
        raise DriverError("cuMemsetD32Async", 719)

    machine.driver.mark = refuse
    assert "cuMemsetD32Async answered 719" in machine.why()


def test_the_work_is_waited_for_and_an_error_of_it_is_the_users(machine):
    cell = machine.begin()
    cell.wait()
    assert machine.driver.waited == [0]

    def fail(device):
        raise DriverError("cuCtxSynchronize", 700)

    machine.driver.synchronize = fail
    cell.wait()


def test_stop_switches_the_records_off_and_leaves_the_profilers_alone(machine):
    machine.cell()
    machine.meter.stop()
    assert machine.cupti.enabled == set()
    assert machine.profilers.told is None
    assert machine.cell()[0][0].value == 0.0


def test_a_cell_that_is_abandoned_takes_no_records(machine):
    machine.cell()
    machine.begin().abandon()
    assert machine.activity._cells == []


def test_a_forked_child_touches_no_gpu(machine):
    machine.cell()
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if machine.activity.cell_begins().why == activity_switch.NO_CUDA else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"_Z6vectorPfi", "vector(float*, int)"),
        (b"loop_add_fusion", "loop_add_fusion"),
        (b"_Z\xff", "_Z\ufffd"),
    ],
)
def test_names_of_kernels_are_shown_as_people_write_them(name, shown):
    assert demangle(name) == shown


def test_the_driver_is_not_looked_for_before_every_cell():
    sampled = []

    def missing():
        sampled.append(1)
        raise OSError("libcuda.so.1: cannot open shared object file")

    activity = GpuActivity(FakeProfilers(), missing)
    for _ in range(100):
        assert activity.cell_begins().why == activity_switch.NO_CUDA
    assert len(sampled) < 10
