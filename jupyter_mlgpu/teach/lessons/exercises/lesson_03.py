"""Lesson 03: a correct time measurement, operations per byte, and where two devices break even."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def fair_time(work: Any, wait: Any, clock: Any) -> Any:
    """Return the seconds that one call of work() takes until its result is ready."""
    wait(work())
    start = clock()
    wait(work())
    return clock() - start


def flops_per_byte(m: Any, k: Any, n: Any) -> Any:
    """Return the arithmetic operations per byte moved by [m, k] times [k, n], in float32."""
    operations = 2 * m * k * n
    numbers = m * k + k * n + m * n
    return operations / (4 * numbers)


def crossover(first: Any, second: Any) -> Any:
    """Return the n at which two devices take equally long.

    Each device is given by two measurements (n, µs), which define a line.
    """
    lines = []
    for (n, short), (more, long) in (first, second):
        each = (long - short) / (more - n)
        lines.append((short - n * each, each))
    (dispatch, each), (other_dispatch, other_each) = lines
    return (other_dispatch - dispatch) / (each - other_each)


class PretendDevice:
    """A simulated device that computes while Python continues; its times are in seconds.

    A call takes Python `dispatch` seconds, and the first one `prepare` more. The work of each call then takes
    the device `compute` seconds, one call after the other.
    """

    def __init__(self, prepare: float, dispatch: float, compute: float) -> None:
        self._prepare, self._dispatch, self._compute = prepare, dispatch, compute
        self._now = 1000.0
        self._busy_until = 0.0

    def clock(self) -> float:
        """Return the simulated time in seconds."""
        return self._now

    def work(self) -> float:
        """Launch work, and return a result that is ready later."""
        self._now += self._prepare + self._dispatch
        self._prepare = 0.0
        self._busy_until = max(self._busy_until, self._now) + self._compute
        return self._busy_until

    def wait(self, result: float) -> float:
        """Wait until the result is ready."""
        self._now = max(self._now, result)
        return result


def on_a_pretend_device(answer: Answer, arguments: Arguments) -> object:
    """Call `answer` with the functions of a device whose times are known."""
    device = PretendDevice(**arguments)  # type: ignore[arg-type]
    calls: tuple[Callable[..., float], ...] = (device.work, device.wait, device.clock)
    return answer(*calls)


def _fresh_times(draw: random.Random) -> Arguments:
    return {
        "prepare": draw.randint(2, 9) * 1.0,
        "dispatch": draw.randint(1, 9) / 1000,
        "compute": draw.randint(2, 9) / 10,
    }


def _readings(dispatch: float, each: float, sizes: tuple[int, int]) -> list[list[float]]:
    return [[n, dispatch + n * each] for n in sizes]


def _fresh_readings(draw: random.Random) -> Arguments:
    sizes = (draw.randint(1, 9) * 1000, draw.randint(1, 9) * 100_000)
    slow = _readings(draw.randint(5, 30), draw.randint(4, 9) / 1000, sizes)
    fast = _readings(draw.randint(60, 200), draw.randint(2, 20) / 10_000, sizes)
    first, second = draw.sample([slow, fast], 2)
    return {"first": first, "second": second}


EXERCISES = (
    Exercise(
        name="fair_time",
        task=say(
            "return the seconds that a call takes until its result is there, without what only a first "
            "call needs"
        ),
        reference=fair_time,
        # Each part has its own decimal place, which shows what is missing or counted too much.
        example={"prepare": 3.0, "dispatch": 0.005, "compute": 0.2},
        fresh=_fresh_times,
        run=on_a_pretend_device,
    ),
    Exercise(
        name="flops_per_byte",
        task=say("return the operations for each byte that has to be moved"),
        reference=flops_per_byte,
        example={"m": 1, "k": 10, "n": 1},
        fresh=lambda draw: {name: draw.randint(2, 40) for name in ("m", "k", "n")},
    ),
    Exercise(
        name="crossover",
        task=say("return the n at which both devices take equally long"),
        reference=crossover,
        # 10 and 50 µs of dispatch, 0.01 and 0.002 µs for each number: they cross at 5,000.
        example={
            "first": _readings(10, 0.01, (1000, 100_000)),
            "second": _readings(50, 0.002, (1000, 100_000)),
        },
        fresh=_fresh_readings,
    ),
)
