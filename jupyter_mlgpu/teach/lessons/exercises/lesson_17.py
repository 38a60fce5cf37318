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

#: Seconds after which an answer counts as one that never ends, and within which it has loaded ahead.
_PATIENCE, _AHEAD = 2.0, 0.5
#: Seconds within which an answer without a bound has loaded too much.
_TOO_MUCH = 0.1

#: Answers that never ended. They are not asked again, for each time would take as long.
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


def copy_seconds(size: int, bandwidth: float, computing: float) -> tuple[float, float]:
    """Return the seconds of a copy, and those that a step becomes longer if it is copied while computing."""
    copying = size / (bandwidth * 1e9)
    return copying, max(0.0, copying - computing)


def fill(batches: Iterable[Any], ready: queue.Queue[tuple[str, Any]]) -> None:
    """Put every batch into the queue `ready`, and at last how it ended. The lesson has this function, too."""
    try:
        for batch in batches:
            ready.put(("batch", batch))
        ready.put(("end", None))
    except Exception as error:
        ready.put(("error", error))


def prefetch(batches: Iterable[Any], ahead: int) -> Iterator[Any]:
    """Yield the batches in order; a thread loads at most `ahead` of them before they are asked for."""
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


class _Found:
    """What an answer did, until now: it may never end."""

    def __init__(self) -> None:
        self.answer: object = None
        self.batches: list[int] = []
        self.ahead = self.bounded = self.ended = self.told = False
        self.failed: Exception | None = None

    def parts(self) -> dict[Sentence, object]:
        return {
            say("batches"): self.batches,
            say("loaded before it was asked for"): yes(self.ahead),
            say("no more than that many ahead"): yes(self.bounded),
            say("ends"): yes(self.ended),
            say("passes an error on"): yes(self.told),
        }


def _consume(answer: Answer, batches: list[int], ahead: int, found: _Found) -> None:
    source = _Source(batches)
    found.answer = answer(source, ahead)
    if found.answer is None or found.answer is ...:
        return
    stream = iter(found.answer)  # type: ignore[call-overload]
    found.batches += islice(stream, 1)
    found.ahead = source.reaches(1 + ahead, _AHEAD)
    # One was asked for, `ahead` are ready, and the thread may hold one for which there is no room yet.
    found.bounded = not source.reaches(1 + ahead + 2, _TOO_MUCH)
    found.batches += islice(stream, len(batches))
    found.ended = True
    error = OSError("a file is damaged")
    try:
        for _ in islice(answer(_Source(batches[:2], error), ahead), len(batches)):
            pass
    except OSError as raised:
        found.told = raised is error


def _watched(answer: Answer, arguments: Arguments) -> object:
    """Return what an answer does with batches. It runs in a thread of its own, for it may wait for ever."""
    batches, ahead = arguments.values()
    assert isinstance(batches, list)
    assert isinstance(ahead, int)
    found = _Found()
    if isinstance(answer, FunctionType) and answer in _never_ended:
        return found.parts()

    def watch() -> None:
        try:
            _consume(answer, batches, ahead, found)
        except Exception as error:
            found.failed = error

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    thread.join(_PATIENCE)
    if thread.is_alive() and isinstance(answer, FunctionType):
        _never_ended.add(answer)
    if found.failed is not None:
        raise found.failed
    still_open = not thread.is_alive() and (found.answer is None or found.answer is ...)
    return found.answer if still_open else found.parts()


def _with_workers(answer: Answer, arguments: Arguments) -> object:
    """Return the seconds of a step for each number of workers, or what is open in them."""
    loading, computing, workers = arguments.values()
    assert isinstance(workers, list)
    found = [answer(loading, computing, count) for count in workers]
    return None if any(one is None or one is ... for one in found) else found


def _fresh_step(draw: random.Random) -> Arguments:
    # One worker is not enough, and with three the GPU does not wait.
    computing = draw.uniform(0.02, 0.2)
    return {"loading": computing * draw.uniform(1.3, 2.7), "computing": computing, "workers": [0, 1, 3]}


def _fresh_workers(draw: random.Random) -> Arguments:
    # Sixty-fourths of a second, so that quotients of whole numbers are exact.
    computing = draw.randint(1, 8) / 64
    return {"loading": computing * draw.choice([2.25, 3.5, 4.75, 6.125]), "computing": computing}


def _fresh_copy(draw: random.Random) -> Arguments:
    size, bandwidth = draw.randint(10, 900) * 1_000_000, draw.choice([6.0, 12.0, 25.0, 50.0])
    copying = size / (bandwidth * 1e9)
    return {"size": size, "bandwidth": bandwidth, "computing": copying * draw.uniform(0.2, 0.8)}


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
        task=say(
            "return two numbers, the seconds of the copy, and by how many a step becomes longer if the copy "
            "runs while the GPU computes"
        ),
        reference=copy_seconds,
        # 500 MB at 25 GB/s take 20 ms, and are over before the computing is.
        example={"size": 500_000_000, "bandwidth": 25.0, "computing": 0.03},
        fresh=_fresh_copy,
    ),
    Exercise(
        name="prefetch",
        task=say(
            "yield the batches in order, while a thread loads at most `ahead` of them before their turn"
        ),
        reference=prefetch,
        example={"batches": [10, 20, 30, 40, 50, 60, 70, 80], "ahead": 2},
        fresh=_fresh_batches,
        run=_watched,
    ),
)
