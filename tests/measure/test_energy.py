"""Energy of a cell is what the counter truly counted, within the uncertainty that is told, or a reason."""

import pytest

from jupyter_mlgpu.measure.probes import gpus
from jupyter_mlgpu.measure.probes.energy import counters, nvidia, rapl
from jupyter_mlgpu.measure.probes.energy.counter_energy import BACKWARDS, BOUND, JUMPED, CounterEnergy
from jupyter_mlgpu.measure.probes.energy.counters import FIRST_SAMPLE, EnergyCounters, Sources
from jupyter_mlgpu.measure.probes.energy.source import EnergySource
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.testing import FakeClock, FakeGpu, FakeNvml
from jupyter_mlgpu.testing.counters import FakeCounter, FakeSampler


class Bench:
    """A probe whose counters, clock and thread are fakes; the counters are of one source each."""

    def __init__(self, *, phase=0.0, quick=False, every=0.25, **counter):
        self.clock = FakeClock()
        self.sampler = FakeSampler(self.clock)
        self.counter = FakeCounter(self.clock, **counter)
        self.clock.advance(100 + phase)
        source = EnergySource("fake counter", "simulated", "fake", "device", (self.counter,), every, quick)
        self.sources = Lazy(lambda: Sources((source,), ""))
        self.sources.get()

    def probe(self):
        return EnergyCounters(self.sampler, self.sources, self.now)

    def now(self):
        return self.clock.monotonic_ns() / 1e9

    def cell(self, *phases):
        """The reading of a cell of phases of (watts, seconds), and the true joules."""
        begun = self.now()
        stop = self.probe().start()
        for watts, seconds in phases:
            self.counter.draw(watts)
            self.sampler.run(seconds)
        true = sum(watts * seconds for watts, seconds in phases)
        assert self.now() == pytest.approx(begun + sum(seconds for _, seconds in phases))
        (reading,) = stop()
        return reading, true


PHASES = [number / 100 for number in range(0, 10)]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize(
    "cell",
    [
        [(700, 5)],
        [(100, 1), (700, 3), (100, 1)],
        [(700, 0.3), (90, 0.4), (700, 0.3), (90, 0.4), (700, 3)],
        [(75, 20)],
        [(500, 1.3)],
    ],
)
def test_the_true_energy_lies_within_the_uncertainty_wherever_the_counter_stands_when_the_cell_begins(
    phase, cell
):
    reading, true = Bench(phase=phase, watts=75).cell(*cell)
    assert abs(reading.value - true) <= reading.uncertainty
    assert reading.uncertainty <= BOUND * reading.value


@pytest.mark.parametrize("phase", PHASES)
def test_a_cell_of_five_seconds_is_known_within_two_percent(phase):
    reading, true = Bench(phase=phase, watts=75).cell((650, 5))
    assert reading.value == pytest.approx(true, rel=0.02)
    assert reading.samples > 15


@pytest.mark.parametrize("phase", PHASES)
def test_a_busy_gpu_before_an_idle_cell_does_not_count_into_the_cell(phase):
    reading, true = Bench(phase=phase, watts=700).cell((100, 5))
    assert abs(reading.value - true) <= reading.uncertainty


@pytest.mark.parametrize("seconds", [0.01, 0.1, 0.3, 0.5])
def test_a_short_cell_is_not_measured_and_says_from_what_length_on_one_would_be(seconds):
    reading, _ = Bench(watts=700).cell((700, seconds))
    assert reading.value is None
    assert reading.why_missing == "Too short to measure: a cell should take at least 1 s."
    assert reading.scope == "device"


def test_a_cell_of_little_power_after_one_of_much_says_that_it_is_too_uncertain():
    reading, _ = Bench(watts=700).cell((60, 3))
    assert reading.value is None
    assert reading.why_missing.startswith("Too uncertain to show (± ")


def test_the_uncertainty_is_the_power_for_half_a_refresh_at_both_ends_and_until_the_first_look():
    reading, _ = Bench(watts=400).cell((400, 10))
    assert reading.uncertainty == pytest.approx(400 * (0.1 + FIRST_SAMPLE), rel=0.05)
    assert reading.value == pytest.approx(4000, rel=0.002)


def test_a_counter_that_is_refreshed_less_often_than_said_is_seen_to_be_and_the_uncertainty_grows():
    bench = Bench(watts=400, refresh=1.0)
    bench.counter.refresh = 1.0
    source = EnergySource("slow", "simulated", "fake", "device", (Slow(bench.counter),), 0.25, False)
    bench.sources = Lazy(lambda: Sources((source,), ""))
    bench.sources.get()
    reading, true = bench.cell((400, 30))
    assert reading.uncertainty >= 400 * 0.7
    assert abs(reading.value - true) <= reading.uncertainty


class Slow:
    """Says that it moves every 100 ms, and moves as the other counter does."""

    refresh = 0.1
    wraps_at = None

    def __init__(self, counter):
        self.joules, self.watts = counter.joules, counter.watts


GONE = "NVML does not report the energy of GPU 0 (GPU is lost)."


@pytest.mark.parametrize(
    ("change", "seconds_after", "why"),
    [
        (lambda counter: counter.set(0), 2, BACKWARDS),
        (lambda counter: setattr(counter, "gone", GONE), 2, GONE),
        (lambda counter: setattr(counter, "gone", GONE), 0, GONE),
    ],
    ids=["it goes backwards", "it disappears", "it is gone for the last look"],
)
def test_a_counter_that_fails_is_a_reason_and_never_a_negative_energy(change, seconds_after, why):
    bench = Bench(watts=300)
    stop = bench.probe().start()
    bench.sampler.run(2)
    change(bench.counter)
    bench.sampler.run(seconds_after)
    (reading,) = stop()
    assert (reading.value, reading.why_missing) == (None, why)


def test_a_counter_that_starts_again_from_zero_at_its_range_is_followed():
    bench = Bench(watts=200, refresh=0.001, wraps_at=1000.0, quick=True, every=1)
    reading, true = bench.cell((200, 30))
    assert true > 5 * 1000
    assert reading.value == pytest.approx(true, abs=reading.uncertainty)


def test_a_counter_that_was_set_back_is_not_taken_for_one_that_started_again():
    counted = CounterEnergy(0.001, wraps_at=262_143.0)
    counted.add(0.0, 10_000.0)
    counted.add(10.0, 5.0)
    assert counted.between(0.0, 10.0) == JUMPED


def test_no_more_is_kept_of_a_cell_of_ten_hours_than_its_ends_need():
    counted = CounterEnergy(0.1)
    for sample in range(4 * 36_000):
        counted.add(sample / 4, sample * 25.0)
    assert len(counted._head) + len(counted._tail) < 20
    energy = counted.between(0.0, 36_000.0)
    assert energy.joules == pytest.approx(3.6e6, rel=1e-4)
    assert energy.samples == 4 * 36_000


def test_a_look_that_comes_after_the_last_one_changes_nothing():
    counted = CounterEnergy(0.1)
    counted.add(0.0, 0.0)
    counted.add(5.0, 500.0, last=True)
    counted.add(5.1, 0.0)
    counted.fail("gone")
    assert counted.between(0.0, 5.0).joules == pytest.approx(500)


def test_a_cell_inside_a_cell_has_an_energy_of_its_own():
    bench = Bench(watts=100)
    probe = bench.probe()
    outer = probe.start()
    bench.sampler.run(3)
    inner = probe.start()
    bench.sampler.run(2)
    assert inner()[0].value == pytest.approx(200, abs=20)
    bench.sampler.run(3)
    assert outer()[0].value == pytest.approx(800, abs=20)
    assert bench.sampler.job_count == 0


def test_without_any_counter_there_is_a_reason_and_nothing_is_looked_at():
    bench = Bench()
    nothing = Lazy(lambda: Sources((), "No counter here."))
    nothing.get()
    stop = EnergyCounters(bench.sampler, nothing, bench.now).start()
    assert bench.sampler.job_count == 0
    assert [one.why_missing for one in stop()] == ["No counter here."]


def test_the_counters_are_found_while_the_first_cell_runs_and_not_before_it():
    bench = Bench(watts=100)
    source = bench.sources.get().sources[0]
    fresh = Lazy(lambda: Sources((source,), ""))
    probe = EnergyCounters(bench.sampler, fresh, bench.now)
    assert probe.start()()[0].why_missing == counters.NOT_FOUND_YET
    stop = probe.start()
    bench.sampler.run(3)
    assert stop()[0].value == pytest.approx(300, abs=30)


def test_a_counter_that_is_dear_to_read_is_not_read_on_the_thread_of_a_short_cell():
    bench = Bench(watts=100)
    read = bench.counter.joules
    calls = []

    def dear():
        calls.append(bench.now())
        bench.clock.advance(0.0035)
        return read()

    bench.counter.joules = dear
    stop = bench.probe().start()
    bench.sampler.run(0.05)
    before = len(calls)
    stop()
    assert len(calls) == before == 1
    stop = bench.probe().start()
    bench.sampler.run(2)
    before = len(calls)
    stop()
    assert len(calls) == before + 1


def test_each_gpu_is_a_source_that_names_its_counter_and_says_what_it_covers():
    found = gpus.find(Nvml(FakeNvml(FakeGpu("NVIDIA H200"), FakeGpu(fails=("TotalEnergyConsumption",)))))
    (source,), _ = nvidia.sources(found)
    assert source.name == "NVML energy counter, all processes on GPU 0 (NVIDIA H200)"
    assert (source.scope, source.quick) == ("device", False)
    assert source.counters[0].joules().value == 5000.0
    assert source.counters[0].watts() == 150.0


def test_a_gpu_without_the_counter_says_so():
    found = gpus.find(Nvml(FakeNvml(FakeGpu(fails=("TotalEnergyConsumption",)))))
    assert nvidia.sources(found) == ([], "NVML does not report the energy of GPU 0 (Not Supported).")


def test_without_a_driver_the_driver_is_the_reason():
    found = gpus.find(Nvml(FakeNvml(driver=False)))
    assert nvidia.sources(found)[1] == gpus.NO_DRIVER


def zone(root, number, name, microjoules="1000000", most="262143328850"):
    folder = root / "sys/class/powercap" / f"intel-rapl:{number}"
    folder.mkdir(parents=True)
    (folder / "name").write_text(name + "\n")
    (folder / "energy_uj").write_text(microjoules + "\n")
    (folder / "max_energy_range_uj").write_text(most + "\n")
    return folder


def test_all_processor_packages_are_one_source_and_what_lies_in_or_around_them_is_not_added(tmp_path):
    zone(tmp_path, "0", "package-0", "1500000")
    zone(tmp_path, "0:0", "core")
    zone(tmp_path, "0:1", "dram")
    zone(tmp_path, "1", "package-1", "2500000")
    zone(tmp_path, "2", "psys")
    (source,), why = rapl.sources(tmp_path)
    assert why is None
    assert [one.joules().value for one in source.counters] == [1.5, 2.5]
    assert [one.wraps_at for one in source.counters] == [262143.32885] * 2
    assert (source.scope, source.quick) == ("machine", True)
    assert source.name == "RAPL energy_uj of 2 processor packages: all programs"


def test_the_energy_of_two_packages_is_their_sum(tmp_path):
    folders = [zone(tmp_path, "0", "package-0"), zone(tmp_path, "1", "package-1")]
    clock = FakeClock()
    now = lambda: clock.monotonic_ns() / 1e9  # noqa: E731
    sources = Lazy(lambda: Sources(tuple(rapl.sources(tmp_path)[0]), ""))
    sources.get()
    stop = EnergyCounters(FakeSampler(clock), sources, now).start()
    clock.advance(1.0)
    for folder, joules in zip(folders, (51, 31), strict=True):
        (folder / "energy_uj").write_text(str(joules * 1_000_000))
    (reading,) = stop()
    assert reading.value == pytest.approx(80.0)
    assert reading.samples == 2
    assert 0 < reading.uncertainty < 0.5


def test_a_processor_counter_for_the_administrator_alone_says_so(tmp_path):
    (zone(tmp_path, "0", "package-0") / "energy_uj").unlink()
    assert rapl.sources(tmp_path) == ([], rapl.LOCKED)


def test_a_machine_that_shows_no_such_counter_has_none_to_speak_of(tmp_path):
    assert rapl.sources(tmp_path) == ([], None)
    zone(tmp_path, "0", "psys")
    assert rapl.sources(tmp_path) == ([], None)


def test_a_processor_counter_that_disappears_is_a_reason(tmp_path):
    folder = zone(tmp_path, "0", "package-0")
    clock = FakeClock()
    sources = Lazy(lambda: Sources(tuple(rapl.sources(tmp_path)[0]), ""))
    sources.get()
    stop = EnergyCounters(FakeSampler(clock), sources, lambda: clock.monotonic_ns() / 1e9).start()
    clock.advance(1.0)
    (folder / "energy_uj").unlink()
    assert "can no longer be read" in stop()[0].why_missing


def test_what_is_missing_of_two_kinds_of_counters_are_two_sentences(tmp_path):
    found = Lazy(lambda: gpus.find(Nvml(FakeNvml(driver=False))))
    assert counters.find(found, tmp_path).why_none == gpus.NO_DRIVER
    (zone(tmp_path, "0", "package-0") / "energy_uj").unlink()
    assert counters.find(found, tmp_path).why_none == f"{gpus.NO_DRIVER} {rapl.LOCKED}"
