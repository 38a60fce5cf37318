"""A measurement takes what its clock, probes and frameworks say, and outlives their failures."""

import threading

import pytest

from jupyter_mlgpu.measure.probes.cell.cpu_time import CpuTime
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.testing import FakeBackend, FakeClock, FakeProbe


class Bench:
    """A recorder with everything faked."""

    def __init__(self, *probes, backends=()):
        self.clock = FakeClock()
        self.backends = list(backends)
        self.recorder = Recorder(
            new_run("lesson.ipynb"),
            clock=self.clock,
            probes=probes,
            backends=lambda: self.backends,
            versions={"python": "3.11"},
        )

    def measure(self, seconds=0.0, **cell) -> Record:
        measurement = self.recorder.start("x = 1", **cell)
        self.clock.advance(seconds)
        return measurement.stop()


def test_wall_time_is_what_the_clock_says():
    assert Bench().measure(1.5).reading("wall_time").value == pytest.approx(1.5)


def test_a_clock_that_went_back_gives_no_time_and_the_reason():
    reading = Bench().measure(-1642.0).reading("wall_time")
    assert reading.value is None
    assert "The clock went back by 1,642 s" in reading.why_missing


def test_what_was_done_after_the_code_had_ended_is_in_none_of_its_times():
    bench = Bench()
    bench.recorder.probes = (CpuTime(bench.clock),)
    measurement = bench.recorder.start("1 / 0")
    bench.clock.advance(1.0, worked=0.5)
    code_ended = measurement.moment()
    bench.clock.advance(0.4, worked=0.3)
    record = measurement.stop("error", code_ended=code_ended)
    assert record.reading("wall_time").value == 1.0
    assert record.reading("cpu_time").value == 0.5
    assert measurement.left_out_s == 0.4


def test_where_a_device_was_at_work_until_now_its_work_counts():
    class Slow(FakeBackend):
        def synchronize(self):
            super().synchronize()
            bench.clock.advance(2.0)

    bench = Bench(backends=[Slow()])
    measurement = bench.recorder.start("launch(); 1 / 0")
    code_ended = measurement.moment()
    bench.clock.advance(0.4)
    record = measurement.stop("error", code_ended=code_ended)
    assert record.reading("wall_time").value == pytest.approx(2.4)
    assert measurement.left_out_s == 0.0


def test_every_quantity_is_in_the_record_and_each_absence_has_a_reason():
    record = Bench().measure()
    assert [reading.quantity for reading in record.readings] == [
        quantity for quantity in QUANTITIES if quantity != "device_idle"
    ]
    assert all(reading.why_missing for reading in record.readings if reading.value is None)


def test_records_are_numbered_from_one():
    bench = Bench()
    assert [bench.measure().cell.sequence for _ in range(3)] == [1, 2, 3]


def test_a_probe_that_fails_costs_its_own_reading_only():
    bench = Bench(FakeProbe("energy", 1.0, fail=OSError("counter gone")), FakeProbe("cpu_time", 0.2))
    record = bench.measure(1.0)
    assert record.reading("energy").value is None
    assert "counter gone" in record.reading("energy").why_missing
    assert record.reading("cpu_time").value == 0.2
    assert record.reading("wall_time").value == 1.0


def test_a_probe_of_several_sources_gives_a_reading_of_each():
    class TwoGpus(FakeProbe):
        def start(self):
            return lambda: [
                Reading("energy", one, "J", "device", "other", 2, detail=f"GPU {one}") for one in (1.0, 2.0)
            ]

    energy = [one for one in Bench(TwoGpus("energy", 0.0)).measure().readings if one.quantity == "energy"]
    assert [(one.value, one.instrument) for one in energy] == [(1.0, "GPU 1.0"), (2.0, "GPU 2.0")]


def test_a_record_tells_what_each_allocator_held_when_the_cell_had_ended():
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    bench = Bench(backends=[backend])
    measurement = bench.recorder.start("x")
    backend.holds["gpu:0"] = 4096
    reading = measurement.stop().reading("memory_allocator")
    assert (reading.value, reading.instrument) == (4096, "fake allocator of gpu:0")


def test_an_allocator_that_cannot_be_asked_costs_its_own_reading_only():
    backend = FakeBackend()
    backend.memory = lambda device: 1 / 0
    record = Bench(backends=[backend]).measure(1.0)
    assert "division by zero" in record.reading("memory_allocator").why_missing
    assert record.reading("wall_time").value == 1.0


def test_a_framework_that_has_not_started_is_not_asked_what_it_holds():
    backend = FakeBackend()
    backend.started = lambda: False
    backend.memory = lambda device: 1 / 0
    why = Bench(backends=[backend]).measure().reading("memory_allocator").why_missing
    assert why == "fake has not used a device yet."


def test_a_record_names_the_device_where_operations_ran():
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    bench = Bench(backends=[backend])
    measurement = bench.recorder.start("x")
    backend.run(3, "gpu:0")
    backend.run(1, "cpu:0")
    record = measurement.stop(requested={"*": "gpu:0"})
    assert record.device.requested == {"*": "gpu:0"}
    assert [(entry.device, entry.operations, entry.share) for entry in record.device.ran_on] == [
        ("gpu:0", 3, 0.75),
        ("cpu:0", 1, 0.25),
    ]


def test_without_a_framework_the_record_says_why_the_device_is_not_known():
    record = Bench().measure()
    assert record.device.ran_on is None
    assert "No framework" in record.device.why_missing


def test_the_device_is_waited_for_before_the_clock_is_read():
    class Slow(FakeBackend):
        def synchronize(self):
            super().synchronize()
            bench.clock.advance(2.0)

    bench = Bench(backends=[Slow()])
    assert bench.measure(1.0).reading("wall_time").value == pytest.approx(3.0)


def test_a_framework_imported_in_the_cell_is_watched_from_then_on():
    bench, backend = Bench(), FakeBackend()
    measurement = bench.recorder.start("import fake")
    bench.backends.append(backend)
    bench.recorder.framework_loaded(backend)
    backend.run(2)
    assert measurement.stop().device.ran_on[0].operations == 2


def test_a_framework_imported_by_another_thread_is_left_to_that_thread():
    bench, backend = Bench(), FakeBackend()
    measurement = bench.recorder.start("x")
    thread = threading.Thread(target=bench.recorder.framework_loaded, args=(backend,))
    thread.start()
    thread.join()
    assert measurement.stop().device.ran_on is None


def test_a_framework_that_cannot_be_watched_is_a_reason_in_the_record():
    class Broken(FakeBackend):
        def observe(self):
            raise RuntimeError("private interface gone")

    record = Bench(backends=[Broken()]).measure()
    assert record.device.ran_on is None
    assert "private interface gone" in record.device.why_missing


def test_measurements_may_be_nested():
    bench = Bench()
    outer = bench.recorder.start("outer")
    bench.clock.advance(1.0)
    inner = bench.recorder.start("inner")
    bench.clock.advance(2.0)
    assert inner.stop().reading("wall_time").value == pytest.approx(2.0)
    assert outer.stop().reading("wall_time").value == pytest.approx(3.0)


def test_what_was_begun_inside_and_never_ended_is_given_up_with_the_outer_one():
    bench = Bench()
    outer = bench.recorder.start("cell")
    bench.recorder.start("an epoch that raised")
    outer.stop()
    assert bench.recorder.start("next").stop().cell.sequence == 3


def test_the_code_is_kept_as_a_digest_and_a_redacted_first_line():
    record = Bench().measure(source="api_key = 'sk-abcdefghij'")
    assert len(record.cell.source_digest) == 16
    measurement = Bench().recorder.start("api_key = 'sk-abcdefghij'")
    assert "abcdefghij" not in measurement.stop().cell.name


def test_who_takes_times_of_their_own_can_have_the_watching_stopped():
    backend = FakeBackend()
    bench = Bench(backends=[backend])
    measurement = bench.recorder.start("x = 1")
    backend.run()
    bench.recorder.stop_observing("It is a race.")
    backend.run()
    bench.backends.append(late := FakeBackend("late"))
    bench.recorder.framework_loaded(late)
    record = measurement.stop()
    assert record.device.ran_on is None
    assert record.device.why_missing == "It is a race."
    assert record.reading("peak_memory_allocator").why_missing == "It is a race."
    assert bench.measure().device.ran_on == ()
