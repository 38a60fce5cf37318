"""A cell's GPU time by the driver's count for the process, on a Mac and with Linux's own GPU drivers."""

import os
from pathlib import Path

import pytest

from jupyter_mlgpu.measure.gpu.activity_switch import NO_CUDA, NO_GPU
from jupyter_mlgpu.measure.gpu.client_meter import _MOST_SAMPLES, ClientMeter
from jupyter_mlgpu.measure.gpu.drm_clients import NOT_OPENED, ROCM, DrmClients, gpu_drivers, parse
from jupyter_mlgpu.measure.gpu.gpu_clients import BACKWARDS, ENDED, IMPLAUSIBLE, UNCHANGED, CounterError
from jupyter_mlgpu.measure.gpu.mac_clients import NOT_COUNTED, NOT_USED, MacClients, creator
from jupyter_mlgpu.measure.gpu.meters import JointMeter
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, GpuFigures
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.testing import FakeClock, FakeDrm, FakeRegistry

DATA = Path(__file__).parents[2] / "data"
PID = 4245
RENDER = "/dev/dri/renderD128"


def ioreg(name):
    return FakeRegistry((DATA / "ioreg" / f"{name}.txt").read_text())


def fdinfo(name):
    return (DATA / "fdinfo" / name).read_text()


class SamplesOnRequest:
    """A sampler whose looks the test takes."""

    def __init__(self):
        self.samples = []

    def add(self, sample, every, after=0.0):
        self.samples.append(sample)
        return lambda: self.samples.remove(sample)


class Machine:
    """What measures the cells of a process, with a clock and a sampler that do as told."""

    def __init__(self, clients):
        self.clock = FakeClock()
        self.sampler = SamplesOnRequest()
        self.meter = ClientMeter(clients, self.sampler, lambda: self.clock.monotonic_ns() / 1e9)

    def begin(self):
        self.clock.advance(10)  # nobody relies on what was found before
        cell = self.meter.cell_begins()
        cell.starts()
        return cell

    def sample(self):
        for sample in list(self.sampler.samples):
            sample()

    def cell(self, *steps, seconds=1.0):
        """The readings of a cell in which these happen, each followed by a sample."""
        cell = self.begin()
        for step in steps:
            step()
            self.clock.advance(seconds / len(steps))
            self.sample()
        return self.end(cell)

    @staticmethod
    def end(cell):
        readings, work = cell.finish()
        assert work == ()
        return readings

    def why(self, *steps, **more):
        (reading,) = self.cell(*steps, **more)
        assert reading.value is None
        return reading.why_missing


class Mac(Machine):
    """A Mac, and this process on it."""

    def __init__(self, registry):
        self.registry = registry
        self.pid = PID
        super().__init__(MacClients(lambda: registry, lambda: self.pid))


class Linux(Machine):
    """A machine with GPUs that Linux itself drives."""

    def __init__(self, root):
        self.files = FakeDrm(root)
        super().__init__(DrmClients(root))

    def opened(self, file=7, driver="i915", number=39, place="0000:00:02.0", **engines):
        self.files.open(file, RENDER, FakeDrm.client(driver, number, place, **engines))


@pytest.fixture
def mac():
    return Mac(FakeRegistry())


@pytest.fixture
def linux(tmp_path):
    return Linux(tmp_path)


def test_a_macs_cell_has_the_time_that_the_driver_counted_for_this_process_alone(mac):
    mine, others = mac.registry.open(PID), mac.registry.open(440, "WindowServer")
    mac.registry.work(mine, 100.0)
    (reading,) = mac.cell(lambda: (mac.registry.work(mine, 0.25), mac.registry.work(others, 0.6)))
    assert (reading.value, reading.device, reading.scope) == (pytest.approx(0.25), "gpu:0", "process")
    assert (reading.source, reading.uncertainty, reading.samples) == ("IORegistry", None, 3)
    assert "coarse" in reading.detail


def test_the_property_lists_of_an_apple_chip_are_read():
    mac = Mac(ioreg("apple_silicon"))
    assert mac.why(lambda: None) == UNCHANGED
    client = mac.registry.gpu.below[3]
    (reading,) = mac.cell(lambda: mac.registry.work(client, 0.5))
    assert reading.value == pytest.approx(0.5)
    mac.pid = 440  # which has two dictionaries
    usage = mac.registry.gpu.below[1].properties["AppUsage"]
    assert [one.counts for one in mac.meter.clients.read(search=True)] == [{"4294979005": 38814507416}]
    usage[1]["accumulatedGPUTime"] += 1_000
    assert [one.counts for one in mac.meter.clients.read(search=False)] == [{"4294979005": 38814508416}]


def test_the_clients_of_intels_and_amds_gpus_count_at_the_client_itself_and_apart():
    mac = Mac(ioreg("intel_and_amd"))
    intel, amd = mac.registry.services_found[0].below[2], mac.registry.services_found[1].below[0]

    def work():
        intel.properties["accumulatedGPUTime"] += 200_000_000
        amd.properties["accumulatedGPUTime"] += 900_000_000

    assert {one.device: one.value for one in mac.cell(work)} == {
        "GPU 0 (Intel(R) UHD Graphics 630)": pytest.approx(0.2),
        "GPU 1 (AMD Radeon Pro 5500M)": pytest.approx(0.9),
    }


@pytest.mark.parametrize(
    ("told", "pid"),
    [
        ("pid 12, python3.12", 12),
        ("pid 123, voxel_game_examp", 123),
        ("pid 12", 12),
        ("pid 12 3, x", None),
        ("pid , x", None),
        ("12, python", None),
        ("spid 12, x", None),
        (b"pid 12", None),
        (None, None),
    ],
)
def test_a_client_is_of_the_process_whose_whole_number_it_tells(told, pid):
    assert creator(told) == pid


def test_a_process_whose_number_begins_as_ours_is_another(mac):
    mac.registry.work(mac.registry.open(PID // 10), 3.0)
    mac.registry.work(mac.registry.open(PID * 10), 3.0)
    assert mac.why(lambda: None) == NOT_USED


def test_a_client_that_a_cell_opens_counts_from_the_first_nanosecond(mac):
    def work():
        mac.registry.work(mac.registry.open(PID), 0.4)

    (reading,) = mac.cell(work)
    assert reading.value == pytest.approx(0.4)


def test_a_client_opened_between_cells_brings_none_of_its_time_into_the_next(mac):
    mac.cell(lambda: mac.registry.work(mac.registry.open(PID), 0.1))
    later = mac.registry.open(PID)
    mac.registry.work(later, 5.0)
    (reading,) = mac.cell(lambda: mac.registry.work(later, 0.2))
    assert reading.value == pytest.approx(0.2)


def test_a_client_that_ends_in_a_cell_leaves_its_time_unknown_and_no_negative_one(mac):
    first, second = mac.registry.open(PID), mac.registry.open(PID)
    mac.registry.work(first, 9.0)
    why = mac.why(lambda: mac.registry.work(second, 0.3), lambda: mac.registry.end(first))
    assert why == ENDED
    assert mac.cell(lambda: mac.registry.work(second, 0.3))[0].value == pytest.approx(0.3)


def test_a_client_that_comes_and_goes_within_a_cell_leaves_its_time_unknown_once_it_was_seen(mac):
    mac.registry.open(PID)
    cell = mac.begin()
    brief = mac.registry.open(PID)
    mac.clock.advance(1.5)  # samples search for clients once a second
    mac.sample()
    mac.registry.end(brief)
    assert mac.end(cell)[0].why_missing == ENDED


def test_a_count_that_goes_backwards_is_a_reason(mac):
    client = mac.registry.open(PID)
    mac.registry.work(client, 5.0)
    assert mac.why(lambda: mac.registry.work(client, -1.0)) == BACKWARDS


def test_a_count_that_did_not_move_is_no_zero(mac):
    mac.registry.open(PID)
    assert mac.why(lambda: None) == UNCHANGED


def test_several_clients_at_once_leave_an_interval(mac):
    clients = [mac.registry.open(PID), mac.registry.open(PID)]
    (reading,) = mac.cell(lambda: [mac.registry.work(one, 0.4) for one in clients])
    assert (reading.value, reading.uncertainty) == (pytest.approx(0.6), pytest.approx(0.2))


def test_a_gpu_was_busy_no_longer_than_the_cell_took(mac):
    client = mac.registry.open(PID)
    (reading,) = mac.cell(lambda: mac.registry.work(client, 1.3))
    assert (reading.value, reading.uncertainty) == (pytest.approx(1.0), None)


def test_a_count_that_no_cell_can_have_had_is_a_reason(mac):
    client = mac.registry.open(PID)
    assert mac.why(lambda: mac.registry.work(client, 1e6)) == IMPLAUSIBLE


@pytest.mark.parametrize("count", [-1, 1.5, "123", 18446744073709551615, True, None])
def test_a_count_that_is_no_number_of_nanoseconds_is_a_reason(mac, count):
    client = mac.registry.open(PID)
    mac.registry.work(client, 1.0)
    usage = client.properties["AppUsage"]
    assert "accumulatedGPUTime" in mac.why(lambda: usage[0].update(accumulatedGPUTime=count))


def test_huge_counts_are_subtracted_exactly(mac):
    client = mac.registry.open(PID)
    mac.registry.work(client, 0)
    client.properties["AppUsage"][0]["accumulatedGPUTime"] = 2**62
    (reading,) = mac.cell(lambda: mac.registry.work(client, 0.000_001))
    assert reading.value == pytest.approx(0.000_001)


def test_a_driver_without_the_keys_is_told_apart_from_a_gpu_that_is_not_used(mac):
    assert mac.why(lambda: None) == NOT_USED
    client = mac.registry.open(PID)
    del client.properties["AppUsage"]
    assert mac.why(lambda: None) == NOT_COUNTED
    client.properties["AppUsage"] = [7, {"API": "Metal"}]
    assert mac.why(lambda: None) == UNCHANGED


def test_a_registry_that_does_not_answer_is_a_reason_and_is_asked_again(mac):
    mac.registry.error = OSError("IOKit answered 0xe00002bc")
    assert "0xe00002bc" in mac.why(lambda: None)
    mac.registry.error = None
    assert mac.why(lambda: None) == NOT_USED


def test_a_sample_that_fails_costs_the_cell_nothing(mac):
    client = mac.registry.open(PID)

    def fail():
        mac.registry.error = OSError("busy")

    def mend():
        mac.registry.error = None
        mac.registry.work(client, 0.2)

    assert mac.cell(fail, mend)[0].value == pytest.approx(0.2)


def test_where_there_is_no_such_registry_the_reason_says_so():
    def load():
        raise OSError("not found")

    machine = Machine(MacClients(load, lambda: PID))
    assert "not found" in machine.why(lambda: None)


def test_samples_read_only_the_clients_that_are_remembered(mac):
    client = mac.registry.open(PID)
    for number in range(140):
        mac.registry.open(number + 1, "other")
    cell = mac.begin()
    walks, reads = mac.registry.walks, mac.registry.reads
    for _ in range(5):
        mac.clock.advance(0.1)
        mac.registry.work(client, 0.05)
        mac.sample()
    assert (mac.registry.walks - walks, mac.registry.reads - reads) == (0, 5)
    mac.end(cell)
    assert mac.registry.walks - walks == 1
    assert [round(at, 1) for at, _ in cell.samples] == [0.1, 0.2, 0.3, 0.4, 0.5, 0.5]
    assert [round(gpus["gpu:0"], 2) for _, gpus in cell.samples] == [0.05, 0.1, 0.15, 0.2, 0.25, 0.25]


def test_a_search_reads_the_clients_of_others_once(mac):
    for number in range(140):
        mac.registry.open(number + 1, "other")
    mac.cell(lambda: None)
    reads = mac.registry.reads
    mac.cell(lambda: None)
    assert mac.registry.reads == reads


def test_a_long_cell_keeps_a_bounded_number_of_samples(mac):
    client = mac.registry.open(PID)
    cell = mac.begin()
    for _ in range(3 * _MOST_SAMPLES):
        mac.clock.advance(0.1)
        mac.registry.work(client, 0.01)
        mac.sample()
    assert _MOST_SAMPLES / 2 <= len(cell.samples) <= _MOST_SAMPLES
    gaps = [after - before for (before, _), (after, _) in zip(cell.samples, cell.samples[1:], strict=False)]
    assert max(gaps) < 0.9
    assert mac.end(cell)[0].value == pytest.approx(60.0)


def test_cells_within_a_cell_have_their_own_time(mac):
    client = mac.registry.open(PID)
    outer = mac.begin()
    mac.registry.work(client, 0.1)
    mac.clock.advance(1)
    inner = mac.meter.cell_begins()
    inner.starts()
    mac.registry.work(client, 0.2)
    mac.clock.advance(1)
    assert mac.end(inner)[0].value == pytest.approx(0.2)
    assert mac.end(outer)[0].value == pytest.approx(0.3)


def test_every_reference_is_given_back(mac):
    kept = mac.registry.open(PID)
    for _ in range(3):
        mac.registry.work(kept, 0.1)
        brief = mac.registry.open(PID)
        mac.cell(lambda: None)
        mac.registry.end(brief)
        mac.registry.open(7, "other")
        mac.cell(lambda: None)
    assert mac.registry.references() == 1
    mac.meter.stop()
    assert mac.registry.references() == 0
    assert mac.cell(lambda: mac.registry.work(kept, 0.1))[0].value == pytest.approx(0.1)


def test_a_cell_that_is_given_up_samples_no_more(mac):
    mac.begin().abandon()
    assert mac.sampler.samples == []


def test_a_forked_child_has_no_clients_of_its_parent(mac):
    mac.registry.work(mac.registry.open(PID), 1.0)
    mac.cell(lambda: None)
    mac.pid = 5000
    assert mac.why(lambda: None) == NOT_USED


def test_the_engines_of_a_client_leave_an_interval(linux):
    linux.opened(render=1_000, copy=0)
    (reading,) = linux.cell(lambda: linux.opened(render=500_001_000, copy=100_000_000))
    assert (reading.value, reading.uncertainty) == (pytest.approx(0.55), pytest.approx(0.05))
    assert (reading.device, reading.source) == ("GPU 0000:00:02.0 (i915)", "fdinfo")
    assert reading.scope == "process"


def test_one_engine_alone_leaves_none(linux):
    linux.opened(render=346_249)
    (reading,) = linux.cell(lambda: linux.opened(render=300_346_249))
    assert (reading.value, reading.uncertainty) == (pytest.approx(0.3), None)


def test_the_same_client_in_several_files_counts_once(linux):
    for file in (7, 8, 9):
        linux.opened(file, gfx=1, driver="amdgpu")

    def work():
        for file in (7, 8, 9):
            linux.opened(file, gfx=400_000_001, driver="amdgpu")

    assert [one.value for one in linux.cell(work)] == [pytest.approx(0.4)]


def test_clients_of_several_gpus_are_told_apart_though_they_have_one_number(linux):
    def both(nanoseconds):
        linux.opened(7, number=3, place="0000:00:02.0", render=nanoseconds)
        linux.opened(8, "amdgpu", 3, "0000:03:00.0", gfx=2 * nanoseconds)

    both(0)
    assert {one.device: one.value for one in linux.cell(lambda: both(250_000_000))} == {
        "GPU 0000:00:02.0 (i915)": pytest.approx(0.25),
        "GPU 0000:03:00.0 (amdgpu)": pytest.approx(0.5),
    }


def test_a_name_that_stands_for_several_engines_bounds_the_busy_time_by_their_number(linux):
    text = fdinfo("i915")
    linux.files.open(7, RENDER, text)
    later = text.replace("drm-engine-video:\t0", "drm-engine-video:\t800000000")
    (reading,) = linux.cell(lambda: linux.files.open(7, RENDER, later))
    assert (reading.value, reading.uncertainty) == (pytest.approx(0.6), pytest.approx(0.2))


def test_a_client_of_amds_driver_has_no_count_before_it_works(linux):
    linux.files.open(7, RENDER, fdinfo("amdgpu_unused"))
    assert linux.why(lambda: None) == UNCHANGED
    (reading,) = linux.cell(lambda: linux.files.open(7, RENDER, fdinfo("amdgpu")))
    assert reading.value == pytest.approx(0.107322799)


def test_a_count_that_dips_stays_at_its_highest_as_the_kernel_asks(linux):
    linux.opened(render=1_000_000_000)
    steps = [900_000_000, 1_200_000_000, 1_100_000_000]
    (reading,) = linux.cell(*(lambda count=count: linux.opened(render=count) for count in steps))
    assert reading.value == pytest.approx(0.2)
    assert linux.why(lambda: linux.opened(render=1_150_000_000)) == UNCHANGED


def test_a_file_that_is_closed_in_a_cell_leaves_its_time_unknown(linux):
    linux.opened(7, number=1, render=5)
    linux.opened(8, number=2, render=5)
    assert linux.why(lambda: linux.files.close(8)) == ENDED


def test_a_file_number_that_is_used_again_is_another_client(linux):
    linux.opened(7, number=1, render=900_000_000)
    assert linux.why(lambda: linux.opened(7, number=2, render=100)) == ENDED
    assert linux.why(lambda: linux.files.open(7, "/tmp/x", "pos:\t0\n")) == ENDED


def test_a_driver_that_counts_cycles_alone_is_named(linux):
    linux.files.open(7, RENDER, fdinfo("xe"))
    assert linux.why(lambda: None) == "The driver xe counts no GPU time of processes."


def test_work_of_rocm_is_not_in_these_counts_and_no_figure_claims_it(linux):
    linux.files.open(6, "/dev/kfd", "pos:\t0\n")
    linux.opened(7, "amdgpu", gfx=0)
    assert linux.why(lambda: linux.opened(7, "amdgpu", gfx=100_000_000)) == ROCM


def test_a_process_that_has_opened_no_gpu_says_so(linux):
    assert linux.why(lambda: None) == NOT_OPENED


def test_a_gpu_without_a_place_on_the_bus_is_called_by_its_driver(linux):
    linux.files.open(7, RENDER, fdinfo("panfrost"))
    later = fdinfo("panfrost").replace("fragment:\t1000 ns", "fragment:\t200001000 ns")
    (reading,) = linux.cell(lambda: linux.files.open(7, RENDER, later))
    assert (reading.device, reading.value) == ("GPU (panfrost)", pytest.approx(0.2))


@pytest.mark.parametrize(
    "value", ["-5 ns", "5", "5 us", "1e9 ns", "99999999999999999999 ns", "9" * 19 + " ns"]
)
def test_what_is_no_number_of_nanoseconds_is_refused(value):
    with pytest.raises(CounterError):
        parse(f"drm-driver:\ti915\ndrm-engine-render:\t{value}\n", "7")


def test_a_text_of_no_gpu_of_these_drivers_is_no_client():
    assert parse("", "7") is None
    assert parse("pos:\t0\nflags:\t0\n", "7") is None
    assert parse("drm-driver:\tnvidia-drm\ndrm-client-id:\t4\n", "7") is None
    assert parse("drm-driver:\ti915\ndrm-engine-capacity-video:\t0\n", "7").capacity == {}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_files_that_may_not_be_read_are_a_reason(linux):
    linux.opened(render=5)
    linux.files.root.joinpath("proc/self/fdinfo/7").chmod(0)
    assert "PermissionError" in linux.why(lambda: None)


def test_files_that_the_kernel_refuses_are_a_reason(linux, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.listdir", refuse)
    assert "PermissionError" in linux.why(lambda: None)


def test_only_gpus_that_are_not_nvidias_are_looked_at(linux):
    assert gpu_drivers(linux.files.root) == {}
    linux.files.add_gpu(128, "nvidia")
    assert gpu_drivers(linux.files.root) == {}
    linux.files.add_gpu(129, "i915")
    (linux.files.root / "dev/dri/card0").touch()
    (linux.files.root / "dev/dri/renderD130").touch()  # a container that hides /sys
    assert gpu_drivers(linux.files.root) == {"renderD129": "i915"}


class Told:
    """A meter whose cells tell what they are given."""

    recorded = True

    def __init__(self, *readings, fails=None):
        self.readings, self.fails = readings, fails
        self.did = []

    def cell_begins(self):
        if self.fails == "begin":
            raise RuntimeError
        return self

    def __getattr__(self, name):
        return lambda *_: self.did.append(name)

    def finish_within(self, seconds):
        return GpuFigures([missing("device_time", STILL_AT_WORK)], ())

    def when_done(self, tell):
        tell(self.finish())

    def finish(self):
        self.did.append("finish")
        if self.fails == "finish":
            raise RuntimeError
        return GpuFigures(self.readings, ())


def time(device, value=1.0):
    return Reading("device_time", value, "s", "device", "CUPTI", 1, device=device)


def test_two_meters_tell_both_gpus():
    counts = Told(time("GPU (i915)"))
    assert len(JointMeter(Told(time("gpu:0")), counts).cell_begins().finish()[0]) == 2
    (reading,), _ = JointMeter(Told(missing("device_time", NO_CUDA)), counts).cell_begins().finish()
    assert reading.device == "GPU (i915)"
    first, _ = JointMeter(Told(missing("device_time", NO_GPU)), counts).cell_begins().finish()[0]
    assert first.why_missing == NO_GPU


def test_what_a_driver_counts_is_there_while_the_other_gpu_is_still_at_work():
    cell = JointMeter(Told(time("gpu:0")), Told(time("GPU (i915)"))).cell_begins()
    cell.starts()
    cell.ends()
    first, second = cell.finish_within(0).readings
    assert (first.why_missing, second.device) == (STILL_AT_WORK, "GPU (i915)")
    told = []
    cell.when_done(told.append)
    assert [one.device for one in told[0].readings] == ["gpu:0", "GPU (i915)"]


def test_a_meter_that_fails_leaves_the_other_one_switched_off():
    counts = Told()
    with pytest.raises(RuntimeError):
        JointMeter(Told(fails="begin"), counts).cell_begins()
    with pytest.raises(RuntimeError):
        JointMeter(Told(fails="finish"), counts).cell_begins().finish()
    JointMeter(Told(), counts).cell_begins().abandon()
    JointMeter(Told(), counts).cell_begins().wait()
    JointMeter(Told(), counts).stop()
    assert counts.did == ["abandon", "finish", "abandon", "wait", "stop"]
