"""Runs database calls outside the event loop: one thread writes, two threads read."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

from jupyter_mlgpu.teach.sharing.report import Report
from jupyter_mlgpu.teach.teacher.people import RefusedError
from jupyter_mlgpu.teach.teacher.store import ReportStore, Sent, StoreError, StudentSummary

#: Most reports that wait to be written, which is some seconds' worth of a class of 300; and most in one
#: transaction.
MOST_WAITING = 200
MOST_AT_ONCE = 50

_DAY = 86_400.0
_log = logging.getLogger(__name__)

T = TypeVar("T")


class Keeper:
    """The store's methods as coroutines; a database error becomes a RefusedError with status 503."""

    def __init__(self, store: ReportStore, keep_days: int) -> None:
        self._store = store
        self._keep = keep_days * _DAY
        self._writer = ThreadPoolExecutor(1, "writer")
        self._readers = ThreadPoolExecutor(2, "reader")
        self._waiting: list[tuple[Sent, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    async def take(self, student: str, report: Report) -> tuple[str, ...]:
        """Store a report, and return the ids of its records once they are committed."""
        if len(self._waiting) >= MOST_WAITING:
            raise RefusedError(503, "busy", most=MOST_WAITING, retry_after=60)
        kept: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((Sent(student, report, time.time()), kept))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await kept
        return tuple(record.id for record in report.records)

    async def _write(self) -> None:
        """Commit all waiting reports together, so that a slow disk does not cause a queue."""
        while self._waiting:
            batch, self._waiting = self._waiting[:MOST_AT_ONCE], self._waiting[MOST_AT_ONCE:]
            reports = [sent for sent, _ in batch]
            try:
                await _in(self._writer, "not_kept", partial(self._store.take, reports))
            except Exception as error:  # every waiting report gets the error, whatever it is
                for _, kept in batch:
                    kept.set_exception(error)
            else:
                for _, kept in batch:
                    kept.set_result(None)

    async def students(self) -> list[StudentSummary]:
        """Return all students, as `ReportStore.students` does."""
        return await _in(self._readers, "not_read", self._store.students)

    async def student(self, name: str) -> StudentSummary | None:
        """Return one student, as `ReportStore.student` does."""
        return await _in(self._readers, "not_read", lambda: self._store.student(name))

    async def tidy(self) -> None:
        """Delete old data; a failure is logged, and the next call tries again."""
        try:
            await _in(self._writer, "not_kept", lambda: self._store.tidy(time.time() - self._keep))
        except RefusedError:
            _log.warning("Nothing old was deleted this time.")

    def close(self) -> None:
        """Wait until all running calls are done, and close the database."""
        self._writer.shutdown()
        self._readers.shutdown()
        self._store.close()


async def _in(threads: ThreadPoolExecutor, refusal: str, call: Callable[[], T]) -> T:
    try:
        return await asyncio.get_running_loop().run_in_executor(threads, call)
    except StoreError as error:
        _log.warning("The database: %s", error)
        raise RefusedError(503, refusal, retry_after=10) from error
