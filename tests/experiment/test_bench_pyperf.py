"""What `bench --pyperf` writes, read and compared by pyperf itself."""

import subprocess
import sys
from dataclasses import replace

import pytest

from jupyter_mlgpu.experiment.bench import pyperf_file
from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.testing import FakeBackend, FakeClock
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case

pytestmark = pytest.mark.needs("pyperf")


def measured(seconds, **more):
    """A run of a case on a fake GPU, whose steps take these seconds in turns."""
    clock = FakeClock()
    result, _ = measure(
        replace(fake_case(FakeRunner(clock, seconds), n=512), framework="torch", **more),
        FakeBackend("torch", devices=("gpu:0",)).devices()[0],
        backend=FakeBackend("torch", devices=("gpu:0",)),
        monitor=FakeMonitor(clock, watts=300.0),
        clock=clock,
        budget=Budget(repeats=6, sample_s=0.1, warm_up_s=2.0),
    )
    versions = {"python": "3.11.7", "torch": "2.13.0"}
    return BenchRun(
        (result,), {"processor": "a chip"}, versions, "2026-11-22T10:00:00.000000Z", "fake", False
    )


@pytest.fixture
def read(tmp_path):
    """A function that writes a run and returns what pyperf reads of it."""
    import pyperf

    def write_and_read(run, name="bench.json"):
        pyperf_file.save(run, tmp_path / name)
        return pyperf.BenchmarkSuite.load(str(tmp_path / name))

    return write_and_read


def pyperf_says(*words):
    done = subprocess.run([sys.executable, "-m", "pyperf", *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_pyperf_reads_every_sample_in_seconds_per_step(read):
    run = measured((0.1, 0.2))
    (one,) = read(run)
    (result,) = run.results
    assert one.get_values() == result.samples
    assert one.get_unit() == "second"
    assert one.get_name() == f"{result.label}, torch on gpu:0"
    assert (one.get_loops(), one.get_nrun()) == (result.steps, 1)


def test_pyperf_knows_when_and_with_what_it_was_measured(read):
    (one,) = read(measured((0.1,)))
    about = one.get_metadata()
    assert (about["python_version"], about["framework_version"]) == ("3.11.7", "2.13.0")
    assert about["timer"] == "fake"
    start, _ = one.get_dates()
    assert start.isoformat() == "2026-11-22T10:00:00+00:00"


def test_reasons_to_doubt_go_with_the_samples(read):
    run = measured((0.1,))
    doubted = replace(
        run.results[0], flags=(say("Other programs\nwere busy."),), status="interrupted", why=say("x")
    )
    (one,) = read(replace(run, results=(doubted,)))
    about = one.get_metadata()
    assert (about["doubts"], about["status"]) == ("Other programs were busy.", "interrupted")


def test_pyperf_compares_two_files(read, tmp_path):
    read(measured((0.1, 0.101)), "before.json")
    read(measured((0.2, 0.202)), "after.json")
    shown = pyperf_says("compare_to", tmp_path / "before.json", tmp_path / "after.json")
    assert "2.00x slower" in shown
    for command in ("show", "stats", "check", "metadata"):
        pyperf_says(command, tmp_path / "before.json")


def test_a_case_without_samples_is_left_out_and_that_is_said(tmp_path):
    run = measured((0.1,))
    failed = measured((RuntimeError("boom"),)).results
    said = pyperf_file.save(replace(run, results=(*run.results, *failed)), tmp_path / "bench.json")
    assert said.startswith(f"{tmp_path}/bench.json has seconds per step of 1 case for pyperf. Left out")
    assert said.endswith(" 1 case has no samples.")
