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


def gigabytes_forgotten(size: Any, bandwidth: Any) -> Any:
    return size / bandwidth


def binary_gigabytes(size: Any, bandwidth: Any) -> Any:
    return size / (bandwidth * 2**30)


def upside_down(size: Any, bandwidth: Any) -> Any:
    return bandwidth * 1e9 / size


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
                say("You also added the two where workers load ahead. There, they run at the same time."),
                always_the_sum,
            ),
            (say("You took the shorter of the two; the longer one is waited for."), smaller_of_the_two),
            (
                say("You left out the number of workers: two of them bring twice as many batches."),
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
            say("How many bytes a second are `bandwidth` gigabytes a second? A gigabyte is 1e9 bytes."),
            say("Divide the bytes by the bytes a second."),
        ],
        mistakes=[
            (say("You divided bytes by gigabytes a second: a gigabyte is 1e9 bytes."), gigabytes_forgotten),
            (say("A gigabyte is 1e9 bytes here; 2**30 bytes are a gibibyte."), binary_gigabytes),
            (say("That is how many such copies fit into a second: turn the division round."), upside_down),
        ],
    ),
    "prefetch": coaching(
        hints=[
            say("Three things are needed: a queue with a bound, a thread that fills it, and a loop."),
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
                    "Nothing is loaded ahead: a batch is loaded only when it is asked for. Start the thread."
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
