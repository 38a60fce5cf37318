"""How many times as fast a function is: timed in turns on new data, and judged so that no noise decides."""

from __future__ import annotations

import json
import random
import shutil
import time
from contextlib import contextmanager

import pytest

from jupyter_mlgpu.record.errors import NotVerifiedError
from jupyter_mlgpu.teach.grading.measure import Measured
from jupyter_mlgpu.teach.lessons import labs, speedups
from jupyter_mlgpu.teach.lessons.speedups import CALLS, FEWEST_ROUNDS, MOST_ROUNDS, Round, judge, timed_rounds
from jupyter_mlgpu.testing.grading import LocalStudent
from tests.teach.record_speedups import ANSWERS, LOADS, RECORDED, beside, rounds_of, student_with

pytestmark = pytest.mark.needs("numpy")

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="it runs students' code in bubblewrap"
)


def double(number):
    return 2 * number


def fresh(seed):
    return (seed,)


def test_both_functions_get_the_same_new_arguments_in_turns_and_no_call_those_of_another():
    asked = []

    def told(name):
        def function(number):
            asked.append((name, number))
            return number

        return function

    rounds = list(timed_rounds(told("fast"), told("slow"), fresh))
    assert len(rounds) == MOST_ROUNDS
    # A round more than is given out: the first one is for getting ready.
    assert [name for name, _ in asked] == (["slow"] * CALLS + ["fast"] * CALLS) * (MOST_ROUNDS + 1)
    for name in ("fast", "slow"):
        assert len({number for one, number in asked if one == name}) == CALLS * (MOST_ROUNDS + 1)


def test_the_shortest_times_of_a_round_count(monkeypatch):
    # Seconds of each call by clock and processor: a round to get ready, the slow calls, the fast ones.
    calls = iter([(9.0, 9.0)] * 6 + [(9.0, 7.0), (8.0, 6.5), (50.0, 6.0), (3.0, 0.1), (2.0, 0.1), (4.0, 0.1)])
    monkeypatch.setattr(speedups, "_timed", lambda function, given: speedups._Call(1, *next(calls)))
    assert next(timed_rounds(double, double, fresh)) == Round(fast=2.0, computing=6.0, slow=8.0)


def test_a_wrong_result_in_any_timed_call_is_an_error_however_fast_it_came():
    calls = []

    def right_at_first(number):
        calls.append(number)
        return 2 * number if len(calls) < 10 else 0

    rounds = timed_rounds(right_at_first, double, fresh)
    next(rounds)
    with pytest.raises(AssertionError, match="for new data, too: be right before fast"):
        list(rounds)


@pytest.mark.parametrize("wrong", [[], [[8.0, 8.0]], [8.0], [8.0, float("nan")], "8.0 8.0", None])
def test_a_result_of_another_shape_or_without_a_number_is_not_the_same(wrong):
    import numpy as np

    with pytest.raises(AssertionError, match="be right before fast"):
        next(timed_rounds(lambda _: wrong, lambda _: np.array([8.0, 8.0]), fresh))


def test_rounding_to_float32_is_no_mistake():
    import numpy as np

    made = np.random.default_rng
    assert next(
        timed_rounds(
            lambda seed: made(seed).normal(size=9).astype("float32"),
            lambda seed: made(seed).normal(size=9),
            fresh,
        )
    )


def test_what_is_left_running_is_paused_while_the_slow_function_runs_and_only_then():
    held = []
    seen = {"fast": set(), "slow": set()}

    @contextmanager
    def paused():
        held.append(True)
        yield
        held.pop()

    def told(name):
        return lambda number: seen[name].add(bool(held))

    list(timed_rounds(lambda n: told("fast")(n) or n, lambda n: told("slow")(n) or n, fresh, paused))
    assert seen == {"fast": {False}, "slow": {True}}


def test_a_clock_that_the_students_code_has_stopped_is_not_read(monkeypatch):
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    assert all(seconds > 0 for seconds in next(timed_rounds(double, lambda n: sum([n] * 1000) // 500, fresh)))


def quiet(ratio):
    """A round of a machine that does nothing else."""
    return Round(1.0, ratio, ratio)


def test_a_clear_answer_needs_few_rounds_and_a_close_one_all_of_them():
    found = judge([quiet(50.0)] * MOST_ROUNDS, 4)
    assert (found.state, found.rounds, found.times) == ("holds", FEWEST_ROUNDS, 50)
    found = judge([quiet(1.0)] * MOST_ROUNDS, 4)
    assert (found.state, found.rounds, found.enough) == ("does not hold", FEWEST_ROUNDS, False)
    found = judge([quiet(3.0)] * MOST_ROUNDS, 4)
    assert (found.state, found.rounds, found.enough) == ("cannot judge", MOST_ROUNDS, True)
    assert judge([quiet(2.3)] * MOST_ROUNDS, 4).state == "does not hold"


def test_one_undisturbed_call_of_each_is_enough_whenever_it_comes():
    disturbed = [Round(9.0, 15.0, 30.0)] * (MOST_ROUNDS - 1)
    assert judge([*disturbed, quiet(10.0)], 8).state == "holds"
    assert judge([quiet(10.0), *disturbed], 8).state == "holds"


def test_a_tenth_less_than_what_is_asked_is_enough():
    assert judge([quiet(3.65)] * MOST_ROUNDS, 4).state == "holds"
    assert judge([quiet(3.55)] * MOST_ROUNDS, 4).state == "cannot judge"


def test_on_a_busy_machine_nobody_passes_for_the_waits_of_the_slow_function_and_nobody_fails_for_their_own():
    # Twice as long by the clock: the function may have waited as long, or not at all.
    assert judge([Round(1.0, 3.0, 6.0)] * MOST_ROUNDS, 4).state == "cannot judge"
    assert judge([Round(1.0, 1.0, 2.0)] * MOST_ROUNDS, 4).state == "does not hold"


def test_fewer_rounds_than_a_judgement_needs_are_refused():
    with pytest.raises(ValueError, match="at least 5 rounds, found 4"):
        judge([quiet(2.0)] * (FEWEST_ROUNDS - 1), 4)


def test_a_grader_leaves_to_the_teacher_what_stays_uncertain(monkeypatch, capsys):
    close = [quiet(3.0)] * MOST_ROUNDS
    monkeypatch.setattr(speedups, "timed_rounds", lambda *_: close)
    grader = Measured([], LocalStudent(), LocalStudent())
    with pytest.raises(
        NotVerifiedError, match="3 times as fast: 1 s versus 3 s, the shortest of 45 calls each"
    ):
        grader.times_faster(double, double, fresh, 4)
    # So it is where receipts are trusted, for this is no receipt. A student sees the ratio.
    receipts = labs.Submitted(None)  # type: ignore[arg-type]
    with labs.graded_by(lambda _: receipts), pytest.raises(NotVerifiedError):
        receipts.times_faster(double, double, fresh, 4)
    assert receipts.times_faster(double, double, fresh, 4).enough
    assert "3 times as fast" in capsys.readouterr().out


def test_a_grader_pauses_what_the_students_cells_have_left_running(monkeypatch):
    given = []
    monkeypatch.setattr(
        speedups, "timed_rounds", lambda *words: given.append(words) or [quiet(9.0)] * MOST_ROUNDS
    )
    student = LocalStudent()
    assert Measured([], student, LocalStudent()).times_faster(double, double, fresh, 4).state == "holds"
    assert given == [(double, double, fresh, student.paused)]


#: What each answer of lab 8 deserves: if it is 4 times as fast, and if it is 20 times as fast.
DESERVED = {
    "whole picture": (True, True),
    "windows": (True, True),
    "place by place": (True, False),
    "lists": (False, False),
    "slow": (False, False),
}
REPLAYS = 300


def replayed(answer, number):
    """The rounds of a recorded series; after all have been taken, with noise of heavy tails on each time.

    A time is multiplied by 1 plus a tenth of a number of Lomax's distribution of shape 1.5, whose variance is
    infinite: every twentieth becomes longer by 60 % or more, and every thousandth becomes ten times as long.
    """
    series = [one["rounds"] for one in json.loads(RECORDED.read_text("utf-8")) if one["answer"] == answer]
    if number < len(series):
        return [Round(*one) for one in series[number]]
    draw = random.Random(f"{answer} {number}")
    rounds = series[number % len(series)]
    start = draw.randrange(len(rounds))
    return [
        Round(*(seconds * (1 + 0.1 * (draw.paretovariate(1.5) - 1)) for seconds in times))
        for times in rounds[start:] + rounds[:start]
    ]


@pytest.mark.parametrize("answer", DESERVED)
def test_no_right_answer_fails_and_no_wrong_one_passes_in_300_replayed_series(answer):
    for least, deserved in zip((4, 20), DESERVED[answer], strict=True):
        states = [judge(replayed(answer, number), least).state for number in range(REPLAYS)]
        assert ("does not hold" if deserved else "holds") not in states
        # On a busy machine only what is near to what is asked stays open.
        if answer in ("whole picture", "windows", "slow"):
            assert "cannot judge" not in states


def test_the_recorded_series_are_of_every_answer_under_every_load():
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert {(one["answer"], one["load"]) for one in recorded} == {(a, b) for a in ANSWERS for b in LOADS}
    assert {len(one["rounds"]) for one in recorded} == {MOST_ROUNDS}


@pytest.mark.slow
@needs_bubblewrap
@pytest.mark.timeout(600)
@pytest.mark.parametrize("run", range(20))
def test_a_right_answer_passes_and_a_slow_one_does_not_while_other_programs_use_all_processors(run):
    load = list(LOADS)[1:][run % 3]
    with beside(LOADS[load]), student_with(ANSWERS["whole picture"]) as student:
        found = [judge(rounds_of(student), least) for least in (4, 20)]
    with beside(LOADS[load]), student_with(ANSWERS["slow"]) as student:
        found.append(judge(rounds_of(student), 4))
    print(load, *(one.sentence for one in found))
    assert [one.state for one in found] == ["holds", "holds", "does not hold"]


#: Stops the clock that tests usually read, makes the slow function slower, and keeps every processor busy
#: except while its own function is called.
CHEATS = """
import os, signal, time
_mine = slow_strongest
time.perf_counter = time.process_time = lambda: 0.0
others = []
for _ in range(os.cpu_count()):
    child = os.fork()
    if child == 0:
        while True: pass
    others.append(child)
def slow_strongest(picture, kernels):
    time.sleep(10)
    return _mine(picture, kernels)
def strongest(picture, kernels):
    for one in others: os.kill(one, signal.SIGSTOP)
    found = _mine(picture, kernels)
    for one in others: os.kill(one, signal.SIGCONT)
    return found
"""


@pytest.mark.slow
@needs_bubblewrap
def test_a_stopped_clock_a_slower_slow_function_and_programs_left_running_make_nobody_faster():
    with student_with(CHEATS) as student:
        assert judge(rounds_of(student), 4).state != "holds"
