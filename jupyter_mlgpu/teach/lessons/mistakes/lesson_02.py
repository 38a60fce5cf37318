"""Lesson 02: hints, and likely mistakes by name."""

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


COACHING = {
    "fair_time": coaching(
        hints=[
            say(
                "Look at the digits of your time: 3 is the preparing, 0.005 the handing "
                "over, 0.2 the computing. Which should not be there, and which is missing?"
            ),
            say(
                "What is only needed once, and what has not ended yet, have to be over "
                "before the clock is read."
            ),
            say("The order is: work and wait; read the clock; work and wait again; read the clock."),
        ],
        mistakes=[
            (say("You did not wait for the device: this is the time of handing over."), not_waited_for),
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
}
