"""The swap is asked for only where somebody has waited for memory."""

import pytest

from jupyter_mlgpu.measure.activity.counters import SwappedIn


@pytest.fixture
def asked():
    return []


@pytest.fixture
def swapped(asked):
    def pages():
        asked.append(1)
        return 100 * len(asked)

    return SwappedIn(pages)


def test_what_was_swapped_in_stays_the_same_as_long_as_nobody_has_waited_for_memory(swapped, asked):
    assert [swapped.read(1.5), swapped.read(1.5), swapped.read(1.5)] == [100, 100, 100]
    assert len(asked) == 1


def test_it_is_asked_for_again_when_somebody_has(swapped):
    assert [swapped.read(1.5), swapped.read(1.6), swapped.read(1.6)] == [100, 200, 200]


def test_and_each_time_where_nobody_knows_whether_somebody_has(swapped):
    assert [swapped.read(None), swapped.read(None), swapped.read(1.5)] == [100, 200, 300]


def test_it_is_not_known_where_the_system_does_not_tell_it():
    def fails():
        raise OSError

    assert SwappedIn(fails).read(1.5) is None
