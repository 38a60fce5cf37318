"""Work that goes on after its cell belongs to it all the same; nobody waits for the GPU."""

import threading

import numpy as np
import pytest

from jupyter_mlgpu.measure.gpu import activity_switch
from jupyter_mlgpu.measure.gpu import intervals as intervals_module
from jupyter_mlgpu.measure.gpu.activity_records import read
from jupyter_mlgpu.measure.gpu.activity_switch import PROFILER
from jupyter_mlgpu.measure.gpu.boundaries import Boundaries
from jupyter_mlgpu.measure.gpu.gpu_activity import CUT_SHORT, TAKEN_OVER
from jupyter_mlgpu.measure.gpu.gpu_totals import GpuTotals
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK
from jupyter_mlgpu.show.receipts import html
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.backend import FakeBackend
from jupyter_mlgpu.testing.clock import FakeClock
from tests.support.cupti import RECORDED, SIZES, FakeCupti, kernel
from tests.support.gpu_machine import Machine
from tests.support.waiting import until

pytestmark = pytest.mark.needs("numpy")


@pytest.fixture
def machine():
    return Machine(0)


def leave(cell):
    """The code of a cell has ended, and what it launched goes on."""
    cell.ends()
    figures = cell.finish_within(0)
    assert figures.readings[0].why_missing == STILL_AT_WORK
    return cell


def done(cell):
    """What a cell says once it is complete."""
    until(cell._cell.done.is_set)
    return cell.figures()


def test_work_belongs_to_the_cell_that_launched_it_although_the_next_one_runs(machine):
    machine.cupti.at_work = True
    first = machine.begin()
    now = machine.cupti.ticks
    machine.cupti.happen(kernel(now, now + 9_000, name=1), kernel(now + 9_000, now + 18_000, name=1))
    leave(first)
    second = machine.begin()
    machine.cupti.happen(kernel(now + 500, now + 600, name=2))
    leave(second)
    machine.cupti.ticks += 20_000
    machine.cupti.at_work = False
    (one,), (other,) = done(first).work, done(second).work
    assert [(kernel.name, kernel.count) for kernel in one.kernels] == [("kernel 1", 2)]
    assert [(kernel.name, kernel.count) for kernel in other.kernels] == [("kernel 2", 1)]


def test_a_cell_has_all_of_its_work_although_the_mark_of_the_next_one_is_missing_yet(machine):
    machine.cupti.at_work = True
    first = machine.begin()
    now = machine.cupti.ticks
    machine.cupti.happen(kernel(now, now + 1_000), kernel(now + 1_000, now + 2_000))
    first.ends()
    machine.cupti.fill()
    second = machine.begin()
    machine.activity.drain()
    (work,) = done(first).work
    assert work.launches == 2
    machine.cupti.at_work = False
    leave(second)
    assert done(second).work == ()


def test_how_long_the_gpu_went_on_is_counted_from_the_end_of_the_code(machine):
    machine.cupti.at_work = True
    cell = machine.begin()
    now = machine.cupti.ticks
    machine.cupti.happen(kernel(now, now + 5_000))
    machine.cupti.ticks = now + 2_000
    leave(cell)
    machine.cupti.ticks = now + 6_000
    machine.cupti.at_work = False
    (work,) = done(cell).work
    assert work.went_on == pytest.approx(3_000e-9, rel=0.01)


def test_a_cell_that_waits_for_the_work_of_an_earlier_one_says_how_long_that_went_on(machine):
    machine.cupti.at_work = True
    first = machine.begin()
    now = machine.cupti.ticks
    machine.cupti.happen(kernel(now, now + 9_000_000))
    machine.cupti.ticks = now + 1_000_000
    leave(first)
    waiting = machine.begin()
    machine.cupti.ticks = now + 10_000_000
    leave(waiting)
    rests = machine.begin()
    machine.cupti.ticks = now + 11_000_000
    machine.cupti.at_work = False
    leave(rests)
    (one,), (other,) = done(first).work, done(waiting).work
    assert (one.launches, one.earlier) == (1, 0.0)
    assert (other.launches, other.lane) == (0, None)
    assert other.earlier == pytest.approx(8e-3, rel=0.01)
    assert done(rests).work == ()


def test_the_lanes_of_a_cell_that_runs_grow_with_the_records_that_came(machine):
    cell = machine.begin()
    assert cell.lanes_so_far() == ()
    now = machine.cupti.ticks
    machine.cupti.happen(kernel(now, now + 150_000_000))
    machine.cupti.ticks = now + 300_000_000
    until(cell.lanes_so_far)
    ((device, lane),) = [(one.device, one.lane) for one in cell.lanes_so_far()]
    assert device == "gpu:0"
    assert lane.kernel_seconds == pytest.approx(0.15)
    assert set(lane.kernels) == {"9"}
    assert 115 <= len(lane.kernels) <= 125  # of 240: what the GPU did after the last record is not known
    cell.ends()
    assert cell.lanes_so_far() == ()
    assert cell.finish_within(60).work[0].launches == 1


def test_a_gpu_that_has_done_everything_is_known_at_the_cells_end(machine):
    cell = machine.begin()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    machine.cupti.ticks += 100
    cell.ends()
    (busy,), (work,) = cell.finish_within(60)
    assert (busy.samples, work.went_on) == (1, 0.0)


def test_what_others_launch_between_two_cells_belongs_to_neither(machine):
    first = machine.begin()
    first.ends()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    second = machine.begin()
    second.ends()
    assert [done(cell).readings[0].samples for cell in (first, second) if cell.finish_within(60)] == [0, 0]


def test_a_gpu_that_is_used_for_the_first_time_in_a_cell_is_counted(machine):
    cell = machine.begin()
    machine.driver.devices = [0, 1]
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10, device=1))
    cell.ends()
    readings, _ = cell.finish_within(60)
    assert [(one.device, one.samples) for one in readings] == [("gpu:0", 0), ("gpu:1", 1)]


def test_a_cell_within_a_cell_counts_in_both(machine):
    outer = machine.begin()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    inner = machine.begin()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    inner.ends()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    outer.ends()
    assert inner.finish_within(60).readings[0].samples == 1
    assert outer.finish_within(60).readings[0].samples == 3


def test_ids_of_launches_may_begin_again_at_zero(machine):
    machine.cupti.launched = 0xFFFFFFFD
    cell = machine.begin()
    machine.cupti.happen(*[kernel(machine.cupti.ticks, machine.cupti.ticks + 10)] * 5)
    cell.ends()
    assert cell.finish_within(60).readings[0].samples == 5


def test_a_profiler_that_begins_meanwhile_cuts_the_cell_short(machine):
    machine.cupti.at_work = True
    first = machine.begin()
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 10))
    leave(first)
    second = machine.begin()
    machine.profilers.begin()
    assert done(first).readings[0].why_missing == CUT_SHORT or done(first).readings[0].samples == 1
    second.ends()
    assert done(second).readings[0].why_missing == PROFILER


def test_marks_that_somebody_else_took_are_known_by_later_ones(machine):
    machine.cupti.at_work = True
    first = machine.begin()
    machine.cupti.is_ours = False
    leave(first)
    machine.cupti.is_ours = True
    second = machine.begin()
    second.ends()
    machine.cupti.at_work = False
    assert second.finish_within(60).readings[0].samples == 0
    assert done(first).readings[0].why_missing == TAKEN_OVER


def test_a_driver_that_hangs_holds_up_no_cell_and_no_end(machine, monkeypatch):
    first = machine.begin()
    hangs, go_on = threading.Event(), threading.Event()

    def hang(*, forced=False):
        hangs.set()
        go_on.wait(60)

    monkeypatch.setattr(machine.cupti, "flush", hang)
    leave(first)
    hangs.wait()
    leave(machine.begin())
    monkeypatch.setattr(activity_switch, "_HANGS", 0.0)
    machine.meter.stop()
    assert first.figures().readings[0].why_missing == CUT_SHORT
    go_on.set()


def test_a_boundary_waits_for_every_gpu():
    boundaries = Boundaries()
    first, second = boundaries.announce([0, 1]), boundaries.announce([0, 1])
    boundaries.receive([(first.number, 0, 7)])
    assert first.waiting == {1}
    boundaries.receive([(second.number, 0, 9), (first.number, 1, 8)])
    assert (first.waiting, first.lost, second.waiting) == (set(), False, {1})


class Recorded(FakeCupti):
    """CUPTI that gives, once it is flushed, what was recorded on an H200 (CUPTI 13.0, PyTorch 2.11).

    Four cells followed each other without waiting: 40 products that take 57 ms, 100 additions on another
    stream, 20 copies and 4 graphs of 10 kernels there, and nothing.
    """

    def happen(self, *records):
        self._pending = (RECORDED / "cells.bin").read_bytes() if self.enabled else b""


def test_recorded_work_of_four_cells_is_divided_as_it_was_launched():
    machine = Machine(0, cupti=Recorded())
    machine.cupti.at_work = True
    cells = []
    for _ in range(4):
        cells.append(machine.begin())
        cells[-1].ends()
    machine.cupti.at_work = False
    machine.activity.sample()
    works = [cell.figures().work for cell in cells]
    assert [sum(one.launches for one in work) for work in works] == [80, 100, 60, 0]
    (products,), (additions,), (mixed,), nothing = works
    assert products.kernel_seconds == pytest.approx(0.0569, rel=0.01)
    assert [one.count for one in additions.kernels] == [100]
    assert [(one.direction, one.count, one.bytes) for one in mixed.copies] == [
        ("host-to-device", 20, 20 * 400_000)
    ]
    assert nothing == ()
    drawn = html.receipt(example_record().with_gpu(cells[2].figures()))
    assert "Copies of gpu:0" in drawn
    assert "host-to-device" in drawn
    assert "60 launches" in drawn


def test_an_hour_of_recorded_training_steps_is_added_up_in_constant_memory(machine, monkeypatch):
    monkeypatch.setattr(intervals_module, "_MERGE_AT", 10_000)
    monkeypatch.setattr(intervals_module, "_KEEP", 20_000)
    words = np.frombuffer((RECORDED / "torch_step.bin").read_bytes(), np.uint64)
    one_step = GpuTotals()
    for records in read(words, SIZES):
        one_step.add(records)
    cell = machine.begin()
    hour, steps = 3_600 * 10**9, 1_200
    for turn in range(steps):
        machine.cupti.fill_with(words, shifted_by=turn * hour // steps)
        machine.activity.drain()
    machine.cupti.ticks += hour
    cell.ends()
    (busy,), (work,) = cell.finish_within(60)
    assert work.launches == busy.samples == steps * one_step.launches
    assert busy.value == pytest.approx(steps * one_step.all.length() / 1e9, rel=1e-6)
    assert cell._cell.totals[0].all._merged.shape[1] <= 30_000


def recorder(machine, backend):
    return Recorder(
        new_run(None),
        clock=FakeClock(),
        probes=(),
        backends=lambda: [backend],
        versions={},
        gpu=lambda: machine.meter,
    )


def test_nobody_waits_where_the_records_tell_what_the_devices_do(machine):
    backend = FakeBackend()
    backend.recorded = True
    machine.cupti.at_work = True
    measured = recorder(machine, backend).start("launch", waits=False)
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 1_000))
    record = measured.stop()
    assert (backend.waited, machine.driver.waited) == (0, [])
    assert record.asynchronous
    assert record.unfinished
    assert record.duration is None
    told = []
    measured.when_gpu_done(lambda figures: told.append(record.with_gpu(figures)))
    assert told == []
    machine.cupti.at_work = False
    until(lambda: told)
    assert not told[0].unfinished
    assert told[0].gpu_work[0].launches == 1
    assert told[0].duration >= told[0].reading("wall_time").value


def test_a_cell_that_left_the_gpu_alone_is_like_any_other(machine):
    backend = FakeBackend()
    backend.recorded = True
    recording = recorder(machine, backend)
    recording.patient = True
    record = recording.start("count", waits=False).stop()
    assert not record.asynchronous
    assert record.reading("device_time").value == 0.0


@pytest.mark.parametrize(("recorded", "waits"), [(False, False), (True, True)])
def test_a_measurement_waits_where_it_is_asked_to_or_has_to(machine, recorded, waits):
    backend = FakeBackend()
    backend.recorded = recorded
    measured = recorder(machine, backend).start("launch", waits=waits)
    machine.cupti.happen(kernel(machine.cupti.ticks, machine.cupti.ticks + 1_000))
    record = measured.stop()
    assert (backend.waited, machine.driver.waited) == (2, [0])
    assert not record.asynchronous
    assert record.gpu_work[0].launches == 1
