"""Asking engines through a client of ipyparallel, which is not imported here: what is used of it is below.

Nobody is waited for longer than the time that was given; an engine that fails costs its own answer only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from msgspec.structs import replace

from jupyter_mlgpu.explain.engines import remote
from jupyter_mlgpu.explain.engines.offsets import Offset, RoundTrip, estimate
from jupyter_mlgpu.record.clock import Clock
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record, Run
from jupyter_mlgpu.record.sentence import Sentence, say

#: Round trips to each engine, by which its clock is compared.
ROUND_TRIPS = 20


class PendingAnswer(Protocol):
    """What an engine will have answered, as `ipyparallel.AsyncResult` has it."""

    def get(self, timeout: float) -> Any:
        """What was answered; raises TimeoutError where that takes longer than so many seconds."""
        ...


class View(Protocol):
    """One engine, as `ipyparallel.DirectView` has it."""

    def apply_async(self, function: Callable[[], Any]) -> PendingAnswer:
        """Have a function called in the engine."""
        ...


class Client(Protocol):
    """The way to all engines, as `ipyparallel.Client` has it."""

    @property
    def ids(self) -> Sequence[int]:
        """The numbers of the engines that are there."""
        ...

    def __getitem__(self, engine: int) -> View:
        """One engine."""
        ...


@dataclass(frozen=True, slots=True)
class EngineReport:
    """What one engine has told: its machine, its clock, its records.

    `why`: it has told nothing now, for this reason; what is here is what it had told or written down before.
    `gone`: it is there no more.
    """

    engine: int
    host: str | None = None
    offset: Offset | None = None
    records: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()
    why: str | None = None
    gone: bool = False


def ask(client: Client, engines: Sequence[int], timeout: float, clock: Clock) -> list[EngineReport]:
    """Compare these engines' clocks with ours, ask for their records; an `EngineReport` for each, in order.

    Each of three steps ends after `timeout` seconds: a first call to all at once, to find out who answers;
    the round trips, one engine at a time, so that none waits for another; the records, from all at once.
    """
    asking = _Asking(client, timeout, clock)
    there = asking.all(engines, remote.now)
    trips: dict[int, list[RoundTrip]] = {engine: [] for engine in there}
    end = asking.end()
    for _ in range(ROUND_TRIPS):
        for engine in [one for one in trips if one not in asking.silent]:
            if (trip := asking.round_trip(engine, end)) is not None:
                trips[engine].append(trip)
    answers = asking.all([one for one in trips if one not in asking.silent], remote.records)
    told = []
    for engine in engines:
        if engine in answers and engine not in asking.silent:
            told.append(_read(engine, answers[engine], estimate(trips[engine])))
        else:
            told.append(EngineReport(engine, why=asking.silent[engine]))
    return told


class _Asking:
    def __init__(self, client: Client, timeout: float, clock: Clock) -> None:
        self._client = client
        self._timeout = timeout
        self._clock = clock
        #: Why an engine is asked no more.
        self.silent: dict[int, str] = {}

    def end(self) -> int:
        """The moment up to which a step that begins now may wait."""
        return self._clock.monotonic_ns() + round(self._timeout * 1e9)

    def all(self, engines: Iterable[int], function: Callable[[], Any]) -> dict[int, Any]:
        """Ask several at once, and wait for them together."""
        end = self.end()
        sent = [(engine, self._send(engine, function)) for engine in engines]
        found = {}
        for engine, answer in sent:
            if answer is not None and (value := self._wait(engine, answer, end)) is not None:
                found[engine] = value
        return found

    def round_trip(self, engine: int, end: int) -> RoundTrip | None:
        """Ask one for its clock; None where it does not answer, then or any more."""
        sent = self._clock.monotonic_ns()
        answer = self._send(engine, remote.now)
        there = None if answer is None else self._wait(engine, answer, end)
        return None if there is None else RoundTrip(sent, there, self._clock.monotonic_ns())

    def _send(self, engine: int, function: Callable[[], Any]) -> PendingAnswer | None:
        try:
            return self._client[engine].apply_async(function)
        except Exception as error:
            self.silent[engine] = self._why(engine, error)
            return None

    def _wait(self, engine: int, answer: PendingAnswer, end: int) -> Any:
        try:
            return answer.get(timeout=max(0.0, (end - self._clock.monotonic_ns()) / 1e9))
        except Exception as error:
            self.silent[engine] = self._why(engine, error)
            return None

    def _why(self, engine: int, error: Exception) -> Sentence:
        number = str(engine)
        if engine not in self._client.ids:
            return say("Engine {engine} died or was shut down while it was being queried.", engine=number)
        if isinstance(error, TimeoutError):
            return say(
                "Engine {engine} did not answer within {timeout} s: a cell is still running "
                "there, or it hangs. Collect again when its cell has finished.",
                engine=number,
                timeout=f"{self._timeout:g}",
            )
        # A failure over there, as ipyparallel's RemoteError tells it.
        if getattr(error, "ename", None) in ("ModuleNotFoundError", "ImportError", "AttributeError"):
            return say(
                "Engine {engine} has no jupyter_mlgpu, or an older version: install the version used here.",
                engine=number,
            )
        return say(
            "Engine {engine} could not be queried ({kind}: {error}).",
            engine=number,
            kind=type(error).__name__,
            error=str(error),
        )


def _read(engine: int, answer: Any, offset: Offset) -> EngineReport:
    runs: dict[Run, Run] = {}
    records: dict[tuple[str, int], Record] = {}  # what comes twice counts once, and the last one is whole
    problems = []
    for one in json.loads(answer["records"]):
        try:
            record = Record.from_json(one)
        except RecordError as error:  # costs only itself
            problems.append(
                say(
                    "A record of engine {engine} was left out: {error}.", engine=str(engine), error=str(error)
                )
            )
            continue
        run = runs.setdefault(record.run, replace(record.run, engine=str(engine)))
        records[record.key] = replace(record, run=run)
    return EngineReport(
        engine, answer["host"], offset, tuple(records.values()), tuple(dict.fromkeys(problems))
    )
