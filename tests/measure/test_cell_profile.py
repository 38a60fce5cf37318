"""A profiled cell from start to record, with profilers made by hand."""

import json
from importlib.resources import files
from types import SimpleNamespace

import jsonschema
import pytest
from msgspec import structs

from jupyter_mlgpu.measure.ops import cell as cell_profile
from jupyter_mlgpu.measure.ops.cell import CellProfile
from jupyter_mlgpu.measure.ops.events import Event
from jupyter_mlgpu.measure.ops.profiler import Refused
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.testing import FakeBackend, FakeClock, FakeProbe, FakeProfiler
from tests.support.probes import Unavailable

MILLISECOND = 1_000_000


def kernel(name: str, start_ms: float, length_ms: float, stream: int = 7) -> Event:
    start, length = round(start_ms * MILLISECOND), round(length_ms * MILLISECOND)
    return Event(name, "kernel", "device", "gpu:0", f"stream {stream}", start, length, "kernel")


def operation(name: str = "aten::mm") -> Event:
    return Event(name, "mm", "host", "host", "thread 1", 0, MILLISECOND)


def recorder(*profilers: FakeProfiler, backends=None, probes=()) -> Recorder:
    known = {one.framework: one for one in profilers}
    found = backends if backends is not None else tuple(FakeBackend(name) for name in known)
    return Recorder(
        new_run(None),
        clock=FakeClock(),
        probes=probes,
        backends=lambda: found,
        versions={},
        profilers=lambda name: known.get(name) or Refused(f"No profiler is known for {name}."),
    )


def profiled(*profilers: FakeProfiler, **options) -> Record:
    return recorder(*profilers, **options).start("cell", ops=True).stop()


def test_a_profiled_cell_has_its_operations_and_says_that_it_is_no_timing():
    record = profiled(FakeProfiler((operation(),)))
    assert record.mode == "profiled"
    assert [(row.name, row.plane, row.share) for row in record.ops] == [("aten::mm", "host", 1.0)]


def test_a_light_cell_turns_no_profiler_on():
    fake = FakeProfiler((operation(),))
    measurement = recorder(fake).start("cell")
    assert not fake.on
    record = measurement.stop()
    assert (record.mode, record.ops) == ("light", ())


def test_the_profiler_is_on_during_the_cell_and_off_after_it():
    fake = FakeProfiler()
    measurement = recorder(fake).start("cell", ops=True)
    assert fake.on
    measurement.stop("error")
    assert not fake.on


def test_shapes_are_recorded_only_where_they_are_asked_for():
    plain, asked = FakeProfiler(), FakeProfiler()
    recorder(plain).start("cell", ops=True).stop()
    recorder(asked).start("cell", ops=True, shapes=True).stop()
    assert (plain.shapes, asked.shapes) == (False, True)


def test_a_cell_that_is_given_up_leaves_no_profiler_on():
    fake = FakeProfiler()
    recorder(fake).start("cell", ops=True).abandon()
    assert not fake.on


def test_an_interrupt_while_the_measurement_begins_leaves_no_profiler_on():
    class Interrupted:
        quantity = "cpu_time"

        def start(self):
            raise KeyboardInterrupt

    fake = FakeProfiler()
    with pytest.raises(KeyboardInterrupt):
        recorder(fake, probes=(Interrupted(),)).start("cell", ops=True)
    assert not fake.on


def test_an_interrupt_while_one_profile_is_read_leaves_no_other_profiler_on():
    slow, other = FakeProfiler(framework="one", fail=KeyboardInterrupt()), FakeProfiler(framework="two")
    measurement = recorder(slow, other).start("cell", ops=True)
    with pytest.raises(KeyboardInterrupt):
        measurement.stop()
    assert not other.on


def test_device_time_is_the_union_of_kernels_from_the_profiler():
    events = (kernel("a", 0, 4), kernel("b", 2, 4, stream=8), kernel("c", 10, 1))
    reading = profiled(FakeProfiler(events)).reading("device_time")
    assert (reading.value, reading.scope, reading.device, reading.samples) == (0.007, "device", "gpu:0", 3)
    assert reading.detail == "fake profiler, union of kernels and copies of gpu:0"


def test_without_a_kernel_the_device_time_is_not_known_rather_than_zero():
    reading = profiled(FakeProfiler((operation(),))).reading("device_time")
    assert reading.value is None
    assert reading.why_missing == "The fake profiler saw no kernel and no copy on a GPU in this cell."


def test_the_profilers_reason_counts_more_than_that_of_light_tracing():
    light = Unavailable("device_time", "No GPU here.")
    record = profiled(FakeProfiler((operation(),)), probes=(light,))
    assert record.reading("device_time").why_missing.startswith("The fake profiler saw no kernel")


@pytest.mark.parametrize("incomplete", [{"whole": False}, {"left_out": 5}])
def test_a_profile_with_a_hole_gives_operations_but_no_device_time(incomplete):
    record = profiled(FakeProfiler((kernel("a", 0, 4),), **incomplete))
    assert [row.name for row in record.ops] == ["a"]
    assert record.reading("device_time").why_missing.startswith("The fake profiler did not see all")
    assert all(reading.quantity != "device_idle" for reading in record.readings)


def test_events_left_out_are_counted_with_the_reason():
    record = profiled(FakeProfiler((operation(),), left_out=9_000_000))
    said = "9,000,000 of the profiler's events were left out (the fake was told to)"
    assert record.notes[0].startswith(said)


def test_the_share_in_which_the_device_waited_is_told_with_its_parts(monkeypatch):
    moments = iter([0, 100 * MILLISECOND])
    clock = SimpleNamespace(time_ns=lambda: next(moments), perf_counter=lambda: 0.0)
    monkeypatch.setattr(cell_profile, "real_time", clock)
    record = profiled(FakeProfiler((kernel("a", 20, 10), kernel("b", 50, 30))))
    idle = record.reading("device_idle")
    assert (idle.value, idle.unit, idle.device, idle.samples) == (0.6, "share", "gpu:0", 2)
    assert record.notes[0].startswith(
        "gpu:0 was idle 60 % of this profiled cell: 20 % between its 2 kernels and copies, "
        "40 % before the first and after the last."
    )


def test_all_that_is_said_of_profilers_is_one_note_and_what_holds_for_each_device_stands_once():
    events = (kernel("a", 0, 4), structs.replace(kernel("b", 0, 4), device="gpu:1"))
    (note,) = profiled(FakeProfiler(events)).notes
    assert "gpu:0 was idle" in note
    assert "gpu:1 was idle" in note
    assert note.count("A profiler slows Python") == 1


def test_a_profiler_of_the_users_own_is_left_alone_and_the_time_is_still_no_timing():
    record = profiled(FakeProfiler(refused=Refused("Yours is on.", running=True)))
    assert (record.mode, record.ops, record.notes) == ("profiled", (), ("Yours is on.",))


def test_a_framework_without_a_profiler_says_so_and_its_cell_stays_a_light_one():
    record = profiled(FakeProfiler(refused=Refused("MLX has no profiler.")))
    assert (record.mode, record.notes) == ("light", ("MLX has no profiler.",))


def test_without_any_framework_the_record_says_why_there_are_no_operations():
    record = profiled(backends=())
    assert record.mode == "light"
    assert record.notes == (cell_profile.NOTHING_ON,)


def test_a_profile_that_is_lost_costs_its_rows_and_nothing_else():
    record = profiled(FakeProfiler(fail=OSError(28, "No space left on device")))
    assert record.outcome == "ok"
    assert record.mode == "profiled"
    assert record.notes[0].startswith("The fake profile was lost (OSError: [Errno 28] No space left")


def test_a_profiler_that_does_not_start_costs_its_rows_and_nothing_else():
    def broken(name: str):
        raise RuntimeError("planted")

    profile = CellProfile(broken)
    profile.begin("fake")
    assert not profile.on
    assert profile.finish().notes == ("The fake profiler did not start (RuntimeError: planted).",)


def test_a_secret_in_a_profilers_error_is_no_easier_to_read_for_being_cut():
    secret = "hf_" + "abcdefghijKLMNOPqrstuvwxyz01234567"

    def broken(name: str):
        raise RuntimeError("x" * 94 + f" token={secret}")

    profile = CellProfile(broken)
    profile.begin("fake")
    assert secret[:12] not in str(profile.finish().notes[0])


def test_two_frameworks_have_their_operations_beside_each_other():
    record = profiled(
        FakeProfiler((operation("one"),), framework="one"), FakeProfiler((operation("two"),), framework="two")
    )
    assert sorted(row.name for row in record.ops) == ["one", "two"]


def test_a_framework_imported_in_the_cell_is_profiled_from_then_on():
    fake = FakeProfiler((operation(),))
    backends: list[FakeBackend] = []
    made = recorder(fake)
    made.backends = lambda: backends
    measurement = made.start("import fake", ops=True)
    assert not fake.on
    backends.append(FakeBackend("fake"))
    made.framework_loaded(backends[0])
    assert fake.on
    assert measurement.stop().mode == "profiled"


def test_a_block_traced_inside_a_profiled_cell_is_no_timing_either():
    made = recorder(FakeProfiler())
    outer = made.start("cell", ops=True)
    inner = made.start("epoch 1").stop()
    assert inner.mode == "profiled"
    outer.stop()
    assert made.start("next").stop().mode == "light"


def test_a_record_keeps_the_operations_with_the_largest_shares(monkeypatch):
    monkeypatch.setattr(cell_profile, "ROWS", 2)
    events = tuple(kernel(f"k{number}", 10 * number, number) for number in range(1, 5))
    record = profiled(FakeProfiler(events))
    assert [row.name for row in record.ops] == ["k4", "k3"]
    assert record.notes[0].endswith("2 operations with the smallest shares are not in this record.")


def test_a_profiled_record_follows_the_schema_and_comes_back_as_it_was():
    schema = json.loads(files("jupyter_mlgpu").joinpath("record/record.schema.json").read_text())
    fake = FakeProfiler((kernel("a", 0, 4), operation()))
    record = profiled(fake, probes=(FakeProbe("cpu_time", 0.1),))
    data = json.loads(json.dumps(record.to_json()))
    jsonschema.validate(data, schema)
    assert Record.from_json(data) == record


def test_an_operation_saved_before_planes_were_kept_is_read():
    record = profiled(FakeProfiler((operation(),)))
    data = record.to_json()
    for name in ("plane", "share", "shapes", "bytes", "flops"):
        del data["ops"][0][name]
    (row,) = Record.from_json(data).ops
    assert (row.name, row.plane, row.share) == ("aten::mm", None, None)
