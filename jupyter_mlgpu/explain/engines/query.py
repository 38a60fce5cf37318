"""Query engines through a client of ipyparallel; protocols describe what is used, without an import.

No engine is waited for longer than the given timeout. An engine that fails costs only its own answer.
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

#: Round trips to each engine that compare its clock.
ROUND_TRIPS = 20


class PendingAnswer(Protocol):
    """The future answer of an engine, like `ipyparallel.AsyncResult`."""

    def get(self, timeout: float) -> Any:
        """Return the answer. Raises TimeoutError after `timeout` seconds."""
        ...


class View(Protocol):
    """One engine, like `ipyparallel.DirectView`."""

    def apply_async(self, function: Callable[[], Any]) -> PendingAnswer:
        """Call a function in the engine."""
        ...


class Client(Protocol):
    """A connection to all engines, like `ipyparallel.Client`."""

    @property
    def ids(self) -> Sequence[int]:
        """The numbers of the engines that exist."""
        ...

    def __getitem__(self, engine: int) -> View:
        """Return one engine."""
        ...


@dataclass(frozen=True, slots=True)
class EngineReport:
    """The answer of one engine: its machine, its clock, its records.

    If `why` is set, the engine did not answer, for this reason; the data here is what it had reported or
    saved before. If `gone` is true, the engine no longer exists.
    """

    engine: int
    host: str | None = None
    offset: Offset | None = None
    records: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()
    why: str | None = None
    gone: bool = False


def ask(client: Client, engines: Sequence[int], timeout: float, clock: Clock) -> list[EngineReport]:
    """Compare the engines' clocks with ours, and return a report with the records of each, in order.

    There are three steps, and each ends after `timeout` seconds. First all engines are called at once, to
    find out which answer. Then round trips are made with one engine at a time, so that none waits for
    another. Finally the records are fetched from all at once.
    """
    query = _Query(client, timeout, clock)
    answering = query.all(engines, remote.now)
    trips: dict[int, list[RoundTrip]] = {engine: [] for engine in answering}
    end = query.end()
    for _ in range(ROUND_TRIPS):
        for engine in [one for one in trips if one not in query.silent]:
            if (trip := query.round_trip(engine, end)) is not None:
                trips[engine].append(trip)
    answers = query.all([one for one in trips if one not in query.silent], remote.records)
    reports = []
    for engine in engines:
        if engine in answers and engine not in query.silent:
            reports.append(_read(engine, answers[engine], estimate(trips[engine])))
        else:
            reports.append(EngineReport(engine, why=query.silent[engine]))
    return reports


class _Query:
    def __init__(self, client: Client, timeout: float, clock: Clock) -> None:
        self._client = client
        self._timeout = timeout
        self._clock = clock
        #: The reason why an engine is no longer queried.
        self.silent: dict[int, str] = {}

    def end(self) -> int:
        """Return the deadline of a step that begins now, in nanoseconds."""
        return self._clock.monotonic_ns() + round(self._timeout * 1e9)

    def all(self, engines: Iterable[int], function: Callable[[], Any]) -> dict[int, Any]:
        """Call a function in several engines at once, and return the answers of those that answered."""
        end = self.end()
        sent = [(engine, self._send(engine, function)) for engine in engines]
        found = {}
        for engine, answer in sent:
            if answer is not None and (value := self._wait(engine, answer, end)) is not None:
                found[engine] = value
        return found

    def round_trip(self, engine: int, end: int) -> RoundTrip | None:
        """Return one reading of an engine's clock, or None if it does not answer."""
        sent = self._clock.monotonic_ns()
        answer = self._send(engine, remote.now)
        reading = None if answer is None else self._wait(engine, answer, end)
        return None if reading is None else RoundTrip(sent, reading, self._clock.monotonic_ns())

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
        # A failure in the engine, as ipyparallel's RemoteError reports it.
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
    records: dict[tuple[str, int], Record] = {}  # of duplicates the last one is complete
    problems = []
    for data in json.loads(answer["records"]):
        try:
            record = Record.from_json(data)
        except RecordError as error:  # only this record is lost
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
