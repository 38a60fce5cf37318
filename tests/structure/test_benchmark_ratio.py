"""What is concluded from two programs that took turns, and how the script beside torch.compile goes on."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import bench_ratio, bench_stages
from benchmarks.bench_ratio import Ratio, ratio

ROOT = Path(__file__).parents[2]


def test_two_programs_of_the_same_speed_have_a_ratio_of_one():
    assert ratio([0.02] * 5, [0.02] * 5) == Ratio(1.0, 1.0, 1.0)


def test_the_ratio_is_of_speeds_so_that_half_the_time_is_twice_as_fast():
    assert ratio([0.2, 0.4], [0.1, 0.2]).mean == pytest.approx(2.0)


def test_the_interval_is_students():
    # Logarithms of the ratios: 0, 0.1, 0.2, 0.3, 0.4; their mean 0.2, deviation 0.15811, t(4) = 2.776.
    found = ratio([math.exp(one / 10) for one in range(5)], [1.0] * 5)
    assert math.log(found.mean) == pytest.approx(0.2)
    assert math.log(found.high) - 0.2 == pytest.approx(2.776 * 0.158114 / math.sqrt(5), rel=1e-5)
    assert 0.2 - math.log(found.low) == pytest.approx(math.log(found.high) - 0.2)


@pytest.mark.parametrize("number", [1, bench_ratio.MOST_REPEATS + 1])
def test_a_ratio_needs_some_repeats_and_knows_no_more_than_its_table(number):
    with pytest.raises(ValueError, match="needs 2 to 20 repeats"):
        ratio([1.0] * number, [1.0] * number)


class OnASlowingMachine:
    """Takes a step's time of a clock, which every step slows down."""

    def __init__(self, clock, step_s):
        self.clock, self.step_s = clock, step_s

    def run(self, steps):
        for _ in range(steps):
            self.clock["now"] += self.step_s * self.clock["slower"]
            self.clock["slower"] *= 1.002

    def wait(self):
        pass


def test_programs_that_take_turns_compare_rightly_while_the_machine_slows_down(monkeypatch):
    clock = {"now": 0.0, "slower": 1.0}
    monkeypatch.setattr(bench_stages.time, "perf_counter", lambda: clock["now"])
    reference, ours = OnASlowingMachine(clock, 0.02), OnASlowingMachine(clock, 0.01)
    in_turns = ratio(*bench_stages.take_turns(reference, ours, steps=5, repeats=5))
    assert in_turns.mean == pytest.approx(2.0, rel=1e-3)
    # One after the other, as large a block of each, the later one seems slower.
    clock["slower"] = 1.0
    one_by_one = ratio(*bench_stages.take_turns(reference, ours, steps=40, repeats=5, turns=1))
    assert one_by_one.mean < 1.9


def results(steps):
    return {"schema": 1, "machine": {"device": "a GPU"}, "steps": steps}


def in_turns(reference, ours):
    return {"batch": 128, "options": [], **bench_ratio.turns(reference, ours, 128), "loss": 1.0, "took_s": 3}


@pytest.mark.parametrize(
    ("ours", "verdict"),
    [
        ([1.0, 1.01, 0.99], "not settled"),
        ([1.001, 1.0, 1.0], "ties"),
        ([0.9, 0.901, 0.9], "beats it"),
        ([1.1, 1.101, 1.1], "behind"),
    ],
)
def test_a_verdict_looks_at_the_whole_interval(ours, verdict):
    steps = {"resnet50/tie/compile": in_turns([1.0] * 3, ours)}
    rows = [line for line in bench_ratio.markdown(results(steps)).splitlines() if "| compile |" in line]
    assert rows[0].endswith(f"| {verdict} |")


def test_the_report_names_what_was_not_measured_and_compares_with_the_same_batch_alone():
    alone = {**bench_ratio.alone([1.0, 1.0], 256), "options": [], "loss": 0.5, "took_s": 2}
    steps = {
        "resnet50/tie/compile": in_turns([1.0, 1.0], [1.0, 1.0]),
        "resnet50/jax/bf16": {**alone, "batch": 128},
        "resnet50/jax/scan": {**alone, "batch": 256},
        "resnet50/inference/bf16": {**alone, "batch": 128},
        "resnet50/options/tf32": {"batch": 128, "options": [], "why": "not begun: 3 s were left"},
    }
    text = bench_ratio.markdown(results(steps))
    assert "| jax: bf16 | 256 | 2.000 | 1000.00 | 0.500 |" in text
    assert "| jax: scan | 256 |  | 1000.00 | 0.500 |" in text
    assert "| inference: bf16 | 256 |  | 1000.00 |  |" in text  # no training: neither share nor loss
    assert "not begun: 3 s were left" in text
    assert "torch.compile had 6,296 before" in text


def test_where_the_project_began_is_told_of_the_same_batch_alone():
    larger = {"mobilenetv2/tie/compile": {**in_turns([1.0, 1.0], [1.0, 1.0]), "batch": 512}}
    assert "before" not in bench_ratio.markdown(results(larger))


def test_the_reference_of_any_turns_will_do():
    steps = {
        "bert-large/tie/compile": {"batch": 128, "options": [], "why": "not begun: 22 s were left"},
        "bert-large/tie/cuda_graphs": in_turns([1.0, 1.0], [0.5, 0.5]),
    }
    assert "| tie: cuda_graphs | 256 | 2.000 |" in bench_ratio.markdown(results(steps))


def setting(**changes):
    given = {"model": "distilbert", "batch": 4, "device": "cpu", "small": True, "repeats": 2, "block_s": 0.01}
    return bench_stages.Setting(**{**given, "until": math.inf, "beyond": ("cuda_graphs",), **changes})


def test_a_step_that_is_done_is_not_measured_again_and_a_failed_one_is(tmp_path):
    calls = []

    def works():
        calls.append("works")
        return bench_ratio.alone([1.0, 1.0], 4)

    def fails():
        calls.append("fails")
        raise RuntimeError("out of memory\nand more")

    for _ in range(2):
        book = bench_stages.Book(tmp_path)
        bench_stages.attempt(setting(), book, "options", "good", (), works)
        bench_stages.attempt(setting(), book, "options", "bad", (), fails)
    assert calls == ["works", "fails", "fails"]
    kept = json.loads((tmp_path / "results.json").read_text())["steps"]
    assert kept["distilbert/options/good"]["items_per_s"] == 4
    assert kept["distilbert/options/bad"]["why"] == "RuntimeError: out of memory"


def test_no_step_begins_when_the_time_is_over(tmp_path):
    def never():
        raise AssertionError("begun")

    book = bench_stages.Book(tmp_path)
    bench_stages.attempt(setting(until=0.0), book, "options", "late", (), never)
    assert book.results["steps"]["distilbert/options/late"]["why"].startswith("not begun: ")


class Metronome:
    """A training whose steps take turns at being slow and quick, to see that everyone waits for it."""

    def __init__(self):
        self.steps, self.waits = 0, 0

    def run(self, steps):
        self.steps += steps

    def wait(self):
        self.waits += 1

    def loss(self):
        return 0.0


def test_a_time_begins_and_ends_when_the_device_has_nothing_to_do():
    one = Metronome()
    assert bench_stages.timed(one, 10) > 0
    assert (one.steps, one.waits) == (10, 2)


@pytest.mark.slow
@pytest.mark.needs("torch")
def test_the_script_measures_tiny_models_in_a_process_of_its_own_and_goes_on_where_it_ended(tmp_path):
    command = [sys.executable, "-m", "benchmarks.bench_against_torch", "--tiny", "--out", str(tmp_path)]
    command += ["--model", "distilbert", "--stage", "options", "--repeats", "2", "--seconds", "200"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    runs = [
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)
    ]
    assert "distilbert/options/bf16+flash" in runs[0].stdout
    assert "bf16+flash:" not in runs[1].stdout
    steps = json.loads((tmp_path / "results.json").read_text())["steps"]
    measured = [key for key, step in steps.items() if "items_per_s" in step]
    assert "distilbert/options/eager float32" in measured
    assert "cuda" in steps["distilbert/options/tf32"]["why"]
    assert "eager float32" in (tmp_path / "results.md").read_text()


@pytest.mark.needs("torch")
@pytest.mark.parametrize("name", ["resnet50", "mobilenetv2", "distilbert", "bert-large"])
def test_the_reference_is_the_same_network_written_again(name):
    import torch

    from benchmarks import bench_reference
    from jupyter_mlgpu.measure.frameworks.models import MODELS, tiny
    from jupyter_mlgpu.measure.frameworks.torch.training import build

    with torch.device("meta"):
        assert sum(one.numel() for one in bench_reference.model(name).parameters()) == MODELS[name].parameters
    theirs, ours = bench_reference.model(name, tiny=True).eval(), build(tiny(MODELS[name])).eval()
    text = name in ("distilbert", "bert-large")
    given = torch.randint(0, 100, (2, 16)) if text else torch.randn(2, 3, 32, 32)
    with torch.no_grad():
        for weight, same in zip(ours.parameters(), in_our_order(theirs), strict=True):
            weight.copy_(same)
        assert torch.allclose(theirs(given), ours(given), rtol=1e-4, atol=1e-5)


def in_our_order(network):
    """The reference's weights, with the three matrices of attention as one."""
    import torch

    named = dict(network.named_parameters())
    for name, weight in named.items():
        if ".query." in name:
            yield torch.cat([named[name.replace("query", one)] for one in ("query", "key", "value")])
        elif ".key." not in name and ".value." not in name:
            yield weight
