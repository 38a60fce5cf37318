"""Lesson 17: hints and likely mistakes."""

from __future__ import annotations

import queue
import threading
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching
from jupyter_mlgpu.teach.lessons.exercises.lesson_17 import fill


def always_the_sum(loading: Any, computing: Any, workers: Any) -> Any:
    return loading / max(1, workers) + computing


def smaller_of_the_two(loading: Any, computing: Any, workers: Any) -> Any:
    return min(loading / workers, computing) if workers else loading + computing


def one_worker_only(loading: Any, computing: Any, workers: Any) -> Any:
    return max(loading, computing) if workers else loading + computing


def rounded_down(loading: Any, computing: Any) -> Any:
    return int(loading // computing)


def one_too_many(loading: Any, computing: Any) -> Any:
    return int(loading // computing) + 1


def not_rounded(loading: Any, computing: Any) -> Any:
    return loading / computing


def gigabytes_forgotten(size: Any, bandwidth: Any, computing: Any) -> Any:
    copying = size / bandwidth
    return copying, max(0.0, copying - computing)


def nothing_hidden(size: Any, bandwidth: Any, computing: Any) -> Any:
    copying = size / (bandwidth * 1e9)
    return copying, copying


def less_than_nothing(size: Any, bandwidth: Any, computing: Any) -> Any:
    copying = size / (bandwidth * 1e9)
    return copying, copying - computing


def without_a_thread(batches: Any, ahead: Any) -> Any:
    yield from batches


def without_a_bound(batches: Any, ahead: Any) -> Any:
    ready: queue.Queue[Any] = queue.Queue()
    threading.Thread(target=fill, args=(batches, ready), daemon=True).start()
    while True:
        kind, value = ready.get()
        if kind == "end":
            return
        if kind == "error":
            raise value
        yield value


def error_swallowed(batches: Any, ahead: Any) -> Any:
    ready: queue.Queue[Any] = queue.Queue(ahead)
    threading.Thread(target=fill, args=(batches, ready), daemon=True).start()
    while True:
        kind, value = ready.get()
        if kind != "batch":
            return
        yield value


COACHING = {
    "step_seconds": coaching(
        hints=[
            say("Without workers, what does the GPU do while a batch is loaded?"),
            say("Workers share the loading; each has its own batch. How often does a batch come, then?"),
            say("Two things that run at the same time take as long as the longer one: `max`."),
        ],
        mistakes=[
            (
                say("You added the two also where workers load ahead: there, they run at the same time."),
                always_the_sum,
            ),
            (say("You took the shorter of the two; the longer one is waited for."), smaller_of_the_two),
            (
                say("You left the number of workers out: two of them bring twice as many batches."),
                one_worker_only,
            ),
        ],
    ),
    "workers_needed": coaching(
        hints=[
            say("How often does one worker bring a batch, and how often does the GPU want one?"),
            say("There are no half workers: round, but in which direction?"),
            say("`math.ceil` rounds up, and leaves whole numbers as they are."),
        ],
        mistakes=[
            (say("You rounded down: then the GPU waits a little in every step."), rounded_down),
            (say("Where the quotient is a whole number, that many are enough."), one_too_many),
            (say("A number of workers is a whole number."), not_rounded),
        ],
    ),
    "copy_seconds": coaching(
        hints=[
            say("Write the units down: bytes, and gigabytes a second."),
            say("A gigabyte is 1e9 bytes. What remains of the copy when the computing is over?"),
            say("If the computing takes longer than the copy, nothing remains: `max(0, …)`."),
        ],
        mistakes=[
            (say("You divided bytes by gigabytes a second: a gigabyte is 1e9 bytes."), gigabytes_forgotten),
            (
                say("The second number is the whole copy; what runs beside the computing does not count."),
                nothing_hidden,
            ),
            (say("Your second number can be below 0: no step becomes shorter by a copy."), less_than_nothing),
        ],
    ),
    "prefetch": coaching(
        hints=[
            say(
                "Three things are needed: a queue that is never too full, a thread that fills it, and a loop."
            ),
            say(
                "`queue.Queue(ahead)` has room for so many. Start the thread, then take pairs out of the "
                "queue, and look at what kind each is."
            ),
            say(
                "`yield` the value of a batch, `return` at the end, and `raise` the value of an error: three "
                "kinds, three lines."
            ),
        ],
        mistakes=[
            (
                say(
                    "Nothing is loaded ahead: each batch is only begun when it is asked for. Start a thread."
                ),
                without_a_thread,
            ),
            (
                say("Your queue has no bound, so everything is loaded at once, and memory fills up."),
                without_a_bound,
            ),
            (
                say("An error while loading looks like the end of the data: the training would stop early."),
                error_swallowed,
            ),
        ],
    ),
}
