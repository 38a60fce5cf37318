"""That a cell became slower is said where the runs show it, and once they are all slow no more."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.comparing.slower import became_slower
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import with_slower
from jupyter_mlgpu.record.store import Store
from jupyter_mlgpu.testing import example_record


def run(number, seconds, **changes):
    record = example_record(number)
    wall, *others = record.readings
    changed = {"id": "cell-1"}
    return replace(
        record,
        cell=replace(record.cell, **changed),
        readings=(replace(wall, value=seconds), *others),
        **changes,
    )


def runs(*seconds):
    return [run(number, one) for number, one in enumerate(seconds, 1)]


def judged(*seconds):
    *earlier, newest = runs(*seconds)
    return became_slower(earlier, newest)


FAST = (1.20, 1.21, 1.19, 1.22, 1.18, 1.23, 1.17, 1.24)


def test_one_slow_run_after_a_few_fast_ones_cannot_be_judged():
    assert judged(1.2, 3.4) is None
    assert judged(*FAST, 3.4) is None


def test_two_slow_runs_after_eight_are_told_with_the_medians():
    found = judged(*FAST, 3.4, 3.5)
    assert (found.now, found.was) == (pytest.approx(3.45), pytest.approx(1.205))


def test_one_slow_run_after_many_is_told():
    assert judged(*FAST, *FAST, *FAST, *FAST, *FAST, 3.4).now == 3.4


def test_what_is_slow_for_long_is_told_no_more():
    assert judged(*FAST, *(3.4,) * 12) is None


def test_noise_and_what_nobody_would_notice_are_not_told():
    assert judged(*FAST, 1.3, 1.16) is None
    assert judged(*FAST, 1.25, 1.26) is None


def test_failed_and_profiled_runs_do_not_count():
    broken = [run(number, 1.2, outcome="error") for number in range(20, 30)]
    assert became_slower([*runs(*FAST[:3]), *broken, run(31, 3.4)], run(32, 3.5)) is None
    assert became_slower(runs(*FAST, 3.4), run(11, 3.5, mode="profiled")) is None
    assert became_slower(runs(*FAST, 3.4), run(11, 3.5, outcome="interrupted")) is None


def test_the_record_keeps_it_as_a_note():
    store = Store()
    *earlier, newest = runs(*FAST, 3.4, 3.5)
    for one in earlier:
        store.add(one)
    (note,) = with_slower(newest, store).notes
    assert note == (
        "Slower than before: 3.45 s, was 1.21 s (medians of the last 2 runs and of the 8 before them)."
    )
    assert with_slower(run(30, 1.2), store).notes == ()


def test_runs_that_were_waited_for_are_not_compared_with_those_that_were_not():
    assert became_slower(runs(*FAST), run(11, 3.5)) is None
    assert became_slower(runs(*FAST, 3.4), run(11, 3.5)) is not None
    assert became_slower(runs(*FAST, 3.4), run(11, 3.5, asynchronous=True)) is None
