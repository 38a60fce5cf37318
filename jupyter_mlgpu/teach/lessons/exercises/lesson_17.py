"""Lesson 17: how long a step takes, how many workers, a copy's seconds, and a prefetch with a thread."""

from __future__ import annotations

import queue
import random
import threading
from collections.abc import Iterable, Iterator
from itertools import islice
from types import FunctionType
from typing import Any
from weakref import WeakSet

from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise
from jupyter_mlgpu.teach.lessons.display import yes

#: Seconds after which an answer counts as one that never ends, and seconds that it has for loading ahead.
_PATIENCE, _AHEAD = 2.0, 0.5
#: Seconds in which an answer without a bound loads more batches than fit into the queue.
_TOO_MUCH = 0.1

#: Answers that never ended. They are not run again, because each run would take `_PATIENCE` seconds.
_never_ended: WeakSet[FunctionType] = WeakSet()


def step_seconds(loading: float, computing: float, workers: int) -> float:
    """Return the seconds from one step to the next; without workers nothing is loaded ahead."""
    if workers == 0:
        return loading + computing
    return max(loading / workers, computing)


def workers_needed(loading: float, computing: float) -> int:
    """Return the least number of workers with which the GPU does not wait."""
    import math

    return math.ceil(loading / computing)


def copy_seconds(size: int, bandwidth: float) -> float:
    """Return the seconds that a copy of `size` bytes takes at `bandwidth` GB/s."""
    return size / (bandwidth * 1e9)


def fill(batches: Iterable[Any], ready: queue.Queue[tuple[str, Any]]) -> None:
    """Put every batch into the queue `ready`, then the end or the error. It is the lesson's own function."""
    try:
        for batch in batches:
            ready.put(("batch", batch))
        ready.put(("end", None))
    except Exception as error:
        ready.put(("error", error))


def prefetch(batches: Iterable[Any], ahead: int) -> Iterator[Any]:
    """Yield the batches in order; a thread loads them into a queue with room for `ahead`."""
    ready: queue.Queue[tuple[str, Any]] = queue.Queue(ahead)
    thread = threading.Thread(target=fill, args=(batches, ready), daemon=True)
    thread.start()
    while True:
        kind, value = ready.get()
        if kind == "end":
            return
        if kind == "error":
            raise value
        yield value


class _Source:
    """Batches that count how many were taken, and that may end with an error."""

    def __init__(self, batches: list[int], error: Exception | None = None) -> None:
        self._batches, self._error = batches, error
        self._taken = 0
        self._changed = threading.Condition()

    def __iter__(self) -> Iterator[int]:
        for batch in self._batches:
            with self._changed:
                self._taken += 1
                self._changed.notify_all()
            yield batch
        if self._error is not None:
            raise self._error

    def reaches(self, count: int, seconds: float) -> bool:
        """Return True as soon as `count` batches are taken, False if that takes longer."""
        with self._changed:
            return self._changed.wait_for(lambda: self._taken >= count, seconds)


class _Behaviour:
    """The behaviour of an answer, as far as it was observed: one that never ends leaves it incomplete.

    `returned` is what the answer returned, `failure` the error that stopped the observation.
    """

    def __init__(self) -> None:
        self.returned: object = None
        self.batches: list[int] = []
        self.loads_ahead = self.stops_when_full = self.ends = self.passes_errors_on = False
        self.failure: Exception | None = None

    def parts(self) -> dict[Sentence, object]:
        return {
            say("batches"): self.batches,
            say("loads before it is asked"): yes(self.loads_ahead),
            say("stops when the queue is full"): yes(self.stops_when_full),
            say("ends"): yes(self.ends),
            say("passes an error on"): yes(self.passes_errors_on),
        }


def _observe(answer: Answer, batches: list[int], ahead: int, seen: _Behaviour) -> None:
    """Take batches from an answer and write down in `seen` how it behaves."""
    source = _Source(batches)
    seen.returned = answer(source, ahead)
    if seen.returned is None or seen.returned is ...:
        return
    stream = iter(seen.returned)  # type: ignore[call-overload]
    seen.batches += islice(stream, 1)
    seen.loads_ahead = source.reaches(1 + ahead, _AHEAD)
    # One was taken, `ahead` are in the queue, and the thread may hold one for which there is no room yet.
    seen.stops_when_full = not source.reaches(1 + ahead + 2, _TOO_MUCH)
    seen.batches += islice(stream, len(batches))
    seen.ends = True
    error = OSError("a file is damaged")
    try:
        for _ in islice(answer(_Source(batches[:2], error), ahead), len(batches)):
            pass
    except OSError as raised:
        seen.passes_errors_on = raised is error


def _behaviour(answer: Answer, arguments: Arguments) -> object:
    """Return how an answer behaves. It runs in a thread of its own because it may wait for ever."""
    batches, ahead = arguments.values()
    assert isinstance(batches, list)
    assert isinstance(ahead, int)
    seen = _Behaviour()
    if isinstance(answer, FunctionType) and answer in _never_ended:
        return seen.parts()

    def run() -> None:
        try:
            _observe(answer, batches, ahead, seen)
        except Exception as error:
            seen.failure = error

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    if thread.is_alive() and isinstance(answer, FunctionType):
        _never_ended.add(answer)
    if seen.failure is not None:
        raise seen.failure
    still_open = not thread.is_alive() and (seen.returned is None or seen.returned is ...)
    return seen.returned if still_open else seen.parts()


def _with_workers(answer: Answer, arguments: Arguments) -> object:
    """Return the seconds of a step for each number of workers, or what is open in them."""
    loading, computing, workers = arguments.values()
    assert isinstance(workers, list)
    seconds = [answer(loading, computing, count) for count in workers]
    return None if any(one is None or one is ... for one in seconds) else seconds


def _fresh_step(draw: random.Random) -> Arguments:
    # One worker is not enough, and with three the GPU does not wait.
    computing = draw.uniform(0.02, 0.2)
    return {"loading": computing * draw.uniform(1.3, 2.7), "computing": computing, "workers": [0, 1, 3]}


def _fresh_workers(draw: random.Random) -> Arguments:
    # Sixty-fourths of a second, so that quotients of whole numbers are exact.
    computing = draw.randint(1, 8) / 64
    return {"loading": computing * draw.choice([2.25, 3.5, 4.75, 6.125]), "computing": computing}


def _fresh_copy(draw: random.Random) -> Arguments:
    return {"size": draw.randint(10, 900) * 1_000_000, "bandwidth": draw.choice([6.0, 12.0, 25.0, 50.0])}


def _fresh_batches(draw: random.Random) -> Arguments:
    ahead = draw.randint(1, 3)
    return {"batches": draw.sample(range(10, 99), ahead + draw.randint(5, 7)), "ahead": ahead}


EXERCISES = (
    Exercise(
        name="step_seconds",
        task=say("return the seconds from one step to the next"),
        reference=step_seconds,
        # One worker brings a batch each 50 ms. With three, the GPU's 20 ms are the longer time.
        example={"loading": 0.05, "computing": 0.02, "workers": [0, 1, 3]},
        fresh=_fresh_step,
        run=_with_workers,
    ),
    Exercise(
        name="workers_needed",
        task=say("return the least number of workers with which the GPU does not wait"),
        reference=workers_needed,
        # Here the quotient is a whole number.
        example={"loading": 0.75, "computing": 0.25},
        fresh=_fresh_workers,
    ),
    Exercise(
        name="copy_seconds",
        task=say("return the seconds of the copy"),
        reference=copy_seconds,
        # 500 MB at 25 GB/s take 20 ms.
        example={"size": 500_000_000, "bandwidth": 25.0},
        fresh=_fresh_copy,
    ),
    Exercise(
        name="prefetch",
        task=say("yield the batches in order, while a thread loads them into a queue with room for `ahead`"),
        reference=prefetch,
        example={"batches": [10, 20, 30, 40, 50, 60, 70, 80], "ahead": 2},
        fresh=_fresh_batches,
        run=_behaviour,
    ),
)
