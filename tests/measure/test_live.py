"""Live counters tell what there is now, and a reason for what there is not, while somebody watches."""

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.jupyter.notebook.browser.live_counters import (
    HISTORY,
    HOLDS,
    INTERVAL,
    REST_AFTER,
    RESTING,
    LiveCounters,
)
from jupyter_mlgpu.measure.probes import gpus, live
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.live import FIRST, SUDO, CounterReader, CounterSeries
from jupyter_mlgpu.measure.probes.mac_gpu import NO_GPU, NOT_TOLD, Gauges
from jupyter_mlgpu.measure.probes.nvml import Nvml, NvmlAnswer
from jupyter_mlgpu.record.strip import HostLane, Spent, StripSoFar
from jupyter_mlgpu.testing import FakeClock, FakeGpu, FakeNvml, FakeRegistry
from jupyter_mlgpu.testing.counters import FakeSampler

GIB = 1024**3
IOREG = Path(__file__).parents[1] / "data" / "ioreg"


def counters(*cards, driver=True, **more):
    return CounterReader(Lazy(lambda: gpus.find(Nvml(FakeNvml(*cards, driver=driver)))), **more)


def told(sampled):
    series, values = sampled
    return {(one.device, one.quantity): value for one, value in zip(series, values, strict=True)}


def reasons(sampled):
    return {(one.device, one.quantity): one.why_missing for one in sampled[0]}


def test_a_gpu_tells_its_use_memory_power_and_temperature_with_units():
    sampled = counters(FakeGpu("NVIDIA H200", total=140 * GIB, used=3 * GIB)).sample()
    of_gpu = {one.quantity: (one.unit, one.limit) for one in sampled[0] if one.device.startswith("GPU")}
    assert of_gpu == {
        "utilisation": ("share", 1.0),
        "memory": ("bytes", 140 * GIB),
        "power": ("W", None),
        "temperature": ("°C", None),
    }
    values = told(sampled)
    gpu = "GPU 0 (NVIDIA H200)"
    assert [values[gpu, one] for one in of_gpu] == [0.25, 3 * GIB, 150.0, 40]


def test_what_one_gpu_does_not_tell_has_its_reason_and_the_rest_is_told():
    sampled = counters(FakeGpu("A", fails=("PowerUsage",)), FakeGpu("B")).sample()
    assert told(sampled)["GPU 0 (A)", "power"] is None
    assert (
        reasons(sampled)["GPU 0 (A)", "power"] == "NVML does not report the power of GPU 0 (Not Supported)."
    )
    assert told(sampled)["GPU 1 (B)", "power"] == 150.0
    assert reasons(sampled)["GPU 1 (B)", "power"] is None


def test_without_a_driver_each_quantity_of_a_gpu_has_the_reason():
    sampled = counters(driver=False).sample()
    why = "No NVIDIA driver was found here."
    assert {quantity for (device, quantity), said in reasons(sampled).items() if said == why} == {
        "utilisation",
        "memory",
        "power",
        "temperature",
    }


def test_the_processors_use_is_known_from_the_second_look_on(monkeypatch):
    clock = FakeClock()
    seconds = {"busy": 10.0}
    monkeypatch.setattr(live, "_busy", lambda: seconds["busy"])
    monkeypatch.setattr("psutil.cpu_count", lambda: 4)
    looking = counters(driver=False, now=lambda: clock.monotonic_ns() / 1e9)
    first = looking.sample()
    assert reasons(first)["machine", "utilisation"] == FIRST
    clock.advance(0.5)
    seconds["busy"] += 1.0
    second = looking.sample()
    assert told(second)["machine", "utilisation"] == pytest.approx(1.0 / 0.5 / 4)
    assert reasons(second)["machine", "utilisation"] is None


def test_memory_of_machine_and_process_are_within_what_there_is():
    sampled = counters(driver=False).sample()
    values = told(sampled)
    limit = next(one.limit for one in sampled[0] if (one.device, one.quantity) == ("machine", "memory"))
    assert 0 < values["process", "memory"] < values["machine", "memory"] < limit


def test_a_mac_tells_the_power_of_its_parts_and_says_what_it_keeps_to_the_administrator(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    clock = FakeClock()
    watts = {"gpu_mj": 12.0, "cpu_total_mj": 3.0, "dram_mj": 1.0, "ane_mj": None}

    class Monitor:
        def begin_window(self, label):
            self.begun = clock.monotonic_ns()

        def end_window(self, label):
            seconds = (clock.monotonic_ns() - self.begun) / 1e9
            return SimpleNamespace(**{k: None if v is None else v * seconds * 1e3 for k, v in watts.items()})

    gauges = Gauges(lambda: FakeRegistry((IOREG / "apple_silicon.txt").read_text()))
    looking = counters(monitor=Monitor, now=lambda: clock.monotonic_ns() / 1e9, mac_gauges=lambda: gauges)
    assert reasons(looking.sample())["GPU", "power"] == FIRST
    clock.advance(0.5)
    sampled = looking.sample()
    assert told(sampled)["GPU", "power"] == pytest.approx(12.0)
    assert told(sampled)["CPU", "power"] == pytest.approx(3.0)
    assert told(sampled)["GPU", "utilisation"] == 0.16
    assert reasons(sampled)["GPU", "temperature"] == SUDO


def use_of_a_mac(registry, monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    return counters(monitor=lambda: "None.", mac_gauges=lambda: Gauges(lambda: registry)).sample()


def test_each_gpu_of_a_mac_tells_its_use_under_the_name_that_its_driver_has_for_it(monkeypatch):
    sampled = use_of_a_mac(FakeRegistry((IOREG / "intel_and_amd.txt").read_text()), monkeypatch)
    of_gpus = {
        key: value for key, value in told(sampled).items() if key[1] == "utilisation" and "GPU " in key[0]
    }
    assert of_gpus == {
        ("GPU 0 (Intel(R) UHD Graphics 630)", "utilisation"): 0.07,
        ("GPU 1 (AMD Radeon Pro 5500M)", "utilisation"): 0.64,
    }


@pytest.mark.parametrize(
    ("statistics", "value"),
    [
        ({"Device Utilization %": 0}, 0.0),
        ({"Device Utilization %": 42.5}, 0.425),
        ({"Device Utilization %": 131}, 1.0),
        ({"Device Utilization %": "x", "GPU Activity(%)": 3}, 0.03),
        ({"Device Utilization %": -1}, None),
        ({"Device Utilization %": True}, None),
        ({"Device Utilization %": float("nan")}, None),
        ({}, None),
        ([1], None),
        (None, None),
    ],
)
def test_a_macs_gauge_is_a_share_or_has_its_reason(statistics, value, monkeypatch):
    registry = FakeRegistry()
    registry.gpu.properties["PerformanceStatistics"] = statistics
    sampled = use_of_a_mac(registry, monkeypatch)
    assert told(sampled)["GPU", "utilisation"] == value
    assert (reasons(sampled)["GPU", "utilisation"] == NOT_TOLD) == (value is None)


def test_a_mac_whose_registry_does_not_answer_or_lists_no_gpu_says_so(monkeypatch):
    registry = FakeRegistry()
    registry.error = OSError("IOKit answered 0xe00002bc")
    assert "0xe00002bc" in reasons(use_of_a_mac(registry, monkeypatch))["GPU", "utilisation"]
    registry.error, registry.services_found = None, []
    assert reasons(use_of_a_mac(registry, monkeypatch))["GPU", "utilisation"] == NO_GPU


def test_a_mac_without_the_package_says_that_it_is_missing(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    sampled = counters(monitor=lambda: "Not installed.").sample()
    assert reasons(sampled)["GPU", "power"] == "Not installed."


class Counted:
    """Two series; the second has a reason for as long as it is told one."""

    def __init__(self):
        self.why = None
        self.error = None
        self.samples = 0

    def sample(self):
        self.samples += 1
        if self.error is not None:
            raise self.error
        value = NvmlAnswer(None, self.why) if self.why else NvmlAnswer(40)
        series = [
            CounterSeries("GPU 0", "power", "W", "fake"),
            CounterSeries("GPU 0", "temperature", "°C", "fake", None, value.why_missing),
        ]
        return series, [150.12345, value.value]


class Room:
    """A watch on a fake clock, and what it sent."""

    def __init__(self):
        self.clock = FakeClock()
        self.sampler = FakeSampler(self.clock)
        self.samples = Counted()
        self.sent = []
        self.watch = LiveCounters(
            self.sampler,
            self.samples,
            self.sent.append,
            utc=self.clock.utc,
            now=lambda: self.clock.monotonic_ns() / 1e9,
        )

    def run(self, seconds):
        self.sampler.run(seconds, step=INTERVAL / 2)


def test_the_strip_of_the_cell_that_runs_comes_with_the_counters():
    scene = Room()
    lane = HostLane(0.5, "pw", (Spent("p", 0.5), Spent("w", 0.5)))
    scene.watch.strip = lambda: StripSoFar(3, 1.0, lane, ())
    scene.watch.renew()
    scene.run(INTERVAL)
    scene.watch.strip = lambda: None
    scene.run(INTERVAL)
    first, last = scene.sent[0]["strip"], scene.sent[-1]["strip"]
    assert (first["sequence"], first["seconds"], first["host"]["did"], first["gpus"]) == (3, 1.0, "pw", [])
    assert last is None


def test_nothing_is_looked_at_before_anybody_watches():
    room = Room()
    room.run(5)
    assert (room.samples.samples, room.sent, room.watch.state()) == (0, [], None)


def test_while_somebody_watches_there_is_an_event_every_half_second():
    room = Room()
    assert room.watch.renew() == {"watching": True, "seconds": 15.0, "interval": 0.5, "why_missing": None}
    room.run(5)
    assert len(room.sent) == 10
    assert {event["type"] for event in room.sent} == {"counters"}
    assert [event["values"] for event in room.sent] == [[150.123, 40]] * 10
    times = [event["t"] for event in room.sent]
    assert [later - earlier for earlier, later in pairwise(times)] == pytest.approx([0.5] * 9)


def test_a_sample_that_came_late_is_not_followed_by_another_at_once():
    room = Room()
    room.watch.renew()
    room.run(1)
    room.clock.advance(1.25 * INTERVAL)  # native code holds the GIL
    room.sampler.run(1, step=0.01)
    times = [event["t"] for event in room.sent]
    intervals = [later - earlier for earlier, later in pairwise(times)]
    assert intervals[1] == pytest.approx(2.25 * INTERVAL, abs=0.02)
    assert min(intervals) >= INTERVAL / 2
    assert len(intervals) == 4


def test_the_watch_ends_by_itself_and_goes_on_when_it_is_renewed():
    room = Room()
    room.watch.renew()
    room.run(HOLDS + 60)
    assert len(room.sent) == HOLDS / INTERVAL
    assert room.sampler.job_count == 0
    assert room.watch.state()["watching"] is False
    room.watch.renew()
    room.run(10)
    room.watch.renew()
    room.run(10)
    assert len(room.sent) == HOLDS / INTERVAL + 40


def test_a_look_that_fails_ends_the_looking_until_a_browser_speaks_again():
    room = Room()
    room.watch.renew()
    room.run(2)
    room.samples.error = OSError("Too many open files")
    room.run(2)
    assert (len(room.sent), room.sampler.job_count) == (4, 0)
    room.samples.error = None
    assert room.watch.renew()["watching"] is True
    room.run(2)
    assert len(room.sent) == 8


def test_two_browsers_are_served_by_one_look():
    room = Room()
    room.watch.renew()
    room.watch.renew()
    assert room.sampler.job_count == 1
    room.run(2)
    assert len(room.sent) == 4


def test_the_series_are_told_first_and_when_they_change():
    room = Room()
    room.watch.renew()
    room.run(2)
    room.samples.why = "The sensor is gone."
    room.run(2)
    with_series = [number for number, event in enumerate(room.sent) if "series" in event]
    assert with_series == [0, 4]
    assert [one["why_missing"] for one in room.sent[4]["series"]] == [None, "The sensor is gone."]
    assert room.sent[4]["values"] == [150.123, None]


def test_a_snapshot_holds_the_last_five_minutes_for_a_page_that_was_reloaded():
    room = Room()
    for _ in range(80):
        room.watch.renew()
        room.run(5)
    state = room.watch.state()
    assert state["watching"] is True
    assert abs(len(state["history"]) - HISTORY / INTERVAL) <= 1
    assert state["t"] - state["history"][0][0] == pytest.approx(HISTORY, abs=1)
    assert state["history"][-1] == [room.sent[-1]["t"], [150.123, 40]]
    assert [one["unit"] for one in state["series"]] == ["W", "°C"]


def test_what_is_older_than_five_minutes_is_not_in_a_snapshot():
    room = Room()
    room.watch.renew()
    room.run(HISTORY + 60)
    assert room.watch.state()["history"] == []


def test_a_kernel_without_cells_rests_and_says_why_and_a_cell_wakes_it():
    room = Room()
    for _ in range(round(REST_AFTER / 10)):
        room.watch.renew()
        room.run(10)
    before = len(room.sent)
    room.run(1)
    assert room.watch.renew() == {
        "watching": False,
        "seconds": 15.0,
        "interval": 0.5,
        "why_missing": RESTING,
    }
    room.run(5)
    assert len(room.sent) <= before + 1
    assert room.sampler.job_count == 0
    room.watch.cell_begins()
    room.run(5)
    assert len(room.sent) >= before + 10


def test_a_cell_that_runs_for_an_hour_is_watched_all_the_time():
    room = Room()
    room.watch.cell_begins()
    for _ in range(360):
        assert room.watch.renew()["watching"] is True
        room.run(10)
    assert len(room.sent) == 3600 / INTERVAL
    room.watch.cell_ended()


def test_a_cell_begins_nothing_where_nobody_watches():
    room = Room()
    room.watch.cell_begins()
    assert room.sampler.job_count == 0


def test_after_the_end_nothing_is_sent():
    room = Room()
    room.watch.renew()
    room.run(1)
    room.watch.stop()
    room.run(5)
    assert len(room.sent) == 2
