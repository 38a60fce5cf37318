"""Lesson 03: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def not_waited_for(work: Any, wait: Any, clock: Any) -> Any:
    wait(work())
    start = clock()
    work()
    return clock() - start


def not_warmed_up(work: Any, wait: Any, clock: Any) -> Any:
    start = clock()
    wait(work())
    return clock() - start


def warm_up_not_waited_for(work: Any, wait: Any, clock: Any) -> Any:
    work()
    start = clock()
    wait(work())
    return clock() - start


def numbers_for_bytes(m: Any, k: Any, n: Any) -> Any:
    return 2 * m * k * n / (m * k + k * n + m * n)


def additions_left_out(m: Any, k: Any, n: Any) -> Any:
    return m * k * n / (4 * (m * k + k * n + m * n))


def result_left_out(m: Any, k: Any, n: Any) -> Any:
    return 2 * m * k * n / (4 * (m * k + k * n))


def whole_time_divided(first: Any, second: Any) -> Any:
    lines = []
    for (n, short), (more, long) in (first, second):
        each = long / more
        lines.append((short - n * each, each))
    (dispatch, each), (other_dispatch, other_each) = lines
    return (other_dispatch - dispatch) / (each - other_each)


def first_reading_for_dispatch(first: Any, second: Any) -> Any:
    lines = [(short, (long - short) / (more - n)) for (n, short), (more, long) in (first, second)]
    (dispatch, each), (other_dispatch, other_each) = lines
    return (other_dispatch - dispatch) / (each - other_each)


def wrong_way_round(first: Any, second: Any) -> Any:
    lines = []
    for (n, short), (more, long) in (first, second):
        each = (long - short) / (more - n)
        lines.append((short - n * each, each))
    (dispatch, each), (other_dispatch, other_each) = lines
    return (dispatch - other_dispatch) / (each - other_each)


COACHING = {
    "fair_time": coaching(
        hints=[
            say(
                "Look at the digits of your time: 3 is the preparing, 0.005 the launch, "
                "0.2 the computing. Which should not be there, and which is missing?"
            ),
            say(
                "What is only needed once, and what has not ended yet, have to be over "
                "before the clock is read."
            ),
            say("The order is: work and wait; read the clock; work and wait again; read the clock."),
        ],
        mistakes=[
            (say("You did not wait for the device: this is the time of the launch."), not_waited_for),
            (
                say("You timed the first call, which also prepares: warm up before you read the clock."),
                not_warmed_up,
            ),
            (
                say("The clock was read before the warm-up had ended: wait for its result, too."),
                warm_up_not_waited_for,
            ),
        ],
    ),
    "flops_per_byte": coaching(
        hints=[
            say("What has to be moved is not only what goes in."),
            say("Count the numbers of three matrices: [m, k], [k, n] and [m, n]. Each takes some bytes."),
            say(
                "A float32 takes 4 bytes, and each of the m times n results k "
                "multiplications and k additions."
            ),
        ],
        mistakes=[
            (say("You counted numbers, not bytes."), numbers_for_bytes),
            (say("You left out the additions: they are as many as the multiplications."), additions_left_out),
            (say("You left out the result, which has to be written."), result_left_out),
        ],
    ),
    "crossover": coaching(
        hints=[
            say(
                "Dispatch is the same in both readings of a device. So what is the second one longer for, "
                "and for how many numbers?"
            ),
            say(
                "The time for each number is the difference of the two times over that of the two n; what is "
                "left of a reading without the time of its numbers is the dispatch."
            ),
            say(
                "Equally long means: dispatch + n * each is the same for both. So n is the difference of the "
                "dispatches, divided by that of the times for each number, taken the other way round."
            ),
        ],
        mistakes=[
            (
                say(
                    "You divided a whole time by its n: dispatch is in that time, too. Divide the difference "
                    "of the two times by that of the two n."
                ),
                whole_time_divided,
            ),
            (
                say("You took the first reading for the dispatch: the time of its numbers is in it, too."),
                first_reading_for_dispatch,
            ),
            (
                say(
                    "You have the right size with the wrong sign: take one of the two differences the other "
                    "way round."
                ),
                wrong_way_round,
            ),
        ],
    ),
}
