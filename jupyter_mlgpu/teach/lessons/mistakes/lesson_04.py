"""Lesson 04: hints and likely mistakes."""

from __future__ import annotations

import statistics
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def additions_left_out(n: Any, products: Any, seconds: Any) -> Any:
    return n**3 * products / statistics.median(seconds) / 1e12


def one_product(n: Any, products: Any, seconds: Any) -> Any:
    return 2 * n**3 / statistics.median(seconds) / 1e12


def in_giga(n: Any, products: Any, seconds: Any) -> Any:
    return 2 * n**3 * products / statistics.median(seconds) / 1e9


def higher_limit(per_byte: Any, peak: Any, bandwidth: Any) -> Any:
    return max(peak, bandwidth * per_byte)


def memory_alone(per_byte: Any, peak: Any, bandwidth: Any) -> Any:
    return bandwidth * per_byte


def divided(per_byte: Any, peak: Any, bandwidth: Any) -> Any:
    return min(peak, bandwidth / per_byte)


def shorter(flop: Any, moved: Any, peak: Any, bandwidth: Any) -> Any:
    return min(flop / peak, moved / bandwidth) / 1e12


def added(flop: Any, moved: Any, peak: Any, bandwidth: Any) -> Any:
    return (flop / peak + moved / bandwidth) / 1e12


def without_tera(flop: Any, moved: Any, peak: Any, bandwidth: Any) -> Any:
    return max(flop / peak, moved / bandwidth)


def parameters_alone(width: Any, peak: Any, bandwidth: Any) -> Any:
    return 2 * peak / bandwidth


def rows_once(width: Any, peak: Any, bandwidth: Any) -> Any:
    ridge = peak / bandwidth
    return 2 * ridge * width / (width - 2 * ridge)


def numbers_for_bytes(width: Any, peak: Any, bandwidth: Any) -> Any:
    ridge = peak / bandwidth
    return ridge * width / (2 * (width - ridge))


COACHING = {
    "teraflops": coaching(
        hints=[
            say("How many times too high or too low is your rate? 2, 50 and 1,000 each point to something."),
            say(
                "A product of [n, n] matrices takes n multiplications and n additions for "
                "each of n² numbers; the chain has several products."
            ),
            say("All operations are 2 n³ times `products`; 1 TFLOP/s is 10¹² a second."),
        ],
        mistakes=[
            (say("You left out the additions: your rate is half of what it should be."), additions_left_out),
            (say("You counted one product; the chain has several."), one_product),
            (say("That is the rate in GFLOP/s: a TFLOP is a thousand of these."), in_giga),
        ],
    ),
    "roof": coaching(
        hints=[
            say("A machine is limited by whichever of the two is used up first."),
            say(
                "The memory can feed `bandwidth * per_byte` operations; the arithmetic can "
                "do `peak`. Which of the two counts?"
            ),
            say("`min` of two numbers gives the lower one."),
        ],
        mistakes=[
            (say("You took the higher limit: nothing can be above its lower one."), higher_limit),
            (say("You left out the peak: memory is not the only limit."), memory_alone),
            (
                say(
                    "You divided by the operations per byte: the more each byte is used for, the "
                    "more the memory can feed."
                ),
                divided,
            ),
        ],
    ),
    "least_seconds": coaching(
        hints=[
            say("Computing and moving go on at the same time. When are both over?"),
            say("`moving` is made as `computing` is: an amount, divided by a rate in units of a second."),
            say(
                "`moved / (bandwidth * 1e12)` is the one time; the longer of the two is the "
                "answer, and `max` finds it."
            ),
        ],
        mistakes=[
            (say("You took the shorter time: the other one is not over then."), shorter),
            (say("You added the two times; they go on at once."), added),
            (say("Tera is missing: peak and bandwidth are in units of 10¹² a second."), without_tera),
        ],
    ),
    "rows_at_the_ridge": coaching(
        hints=[
            say("Write down the operations of a layer, divided by its bytes. What has that to be equal to?"),
            say("The width cancels once: rows · width / (2 · (width + 2 · rows)) has to be the ridge."),
            say("Bring all rows to one side: rows · (width - 4 · ridge) is 2 · ridge · width."),
        ],
        mistakes=[
            (say("You moved the parameters alone; the rows have bytes, too."), parameters_alone),
            (say("You counted the rows once; they come in, and go out."), rows_once),
            (say("You counted numbers, not bytes: a number in float32 has 4."), numbers_for_bytes),
        ],
    ),
}
