"""What waits to be sent to the teacher's view, and what became of what was sent: no clock, thread or network.

Not safe to call from several threads: `sender.py` holds a lock.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from pathlib import PurePath

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.teach.packaged import LESSONS
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

#: Records that wait at most; the newest are kept.
WAITING = 1_000


@dataclass(frozen=True, slots=True)
class ReportAnswer:
    """What came of one report.

    `taken` are the ids of the records that are stored at the other side, None where the report was not
    taken: `why` says so then, and `final` that it is not to be sent again.
    """

    taken: frozenset[str] | None
    why: str = ""
    final: bool = False


@dataclass(frozen=True, slots=True)
class Picked:
    """What goes next."""

    records: tuple[SharedRecord, ...]
    checks: tuple[SharedCheck, ...]
    lesson: str | None


class Outbox:
    """Records and exercises that wait, in their order. `notebook` is the notebook's file name, if known."""

    def __init__(self, notebook: str | None) -> None:
        self._file = PurePath(notebook or "").stem
        self._waiting: dict[str, SharedRecord] = {}
        self._seen: deque[str] = deque(maxlen=WAITING)
        self._checks: dict[str, SharedCheck] = {}
        self._changed: set[str] = set()
        self._last_exercise: str | None = None
        #: Records that the other side has stored, that it refused for good, that had to make room for newer
        #: ones, and of which nothing can leave; and why something was refused.
        self.taken = 0
        self.refused = 0
        self.left_out = 0
        self.unfit = 0
        self.why_refused = ""

    @property
    def lesson(self) -> str | None:
        """The packaged lesson that the notebook's file is named after; else the last exercise's, or None."""
        if self._file in LESSONS:
            return self._file
        return next((lesson for lesson, names in LESSONS.items() if self._last_exercise in names), None)

    def waits(self) -> bool:
        """Whether there is something to send."""
        return bool(self._waiting or self._changed)

    @property
    def waiting(self) -> int:
        """Records that are not taken yet."""
        return len(self._waiting)

    @property
    def checks(self) -> tuple[SharedCheck, ...]:
        """The exercises tried so far."""
        return tuple(self._checks.values())

    def add(self, record: Record) -> None:
        """A record was made. One that was added before, and got late log lines since, is not sent again."""
        try:
            shared = record_of(record)
        except Exception:  # a record made by something else: it must not end the sharing of others
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
        """An answer to an exercise was tried; once it was right, later tries change nothing."""
        if exercise not in EXERCISES:
            return
        before = self._checks.get(exercise, SharedCheck(exercise, False, 0))
        if before.passed:
            return
        self._checks[exercise] = SharedCheck(exercise, right, before.tries + 1)
        self._changed.add(exercise)
        self._last_exercise = exercise

    def pick(self) -> Picked:
        """What goes next: the oldest records that wait, and the exercises that changed."""
        records = tuple(self._waiting.values())[:MAX_RECORDS]
        checks = tuple(self._checks[name] for name in self._checks if name in self._changed)
        return Picked(records, checks, self.lesson)

    def answered(self, report: Report, answer: ReportAnswer) -> bool:
        """Take in what came of a report; whether anything of it need not be sent again."""
        if answer.taken is None and not answer.final:
            return False
        done = [one.id for one in report.records if answer.taken is None or one.id in answer.taken]
        for name in done:
            if self._waiting.pop(name, None) is None:  # it made room while it was on its way
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
        """Nothing of what waits is to be sent any more."""
        self._waiting.clear()
        self._changed.clear()


def made(picked: Picked, sent_at: float) -> tuple[Report, bytes]:
    """The report and the bytes to send, at most MAX_BYTES: of fewer records, where they would be more.

    `sent_at` in seconds since 1970. Raises RecordError where one record alone is larger, which none is.
    """
    records = picked.records
    while True:
        report = report_with(records, picked.checks, picked.lesson, sent_at)
        body = to_bytes(report)
        if len(body) <= MAX_BYTES:
            return report, body
        if len(records) <= 1:
            raise RecordError(f"a report of one record has {len(body):,} bytes, more than {MAX_BYTES:,}")
        records = records[: len(records) // 2]
