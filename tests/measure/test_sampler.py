"""One thread looks at everything, each thing at its own pace, and is gone when nothing is left to look at."""

import threading
import time
from itertools import pairwise

import pytest

from jupyter_mlgpu.measure.probes.sampler import NAME, SHARE, Sampler
from tests.support.interrupts import interrupted_at_each_line

LEFT = set()


def threads():
    """The samplers' threads that this test has begun: what another one has left ends in its own time."""
    return [one for one in threading.enumerate() if one.name == NAME and one not in LEFT]


def wait_until(true, what):
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.002)


@pytest.fixture(autouse=True)
def _no_thread_stays():
    LEFT.clear()
    LEFT.update(threads())
    yield
    wait_until(lambda: not threads(), "the sampler's thread did not end")


def test_there_is_no_thread_before_something_is_to_be_looked_at():
    Sampler(linger=0.0)
    assert threads() == []


def test_two_things_are_looked_at_by_one_thread_and_it_ends_with_the_last_of_them():
    sampler, one, other = Sampler(linger=0.0), set(), set()
    ends = [
        sampler.add(lambda: one.add(threading.get_ident()), 0.001),
        sampler.add(lambda: other.add(threading.get_ident()), 0.001),
    ]
    wait_until(lambda: one and other, "nothing was looked at")
    assert one == other == {threads()[0].ident}
    ends[0]()
    assert len(threads()) == 1
    ends[1]()


def test_each_thing_is_looked_at_at_once_and_then_at_its_own_pace():
    sampler, samples, others = Sampler(linger=0.0), [], []
    ends = [sampler.add(lambda: samples.append(1), 3600), sampler.add(lambda: others.append(1), 0.001)]
    wait_until(lambda: len(others) >= 3 and samples, "nothing was looked at")
    assert samples == [1]
    assert [end() for end in ends] == [None, None]


def test_what_may_come_early_comes_along_when_the_thread_is_awake():
    sampler, awake, early, punctual = Sampler(linger=0.0), [], [], []
    ends = [
        sampler.add(lambda: early.append(1), 3600, after=60, early=60),
        sampler.add(lambda: punctual.append(1), 3600, after=60),
        sampler.add(lambda: awake.append(1), 0.001, after=0.02),
    ]
    wait_until(lambda: len(awake) >= 3 and early, "it did not come along")
    assert (early, punctual) == ([1], [])
    assert [end() for end in ends] == [None, None, None]


def test_looks_that_take_longer_than_their_period_leave_room_for_others():
    sampler, samples = Sampler(linger=0.0), []
    ends = [sampler.add(lambda: time.sleep(0.05), 0.001), sampler.add(lambda: samples.append(1), 0.001)]
    wait_until(lambda: len(samples) >= 3, "the other one was not looked at")
    assert [end() for end in ends] == [None, None]


def test_after_the_end_nothing_is_looked_at():
    sampler, samples = Sampler(linger=0.0), []
    end = sampler.add(lambda: samples.append(1), 0.001)
    wait_until(lambda: samples, "nothing was looked at")
    end()
    wait_until(lambda: not threads(), "the thread did not end")
    before = len(samples)
    time.sleep(0.02)
    assert len(samples) == before


def test_what_has_ended_while_its_time_was_waited_for_is_not_looked_at():
    sampler, samples, others = Sampler(linger=0.0), [], []
    end_other = sampler.add(lambda: others.append(1), 3600)
    wait_until(lambda: others, "nothing was looked at")
    in_time = False
    while not in_time:  # else the machine did something else meanwhile, and the look may have come
        samples.clear()
        begun = time.perf_counter()
        end = sampler.add(lambda: samples.append(1), 3600, after=0.1)
        time.sleep(0.03)
        end()
        in_time = time.perf_counter() - begun < 0.1
    time.sleep(0.2)
    end_other()
    assert samples == []


def test_what_was_ended_can_begin_again():
    sampler, samples = Sampler(linger=0.0), []
    for number in range(3):
        end = sampler.add(lambda number=number: samples.append(number), 3600)
        wait_until(lambda number=number: number in samples, "nothing was looked at")
        end()


def test_a_look_that_raises_is_not_repeated_and_its_error_comes_back():
    sampler, samples, others = Sampler(linger=0.0), [], []

    def fail():
        samples.append(1)
        raise OSError("counter gone")

    ends = [sampler.add(fail, 0.001), sampler.add(lambda: others.append(1), 0.001)]
    wait_until(lambda: len(others) > 5, "the others were not looked at any more")
    assert samples == [1]
    assert [str(end()) for end in ends] == ["counter gone", "None"]


def test_what_is_dear_is_looked_at_less_often():
    sampler, begun = Sampler(linger=0.0), []

    def dear():
        begun.append(time.perf_counter())
        until = time.thread_time() + 0.01
        while time.thread_time() < until:
            pass

    end = sampler.add(dear, 0.001)
    wait_until(lambda: len(begun) >= 2, "it was looked at once only")
    end()
    assert begun[1] - begun[0] >= 0.01 / SHARE


def test_what_waits_without_working_is_looked_at_as_often_as_was_asked():
    sampler, begun = Sampler(linger=0.0), []

    def waits():
        begun.append(time.perf_counter())
        time.sleep(0.02)

    end = sampler.add(waits, 0.001)
    wait_until(lambda: len(begun) >= 5, "it was looked at less often")
    end()
    assert min(later - earlier for earlier, later in pairwise(begun)) < 0.02 / SHARE


def test_a_look_may_end_itself():
    sampler, samples, ends = Sampler(linger=0.0), [], []

    def once():
        samples.append(1)
        ends[0]()

    ready = threading.Lock()
    with ready:
        ends.append(sampler.add(lambda: ready.acquire() and once(), 0.001))
    wait_until(lambda: not threads(), "the thread did not end")
    assert samples == [1]


def test_a_first_look_may_be_put_off():
    samples = []
    sampler = Sampler(linger=0.0)
    ends = [sampler.add(lambda: samples.append("late"), 3600, after=3600)]
    ready = threading.Event()
    ends.append(sampler.add(ready.set, 3600))
    assert ready.wait(10)
    for end in ends:
        assert end() is None
    assert samples == []


def test_the_thread_stays_for_the_next_cell_and_then_goes():
    sampler, samples = Sampler(linger=1.0), []
    sampler.add(lambda: samples.append(1), 3600)()
    first = {one.ident for one in threads()}
    end = sampler.add(lambda: samples.append(2), 3600)
    assert {one.ident for one in threads()} == first
    wait_until(lambda: 2 in samples, "nothing was looked at")
    end()
    wait_until(lambda: not threads(), "the thread did not end")


def test_closing_ends_the_thread_at_once():
    sampler, samples = Sampler(), []
    sampler.add(lambda: samples.append(1), 3600)()
    assert threads()
    sampler.close()
    assert not threads()
    sampler.add(lambda: samples.append(2), 3600)()
    wait_until(lambda: not threads(), "the thread did not end")


def test_a_ctrl_c_while_the_thread_starts_keeps_nothing_from_being_looked_at():
    samplers, steps = [Sampler(linger=0.0)], 0

    def sample():
        raise RuntimeError("once is enough")

    for _ in interrupted_at_each_line(
        lambda: samplers[-1].add(sample, every=60.0), threading, steps="opcode"
    ):
        steps += 1
        sampled = threading.Lock()
        sampled.acquire()
        stop = samplers[-1].add(sampled.release, every=60.0)
        assert sampled.acquire(timeout=10.0), f"interrupted at step {steps} of them"
        stop()
        samplers.append(Sampler(linger=0.0))
    assert steps > 5
