"""Where two devices change places, found on paper first; and the interval that says what is certain."""

import pytest

from jupyter_mlgpu.experiment.race.crossover import crossover
from jupyter_mlgpu.experiment.race.result import Lane, Timing


def lane(device, times, spread=0.01, count=10):
    """A lane whose times, by size, spread evenly by a share to both sides."""
    return Lane(
        device,
        device.partition(":")[0],
        None,
        tuple(
            Timing(
                size,
                tuple(
                    middle * (1 + spread * (2 * place / (count - 1) - 1)) if count > 1 else middle
                    for place in range(count)
                ),
                2,
                True,
            )
            for size, middle in times.items()
        ),
    )


def test_two_straight_lines_cross_where_they_do_on_paper():
    # cpu: n^3 nanoseconds; gpu: 1 ms whatever the size. They are equal at n = 100.
    sizes = (10, 30, 1000)
    found = crossover(
        lane("cpu:0", {n: n**3 * 1e-9 for n in sizes}), lane("gpu:0", dict.fromkeys(sizes, 1e-3))
    )
    assert (found.small, found.large, found.low, found.high) == ("cpu:0", "gpu:0", 30, 1000)
    assert found.size == pytest.approx(100)
    assert found.why_missing is None


def test_the_order_of_the_lanes_does_not_matter():
    cpu, gpu = lane("cpu:0", {1: 1.0, 100: 100.0}), lane("gpu:0", {1: 10.0, 100: 10.0})
    for found in (crossover(cpu, gpu), crossover(gpu, cpu)):
        assert (found.small, found.large) == ("cpu:0", "gpu:0")
        assert found.size == pytest.approx(10)


def test_a_size_where_the_spreads_overlap_lies_inside_the_interval_and_moves_nothing():
    cpu = {1: 1.0, 5: 10.01, 20: 10.0, 100: 100.0}
    found = crossover(lane("cpu:0", cpu), lane("gpu:0", dict.fromkeys(cpu, 10.0)))
    assert (found.low, found.high) == (1, 100)
    assert found.size == pytest.approx(10)


def test_the_estimate_always_lies_within_its_interval():
    for slope in (0.1, 0.5, 1, 2, 3):
        cpu = {n: 1e-6 * n**slope for n in (1, 10, 1e8)}
        found = crossover(lane("cpu:0", cpu), lane("gpu:0", dict.fromkeys(cpu, 2e-6)))
        assert found.low < found.size < found.high
        assert found.size == pytest.approx(2 ** (1 / slope))


@pytest.mark.parametrize(
    ("cpu", "gpu", "why"),
    [
        ({1: 1.0, 2: 1.0}, {1: 2.0, 2: 2.0}, "cpu:0 is faster at every size"),
        (
            {1: 3.0, 2: 3.0},
            {1: 2.0, 2: 3.001},
            "gpu:0 is faster at every size where the spreads do not overlap",
        ),
        ({1: 1.0, 2: 1.0}, {1: 1.0, 2: 1.001}, "the spreads overlap at every size"),
        (
            {1: 1.0, 2: 3.0, 3: 1.0},
            {1: 2.0, 2: 2.0, 3: 2.0},
            "the faster device changes several times, between 1 and 2 and between 2 and 3",
        ),
        ({1: 1.0}, {2: 2.0}, "no size was measured on both cpu:0 and gpu:0"),
        ({}, {}, "no size was measured on both cpu:0 and gpu:0"),
    ],
)
def test_where_there_is_no_crossover_a_reason_is_given(cpu, gpu, why):
    found = crossover(lane("cpu:0", cpu), lane("gpu:0", gpu))
    assert (found.size, found.low, found.high) == (None, None, None)
    assert found.why_missing == why


def test_single_runs_are_never_certain():
    cpu, gpu = {1: 1.0, 9: 90.0}, {1: 10.0, 9: 10.0}
    found = crossover(lane("cpu:0", cpu, count=1), lane("gpu:0", gpu, count=1))
    assert found.size is None
    assert "more repeats" in found.why_missing


def test_a_time_below_the_clock_is_not_certain_either():
    found = crossover(lane("cpu:0", {1: 0.0, 9: 90.0}), lane("gpu:0", {1: 10.0, 9: 10.0}))
    assert found.why_missing == "gpu:0 is faster at every size where the spreads do not overlap"
