"""Apple's energy model: windows of the package's monitor become readings, one a part of the chip."""

import sys
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.probes.energy import apple
from jupyter_mlgpu.measure.probes.energy.apple import BACKWARDS, TOO_SHORT, AppleEnergy
from jupyter_mlgpu.testing import FakeClock


class FakeMonitor:
    """Windows of a chip that draws a steady power, in watts, by the field's name; None: not told."""

    def __init__(self, clock, **watts):
        self.open = {}
        self._clock = clock
        self._watts = watts

    def begin_window(self, label):
        if label in self.open:
            raise RuntimeError("Measurement with specified key already exists.")
        self.open[label] = self._clock.monotonic_ns()

    def end_window(self, label):
        seconds = (self._clock.monotonic_ns() - self.open.pop(label)) / 1e9
        told = dict.fromkeys(["gpu_mj", "cpu_total_mj", "dram_mj", "ane_mj", "gpu_sram_mj"])
        told |= {part: round(watts * seconds * 1e3) for part, watts in self._watts.items()}
        return SimpleNamespace(**told)


@pytest.fixture
def clock():
    return FakeClock()


def probe(clock, monitor):
    return AppleEnergy(lambda: monitor, lambda: clock.monotonic_ns() / 1e9)


def test_each_part_of_the_chip_is_a_reading_and_none_is_added_to_another(clock):
    stop = probe(clock, FakeMonitor(clock, gpu_mj=20.0, cpu_total_mj=5.0, dram_mj=1.5, ane_mj=0.0)).start()
    clock.advance(2.0)
    told = {one.instrument: (one.value, one.scope) for one in stop()}
    assert told == {
        "Apple's energy model of the GPU: all programs": (40.0, "device"),
        "Apple's energy model of the CPU: all programs": (10.0, "machine"),
        "Apple's energy model of the DRAM: all programs": (3.0, "machine"),
        "Apple's energy model of the Neural Engine: all programs": (0.0, "machine"),
    }


def test_what_this_chip_does_not_tell_is_left_out(clock):
    stop = probe(clock, FakeMonitor(clock, gpu_mj=20.0)).start()
    clock.advance(1.0)
    assert [one.value for one in stop()] == [20.0]


def test_a_chip_that_tells_nothing_is_a_reason(clock):
    stop = probe(clock, FakeMonitor(clock)).start()
    clock.advance(1.0)
    assert [one.why_missing for one in stop()] == ["This chip does not report the energy of its parts."]


def test_the_uncertainty_is_the_power_of_ten_milliseconds_and_the_rounding(clock):
    stop = probe(clock, FakeMonitor(clock, gpu_mj=30.0)).start()
    clock.advance(1.0)
    assert stop()[0].uncertainty == pytest.approx(30 * 0.010 + 0.001)


def test_a_cell_of_under_a_tenth_of_a_second_is_too_short(clock):
    stop = probe(clock, FakeMonitor(clock, gpu_mj=30.0)).start()
    clock.advance(0.09)
    (reading,) = stop()
    assert (reading.value, reading.why_missing) == (None, TOO_SHORT)


def test_a_counter_that_went_backwards_is_a_reason(clock):
    stop = probe(clock, FakeMonitor(clock, gpu_mj=-30.0)).start()
    clock.advance(1.0)
    (reading,) = stop()
    assert (reading.value, reading.why_missing) == (None, BACKWARDS)


def test_cells_inside_cells_have_windows_of_their_own_and_none_stays_open(clock):
    monitor = FakeMonitor(clock, gpu_mj=10.0)
    probing = probe(clock, monitor)
    outer = probing.start()
    clock.advance(1.0)
    inner = probing.start()
    clock.advance(1.0)
    assert inner()[0].value == 10.0
    assert outer()[0].value == 20.0
    assert monitor.open == {}


def test_the_monitor_is_looked_for_once(clock):
    asked = []
    probing = AppleEnergy(lambda: asked.append(1) or "The package is not installed.")
    assert [probing.start()()[0].why_missing for _ in range(3)] == ["The package is not installed."] * 3
    assert asked == [1]


@pytest.mark.parametrize(
    ("system", "machine", "why"),
    [
        ("linux", "x86_64", apple.NO_COUNTER),
        ("darwin", "x86_64", apple.NO_COUNTER),
        ("darwin", "arm64", apple.NOT_INSTALLED),
    ],
)
def test_where_there_is_no_monitor_a_sentence_says_why(monkeypatch, system, machine, why):
    monkeypatch.setattr("sys.platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setitem(sys.modules, "zeus_apple_silicon", None)  # as where it is not installed
    assert apple.monitor() == why


def test_power_is_the_energy_of_a_window_by_its_length():
    metrics = SimpleNamespace(gpu_mj=500, cpu_total_mj=100, dram_mj=None, ane_mj=0)
    assert apple.watts(metrics, 0.5) == {"GPU": 1.0, "CPU": 0.2, "Neural Engine": 0.0}
