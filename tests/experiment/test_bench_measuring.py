"""The driver of benchmarks, with a clock and steps of our own making."""

import pytest

from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.case import Needs
from jupyter_mlgpu.experiment.bench.judging import rise
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.testing import FakeBackend, FakeClock
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case

BUDGET = Budget(repeats=6, sample_s=0.1, warm_up_s=2.0, seconds=60.0)


class Bench:
    """One case on a fake device."""

    def __init__(self, *seconds, case=None, monitor=None, budget=BUDGET, device="gpu:0"):
        self.clock = FakeClock()
        self.runner = FakeRunner(self.clock, seconds or [0.1])
        self.steps = []
        backend = self.backend = FakeBackend(devices=(device,))
        self.result, self.error = measure(
            fake_case(self.runner, **(case or {})),
            backend.devices()[0],
            backend=backend,
            monitor=FakeMonitor(self.clock, **(monitor or {})),
            clock=self.clock,
            budget=budget,
            on_step=self.steps.append,
        )


def test_a_steady_case_has_its_median_and_what_follows_from_it():
    result = Bench(0.1, monitor={"watts": 200.0}).result
    assert (result.status, result.steady, result.flags) == ("ok", True, ())
    assert result.median.value == pytest.approx(0.1)
    assert result.spread.value == pytest.approx(0.0)
    assert len(result.samples) == 6
    assert result.throughput.unit == "products/s"
    assert result.throughput.value == pytest.approx(10)
    assert result.tflops.value == pytest.approx(2 * 1024**3 / 0.1 / 1e12)
    assert result.watts.value == pytest.approx(200)
    assert result.items_per_joule.value == pytest.approx(10 / 200)
    assert result.step_joules.value == pytest.approx(20)


def test_the_first_step_which_may_compile_is_in_no_sample():
    bench = Bench(30.0, 0.1)
    assert bench.result.samples == pytest.approx([0.1] * 6)


def test_what_watching_the_first_step_leaves_in_the_framework_is_given_up_before_the_samples():
    assert Bench(0.1).backend.rested == 1


def test_short_steps_are_timed_many_at_once():
    bench = Bench(0.001)
    assert bench.result.steps >= 100
    assert bench.result.median.value == pytest.approx(0.001)


def test_a_device_that_works_on_while_python_goes_on_is_waited_for():
    # All time passes in `wait`: without waiting at both ends of each sample, there would be none.
    assert Bench(0.25).result.median.value == pytest.approx(0.25)


def test_warm_up_goes_on_until_the_times_are_steady():
    falling = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.11]
    result = Bench(*falling, 0.1, budget=Budget(repeats=6, sample_s=0.1, warm_up_s=60.0)).result
    assert result.steady
    assert result.samples == pytest.approx([0.1] * 6)


def test_a_warm_up_that_never_settles_is_flagged():
    result = Bench(*[0.1, 0.2] * 200).result
    assert not result.steady
    assert "The warm-up was not yet steady when its time ran out." in result.flags


def test_times_that_rise_are_called_throttling():
    # Warm-up takes seven blocks: two of one step, and five that are steady; one step more is watched.
    result = Bench(*[0.1] * 8, 0.10, 0.11, 0.12, 0.13, 0.14, 0.15).result
    assert result.samples == pytest.approx([0.10, 0.11, 0.12, 0.13, 0.14, 0.15])
    assert any("rose by 50% over the repeats" in one and "throttling" in one for one in result.flags)


@pytest.mark.parametrize(
    ("samples", "found"),
    [
        ([1.0, 1.1, 1.2, 1.3, 1.4, 1.5], 0.5),
        ([1.5, 1.4, 1.3, 1.2, 1.1, 1.0], None),  # it falls
        ([1.0, 1.002, 1.004, 1.006, 1.008, 1.01], None),  # too little to matter
        ([1.0, 1.3, 1.1, 1.2, 1.05, 1.25], None),  # chance alone does this
        ([1.0, 1.1, 1.2], None),  # too few
    ],
)
def test_a_rise_is_told_from_chance(samples, found):
    assert rise(samples) == (None if found is None else pytest.approx(found))


def test_another_program_is_named():
    result = Bench(monitor={"others": ("python (process 12, 3 GiB)",)}).result
    assert result.flags == ("Something else used gpu:0 at the same time: python (process 12, 3 GiB).",)


def test_a_wide_spread_is_flagged_with_what_is_known_of_its_cause():
    wide = [0.1] * 8 + [0.10, 0.14, 0.10, 0.14, 0.10, 0.14]
    alone = Bench(*wide).result
    assert alone.flags[0] == "The spread is 33.3% of the median, more than 10%."
    assert alone.flags[1].startswith("Nothing observed explains the spread")
    on_cpu = Bench(*wide, device="cpu:0").result
    assert "other work on these cores" in on_cpu.flags[1]
    with_other = Bench(*wide, monitor={"others": ("blender",)}).result
    assert with_other.flags[1].startswith("Something else used gpu:0")


def test_what_does_not_fit_is_skipped_with_what_it_needs():
    bench = Bench(case={"needs": Needs(12 * 1024**3)}, monitor={"memory": 2 * 1024**3})
    assert bench.result.status == "skipped"
    assert bench.result.why == "It needs 12 GiB of memory on gpu:0, but only 2 GiB is available."
    assert bench.runner.steps == 0
    assert bench.result.median.why_missing == bench.result.why


def test_where_the_free_memory_is_not_known_the_case_is_tried():
    assert Bench(case={"needs": Needs(12 * 1024**3)}, monitor={"memory": None}).result.status == "ok"


def test_a_case_for_another_kind_of_device_is_skipped():
    assert Bench(case={"needs": Needs(1, ("cuda",))}).result.why == "It needs cuda, but gpu:0 is gpu."


def test_a_case_that_cannot_run_here_says_why():
    result = Bench(case={"fails": BenchError("Metal has no float64.")}).result
    assert (result.status, result.why) == ("skipped", "Metal has no float64.")


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("CUDA out of memory. Tried to"), ValueError("RESOURCE_EXHAUSTED: x")],
)
def test_running_out_of_memory_is_told_in_plain_words(error):
    result = Bench(0.1, 0.1, error).result
    assert result.status == "failed"
    assert result.why.startswith("Out of memory: the estimate")


def test_a_failure_is_one_line_and_costs_this_case_alone():
    bench = Bench(0.1, RuntimeError("no kernel\nimage is available"))
    assert bench.result.why == "RuntimeError: no kernel image is available"
    assert bench.error is None
    assert bench.runner.closed


def test_an_interrupt_keeps_what_was_measured_and_goes_on():
    bench = Bench(*[0.1] * 11, KeyboardInterrupt(), monitor={"watts": 100.0})
    assert isinstance(bench.error, KeyboardInterrupt)
    assert bench.result.status == "interrupted"
    assert bench.result.samples == pytest.approx([0.1] * 3)
    assert bench.runner.closed
    # The energy of a sample that is not there would be in it.
    assert bench.result.energy.value is None
    assert bench.result.energy.why_missing


def test_the_time_for_repeats_ends_them_but_for_the_fewest():
    result = Bench(2.0, budget=Budget(repeats=10, sample_s=0.1, warm_up_s=2.0, seconds=1.0)).result
    assert len(result.samples) == 3


def test_a_case_of_which_one_step_takes_too_long_is_given_up():
    budget = Budget(longest_step_s=1.5)
    result = Bench(90.0, 6.0, budget=budget).result
    assert result.status == "skipped"
    assert result.why == "One step takes 6 s; the limit is 1.5 s."
    # The first of all may compile.
    assert Bench(90.0, 1.0, budget=budget).result.status == "ok"


def test_what_the_case_is_at_is_told():
    doing = [step.doing for step in Bench().steps]
    assert doing == ["preparing", "warming up", *["measuring"] * 6]
    assert [step.number for step in Bench().steps[2:]] == [1, 2, 3, 4, 5, 6]
