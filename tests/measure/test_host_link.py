"""How fast data goes between host and GPU is told from two readings within a moment, and only from those."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.activity import host_link
from jupyter_mlgpu.measure.activity.host_link import LONGEST, HostLink

pytestmark = pytest.mark.small


@pytest.fixture
def clock(monkeypatch):
    """The time, and the processor time that a reading takes."""
    made = SimpleNamespace(now=100.0, worked=0.0, dear=0.0)
    times = SimpleNamespace(perf_counter=lambda: made.now, thread_time=lambda: made.worked)
    monkeypatch.setattr(host_link, "real_time", times)
    return made


def link(clock, *told):
    """A link whose readings these are, in turn; the last one again and again."""
    left = list(told)

    def read():
        clock.worked += clock.dear
        return left.pop(0) if len(left) > 1 else left[0]

    return HostLink(read)


def test_a_window_is_closed_soon_and_its_bytes_of_both_directions_are_told_by_the_second(clock):
    watched = link(clock, {"GPU 0": (100, 1_000)}, {"GPU 0": (300, 2_000)})
    soon = watched.look()
    assert 0 < soon < LONGEST
    clock.now += 0.05
    assert watched.look() is None
    assert watched.rates() == {"GPU 0": (pytest.approx(1_200 / 0.05), 1)}
    clock.now += 0.05
    assert watched.look() is None
    clock.now += 0.3
    assert watched.look() is not None


def test_a_counter_that_began_again_from_nothing_is_read_as_going_on(clock):
    watched = link(clock, {"GPU 0": ((1 << 32) - 100, 0)}, {"GPU 0": (900, 0)})
    watched.look()
    clock.now += 0.05
    watched.look()
    assert watched.rates()["GPU 0"][0] == pytest.approx(1_000 / 0.05)


def test_readings_that_are_too_far_apart_are_no_window_but_the_second_may_begin_one(clock):
    watched = link(clock, {"GPU 0": (0, 0)}, {"GPU 0": (0, 9_000)}, {"GPU 0": (0, 9_050)})
    watched.look()
    clock.now += 2 * LONGEST
    assert watched.look() is not None
    assert watched.rates() == {}
    clock.now += 0.05
    watched.look()
    assert watched.rates()["GPU 0"] == (pytest.approx(1_000), 1)


def test_a_machine_that_tells_nothing_is_asked_once_a_cell(clock):
    asked = []
    watched = HostLink(lambda: asked.append(1) or {})
    watched.look()
    watched.look()
    watched.look()
    assert len(asked) <= 2
    assert watched.rates() == {}


def test_reading_keeps_to_its_share_of_a_cell(clock):
    clock.dear = 0.0005
    watched = link(clock, {"GPU 0": (0, 0)})
    for _ in range(1_000):
        watched.look()
        clock.now += 0.03
    assert clock.worked < 0.001 * 30 + 0.003
    assert watched.rates()["GPU 0"][1] > 10
