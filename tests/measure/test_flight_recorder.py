"""A kernel's account while it is kept: what its cells store, and what is looked at beside them."""

import os
import stat

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.measure.flight_recorder import FIRST, LINGER, FlightRecorder, Streams, is_alive, last_lines
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.flight_record import SizeRun, Sizes
from jupyter_mlgpu.record.record import Run
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.nvml import FakeGpu, FakeNvml

MIB = 1024**2


class Thread:
    """The sampler's thread, which looks when it is told to."""

    def __init__(self):
        self.samples = []
        self.added = 0

    def add(self, sample, every, after=0.0, early=0.0):
        self.samples.append(sample)
        self.added += 1
        return lambda: self.samples.remove(sample)

    def sample(self):
        for one in list(self.samples):
            one()


class Native:
    """Native streams."""

    def __init__(self):
        self.written = {"stdout": b"", "stderr": b""}

    def streams(self):
        return Streams(
            lambda: {name: len(data) for name, data in self.written.items()},
            lambda most, since: {name: data[since[name] :][-most:] for name, data in self.written.items()},
        )


@pytest.fixture
def scene(tmp_path):
    class Scene:
        path = tmp_path / "jupyter_mlgpu-kernel-1.account"
        thread, native, gpus = Thread(), Native(), Lazy(lambda: None)
        tidied = 0

        def open(self, numbers_in=lambda code: {}):
            self.flight_record = FlightRecorder(
                self.path,
                Run("run", None, "host"),
                sampler=self.thread,
                gpus=self.gpus,
                streams=self.native.streams(),
                remove_old_files=self._remove_old_files,
                numbers_in=numbers_in,
            )
            return self.flight_record

        def _remove_old_files(self):
            self.tidied += 1

        @property
        def read(self):
            return flight_files.read(self.path)

    return Scene()


def test_an_account_says_from_the_beginning_whose_it_is_and_nobody_else_may_read_it(scene):
    scene.open()
    assert scene.read.at.phase == "starting"
    assert (scene.read.state.pid, scene.read.state.run) == (os.getpid(), "run")
    assert stat.S_IMODE(scene.path.stat().st_mode) == 0o600
    assert scene.thread.samples == []


def test_a_cell_is_told_at_once_and_its_first_line_with_the_first_look(scene):
    scene.open().cell_begins("\n  model.fit(x)\nmore", 7)
    assert (scene.read.at.phase, scene.read.at.execution_count) == ("running", 7)
    assert scene.read.first_line is None
    scene.thread.sample()
    assert scene.read.first_line == "model.fit(x)"
    scene.flight_record.cell_ended()
    assert scene.read.at.phase == "idle"


def run(scene, code, grown, **more):
    """A cell that makes the process grow by so many MiB; gives its peak in bytes."""
    scene.flight_record.cell_begins(code, 1)
    scene.thread.sample()
    peak = scene.read.state.sample.process + grown * MIB
    scene.flight_record.record_made(record_of(peak, **more))
    scene.flight_record.cell_ended()
    return peak


def record_of(peak, **more):
    record = example_record()
    readings = tuple(
        replace(one, value=peak) if one.quantity == "peak_memory_process" else one for one in record.readings
    )
    return replace(record, readings=readings, **more)


def test_a_cell_that_ran_with_two_other_sizes_is_told_with_them(scene):
    scene.open()
    run(scene, "1", 100)  # frameworks are there from then on
    first, second = run(scene, "fit(x, batch=32)", 100), run(scene, "fit(x, batch=64)", 200)
    run(scene, "fit(x, batch=96)", 90, outcome="error")
    run(scene, "fit(x, batch=97)", 90, mode="profiled")
    run(scene, "fit(x, batch=98)", 90, versions={"new": "1.0"})
    scene.flight_record.cell_begins("fit(x, batch=128)", 5)
    assert scene.read.cell is None, "nobody has looked"
    scene.thread.sample()
    assert scene.read.cell.sizes == Sizes(128, (SizeRun(32, first), SizeRun(64, second)), "batch")


def test_what_hardly_makes_the_process_grow_is_no_run_of_a_size_and_its_code_is_not_looked_at(scene):
    asked = []
    scene.open(lambda code: asked.append(code) or {})
    run(scene, "1", 100)
    asked.clear()
    run(scene, "fit(x, batch=32)", 3)
    run(scene, "fit(x, batch=64)", 3)
    assert asked == []
    assert scene.read.state.cell.sizes is None


def test_variables_that_a_cell_names_are_sizes_too(scene):
    scene.open(lambda code: {"batch": scene.batch} if "batch" in code else {})
    peaks = []
    for scene.batch in (32, 64, 128):
        peaks.append(run(scene, "fit(x, batch)", scene.batch))
    assert scene.read.state.cell.sizes == Sizes(128, (SizeRun(64, peaks[1]),), "batch"), (
        "the first one imported"
    )


def test_a_size_is_one_number_in_which_runs_differ_and_nothing_is_said_of_others(scene):
    scene.open()
    for code in (
        "1",
        "f(1, 2)",
        "f(3, 4)",
        "f(2**10)",
        "f(2**11)",
        "f('a', 5)",
        "f('b', 6)",
        "f(0.5)",
        "f(0.25)",
    ):
        run(scene, code, 100)
        assert scene.read.state.cell.sizes is None, code


def test_a_cell_too_short_to_be_looked_at_is_no_run_of_a_size(scene):
    scene.open()
    peak = run(scene, "1", 100)
    scene.flight_record.cell_begins("f(1)", 1)
    scene.flight_record.record_made(record_of(peak))
    scene.flight_record.cell_ended()
    run(scene, "f(2)", 200)
    assert scene.read.state.cell.sizes is None


def test_a_cell_that_holds_data_is_not_compared(scene):
    scene.open()
    run(scene, "1", 100)
    for last in (1, 2):
        run(scene, f"x = [{'7, ' * 300}{last}]", 100)
    assert scene.read.state.cell.sizes is None


def test_the_first_line_is_redacted(scene):
    scene.open().cell_begins("login(token='hf_abcdefghijklmnopqrstuvwxyzABCDEFGH')", None)
    scene.thread.sample()
    assert "abcdefgh" not in scene.read.first_line
    assert b"abcdefgh" not in scene.path.read_bytes()


def test_a_look_has_the_memory_of_process_and_machine(scene):
    scene.open().cell_begins("1", 1)
    scene.thread.sample()
    sample = scene.read.state.sample
    assert 1e6 < sample.process < sample.machine_total
    assert 0 < sample.machine_used < sample.machine_total


def test_the_largest_step_is_that_of_one_cell(scene):
    scene.open().cell_begins("1", 1)
    scene.thread.sample()
    held = b"x" * 64_000_000
    scene.thread.sample()
    assert scene.read.state.largest_step > 30e6
    scene.flight_record.cell_begins("2", 2)
    scene.thread.sample()
    assert scene.read.state.largest_step == 0
    assert held


def test_gpus_are_looked_at_where_they_were_found_for_another_purpose(scene):
    scene.open().cell_begins("1", 1)
    scene.thread.sample()
    assert scene.read.state.sample.devices == ()
    nvml = Nvml(FakeNvml(FakeGpu()))
    scene.gpus.known = Gpus(nvml, (Gpu(0, "GPU 0"),), None)
    scene.thread.sample()
    (device,) = scene.read.state.sample.devices
    assert (device.label, device.total) == ("GPU 0", nvml.memory(0).value.total)


def test_native_lines_of_the_cell_are_kept_redacted_and_those_before_it_are_not(scene):
    scene.native.written["stderr"] = b"of the cell before\n"
    scene.open().cell_begins("1", 1)
    scene.native.written["stderr"] += f"\x1b[31mopened {os.path.expanduser('~')}/secret\x1b[0m\n".encode()
    scene.thread.sample()
    assert scene.read.state.lines == ("opened ~/secret",)


def test_looking_rests_some_time_after_the_last_cell_and_goes_on_with_the_next(scene, monkeypatch):
    scene.open().cell_begins("1", 1)
    scene.flight_record.cell_ended()
    scene.thread.sample()
    assert scene.thread.samples, "it goes on for a while"
    ended = scene.read.at.since
    monkeypatch.setattr("jupyter_mlgpu.measure.flight_recorder.real_time.time", lambda: ended + LINGER + 1)
    scene.thread.sample()
    assert scene.thread.samples == []
    scene.flight_record.cell_begins("2", 2)
    assert len(scene.thread.samples) == 1
    assert FIRST < 0.1


def test_cells_that_follow_one_another_share_one_looking(scene):
    scene.open()
    for count in range(5):
        scene.flight_record.cell_begins("1", count)
        scene.flight_record.cell_ended()
    assert scene.thread.added == 1


def test_what_others_left_is_tidied_up_once_and_by_the_samplers_thread(scene):
    scene.open().cell_begins("1", 1)
    assert scene.tidied == 0
    scene.thread.sample()
    scene.thread.sample()
    assert scene.tidied == 1


def test_a_shutdown_that_was_asked_for_stays_whatever_runs_on(scene):
    scene.open().cell_begins("1", 1)
    scene.flight_record.process_ends("ended")
    scene.flight_record.cell_ended()
    scene.flight_record.process_ends("exited")
    assert scene.read.at.phase == "ended"
    assert scene.flight_record.is_shutting_down


def test_the_end_takes_the_file_away(scene):
    scene.open().cell_begins("1", 1)
    scene.flight_record.close()
    assert not scene.path.exists()
    assert scene.thread.samples == []


def test_a_forked_child_writes_nothing_and_takes_nothing_away(scene):
    scene.open().cell_begins("1", 1)
    child = os.fork()
    if child == 0:
        scene.flight_record.cell_ended()
        scene.flight_record.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert scene.read.at.phase == "running"


def test_an_account_of_a_kernel_before_is_replaced(scene):
    scene.path.write_bytes(b"old")
    scene.open()
    assert scene.read.state.run == "run"


def test_a_folder_that_is_not_there_is_an_error_and_a_disk_without_room_leaves_nothing(scene, monkeypatch):
    monkeypatch.setattr(os, "write", lambda descriptor, data: 100)
    with pytest.raises(OSError, match="no room"):
        scene.open()
    assert not scene.path.exists()
    monkeypatch.undo()
    scene.path = scene.path.parent / "missing" / scene.path.name
    with pytest.raises(FileNotFoundError):
        scene.open()


def test_whether_a_kernel_lives_is_known_on_its_own_machine_alone(scene):
    scene.open()
    assert is_alive(scene.read, "host") is True
    assert is_alive(scene.read, "another") is None


def test_another_process_with_the_same_number_is_not_the_kernel(scene, monkeypatch):
    monkeypatch.setattr("jupyter_mlgpu.measure.flight_recorder.process_started", lambda: 1e9)
    scene.open()
    assert is_alive(scene.read, "host") is False


def test_a_process_that_is_gone_is_no_kernel(scene):
    child = os.fork()
    if child == 0:
        scene.open()
        os._exit(0)
    os.waitpid(child, 0)
    assert is_alive(scene.read, "host") is False


def test_last_lines_are_those_of_the_end_of_all_streams_in_their_order():
    lines = last_lines([b"\n".join(b"out %d" % number for number in range(30)), b"err 1\r\n\n  err 2\n"])
    assert len(lines) == 20
    assert lines[-3:] == ("out 29", "err 1", "  err 2")
