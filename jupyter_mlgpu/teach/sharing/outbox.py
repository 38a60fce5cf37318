"""The records and exercises that wait to be sent, and the results of sending; no clock, thread or network.

It is not thread-safe: `sender.py` holds a lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import PurePath

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.teach.packaged import FORMER, LESSONS
from jupyter_mlgpu.teach.sharing.report import (
    EXERCISES,
    MAX_BYTES,
    MAX_RECORDS,
    Report,
    SharedCheck,
    SharedRecord,
    to_bytes,
)
from jupyter_mlgpu.teach.sharing.shared_fields import record_of, report_with

#: Most records that wait; the newest are kept.
WAITING = 1_000


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """The result of sending one report.

    `taken` are the ids of the records that the receiver has stored, or None if the report was not accepted.
    Then `why` is the reason, and `final` is True if it must not be sent again.
    """

    taken: frozenset[str] | None
    why: str = ""
    final: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """The records and exercises to send next."""

    records: tuple[SharedRecord, ...]
    checks: tuple[SharedCheck, ...]
    lesson: str | None


class Outbox:
    """Waiting records and exercises, in order. `notebook` is the notebook's file name, if known."""

    def __init__(self, notebook: str | None) -> None:
        stem = PurePath(notebook or "").stem
        self._file = FORMER.get(stem, stem)
        self._waiting: dict[str, SharedRecord] = {}
        self._seen: deque[str] = deque(maxlen=WAITING)
        self._checks: dict[str, SharedCheck] = {}
        self._changed: set[str] = set()
        self._last_exercise: str | None = None
        #: Numbers of records that the receiver has stored, that it refused for good, that were dropped for
        #: newer ones, and of which nothing may be sent; and why something was refused.
        self.taken = 0
        self.refused = 0
        self.left_out = 0
        self.unfit = 0
        self.why_refused = ""

    @property
    def lesson(self) -> str | None:
        """The packaged lesson that the notebook's file is named after, else the last exercise's, or None."""
        if self._file in LESSONS:
            return self._file
        return next((lesson for lesson, names in LESSONS.items() if self._last_exercise in names), None)

    def waits(self) -> bool:
        """Return True if there is something to send."""
        return bool(self._waiting or self._changed)

    @property
    def waiting(self) -> int:
        """The number of records that are not stored yet."""
        return len(self._waiting)

    @property
    def checks(self) -> tuple[SharedCheck, ...]:
        """The exercises tried so far."""
        return tuple(self._checks.values())

    def add(self, record: Record) -> None:
        """Add a record; one that was added before, and got late log lines since, is not sent again."""
        try:
            shared = record_of(record)
        except Exception:  # a record of unknown origin must not end the sharing of others
            shared = None
        if shared is None:
            self.unfit += 1
        elif shared.id not in self._seen:
            self._seen.append(shared.id)
            self._waiting[shared.id] = shared
            if len(self._waiting) > WAITING:
                del self._waiting[next(iter(self._waiting))]
                self.left_out += 1

    def check(self, exercise: str, *, right: bool) -> None:
        """Count an answer to an exercise; after a right answer, later ones change nothing."""
        if exercise not in EXERCISES:
            return
        before = self._checks.get(exercise, SharedCheck(exercise, False, 0))
        if before.passed:
            return
        self._checks[exercise] = SharedCheck(exercise, right, before.tries + 1)
        self._changed.add(exercise)
        self._last_exercise = exercise

    def pick(self) -> Batch:
        """Return the oldest waiting records, and the exercises that changed."""
        records = tuple(self._waiting.values())[:MAX_RECORDS]
        checks = tuple(self._checks[name] for name in self._checks if name in self._changed)
        return Batch(records, checks, self.lesson)

    def process_answer(self, report: Report, answer: ReportAnswer) -> bool:
        """Process the answer to a report; return True if some of it need not be sent again."""
        if answer.taken is None and not answer.final:
            return False
        done = [one.id for one in report.records if answer.taken is None or one.id in answer.taken]
        for name in done:
            if self._waiting.pop(name, None) is None:  # it was dropped while it was being sent
                self.left_out -= 1
        if answer.taken is None:
            self.refused += len(done)
            self.why_refused = answer.why
        else:
            self.taken += len(done)
        for check in report.checks:
            if self._checks.get(check.exercise) == check:
                self._changed.discard(check.exercise)
        return bool(done) or not report.records

    def clear(self) -> None:
        """Drop everything that waits."""
        self._waiting.clear()
        self._changed.clear()


def make_report(batch: Batch, sent_at: float) -> tuple[Report, bytes]:
    """Return a report and its bytes, at most MAX_BYTES; it has fewer records if they would be more.

    `sent_at` is in seconds since 1970. Raises RecordError if one record alone is larger, which never happens.
    """
    records = batch.records
    while True:
        report = report_with(records, batch.checks, batch.lesson, sent_at)
        body = to_bytes(report)
        if len(body) <= MAX_BYTES:
            return report, body
        if len(records) <= 1:
            raise RecordError(f"a report of one record has {len(body):,} bytes, more than {MAX_BYTES:,}")
        records = records[: len(records) // 2]
