"""Fakes of ipyparallel's client and engines, on a `FakeClock`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from jupyter_mlgpu.explain.engines import remote
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.testing.clock import FakeClock


class FakeEngine:
    """An engine whose clock is `ahead` seconds before ours, and whose answers take time."""

    def __init__(
        self,
        clock: FakeClock,
        records: Sequence[Record] = (),
        *,
        ahead: float = 0.0,
        there: float = 0.001,
        back: float = 0.001,
        host: str = "0" * 12,
    ) -> None:
        self.records = tuple(records)
        self.ahead = ahead
        #: Seconds that a message takes to it, and back.
        self.there, self.back = there, back
        self.host = host
        #: True if a cell runs there without end: then it does not answer.
        self.busy = False
        #: An exception that it raises instead of answering.
        self.fail: Exception | None = None
        #: The number of answers after which it dies; None if it does not.
        self.answers_left: int | None = None
        self._clock = clock

    def answer(self, function: Callable[[], Any], timeout: float) -> Any:
        """Return the function's result there, after time has passed."""
        if self.busy:
            self._clock.advance(timeout)
            raise TimeoutError("Result not ready.")
        if self.fail is not None:
            raise self.fail
        self._clock.advance(self.there)
        moment = self._clock.monotonic_ns() + round(self.ahead * 1e9)
        self._clock.advance(self.back)
        return moment if function is remote.now else remote.pack(self.records, self.host)


class FakeClient:
    """Engines by their numbers; see `jupyter_mlgpu.explain.engines.query.Client`."""

    def __init__(self, *engines: FakeEngine, key: bytes = b"") -> None:
        self.engines = dict(enumerate(engines))
        #: The key that signs the cluster's messages: `session.key`. Without it there is no journal.
        self.session = SimpleNamespace(key=key)

    @property
    def ids(self) -> list[int]:
        """The numbers of the living engines."""
        return list(self.engines)

    def __getitem__(self, engine: int) -> FakeView:
        if engine not in self.engines:
            raise IndexError(f"No such engine: {engine}")
        return FakeView(self, engine)


class FakeView:
    """One engine that calls functions in this process."""

    def __init__(self, client: FakeClient, engine: int) -> None:
        self._client = client
        self._engine = engine

    def apply_async(self, function: Callable[[], Any]) -> FakeAnswer:
        """Return an answer. The function is called when the answer is waited for."""
        return FakeAnswer(self._client, self._engine, function)


class FakeAnswer:
    """An answer that is computed when it is waited for."""

    def __init__(self, client: FakeClient, engine: int, function: Callable[[], Any]) -> None:
        self._client = client
        self._engine = engine
        self._function = function

    def get(self, timeout: float) -> Any:
        """Return the answer or raise. An engine without answers left dies now."""
        engine = self._client.engines[self._engine]
        if engine.answers_left == 0:
            del self._client.engines[self._engine]
            raise RuntimeError("Engine died while running task")
        if engine.answers_left is not None:
            engine.answers_left -= 1
        return engine.answer(self._function, timeout)
