"""The clocks that figures are read from: those of the machine, whatever a cell does to its own."""

import sys
import time
from contextlib import contextmanager
from types import ModuleType

import pytest

from jupyter_mlgpu.measure.probes.cell.cpu_time import CpuTime
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record import clock
from jupyter_mlgpu.record.clock import SystemClock, seconds_between
from jupyter_mlgpu.record.errors import ClockError

FUNCTIONS = (
    "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
    "process_time_ns", "gmtime", "localtime", "strftime",
)  # fmt: skip


@contextmanager
def frozen():
    """The time frozen as freezegun does it: in `time`, and wherever a module has one of its functions."""
    real = {id(getattr(time, name)): getattr(time, name) for name in FUNCTIONS}
    changed = []
    for module in [one for one in sys.modules.values() if isinstance(one, ModuleType)]:
        ours = module is time or module.__name__.startswith("jupyter_mlgpu")
        for name, value in list(vars(module).items()) if ours else []:
            if id(value) in real:
                changed.append((module, name, value))
                setattr(module, name, lambda *arguments: 0)
    try:
        yield
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


def recorder():
    return Recorder(new_run(None), clock=SystemClock(), probes=(CpuTime(),), backends=lambda: (), versions={})


def test_a_cell_that_freezes_the_time_is_timed_all_the_same():
    measurement = recorder().start("import freezegun")
    with frozen():
        assert time.perf_counter_ns() == 0
        sum(range(200_000))
        record = measurement.stop()
    assert record.reading("wall_time").value > 0
    assert record.reading("cpu_time").value > 0


def test_what_is_measured_while_the_time_stands_still_has_its_date(monkeypatch):
    before = SystemClock().utc()
    with frozen():
        now = SystemClock().utc()
    assert before <= now <= SystemClock().utc()


def test_a_clock_that_was_replaced_before_we_were_loaded_is_not_used(monkeypatch):
    monkeypatch.setattr(time, "perf_counter_ns", lambda: 0)
    fresh = ModuleType("jupyter_mlgpu.clock_loaded_late")
    with open(clock.__file__) as file:
        exec(compile(file.read(), clock.__file__, "exec"), vars(fresh))
    assert fresh.SystemClock().monotonic_ns() > 0


def test_the_users_own_clocks_stay_as_they_are():
    assert sys.modules["time"] is time
    assert clock.real_time is not time


def test_a_moment_is_written_with_microseconds():
    assert clock.utc(1_700_000_000_000_001_999) == "2023-11-14T22:13:20.000001Z"


def test_no_time_is_told_between_two_readings_of_which_the_second_is_smaller():
    assert seconds_between(1_000_000_000, 3_500_000_000) == 2.5
    with pytest.raises(ClockError, match=r"The clock went back by 1\.5 s"):
        seconds_between(2_000_000_000, 500_000_000)
