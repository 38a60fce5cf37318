"""Storage of reports. Every call is one transaction, which is committed when the call returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, Row, and_, case, delete, func, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from jupyter_mlgpu.record.decoding import to_json as as_json
from jupyter_mlgpu.record.errors import MlgpuError
from jupyter_mlgpu.teach.sharing.report import Report, SharedCheck, SharedReading, SharedRecord
from jupyter_mlgpu.teach.teacher.tables import CHECKS, RECORDS, STUDENTS

#: Most stored records of one student. A course has fewer; this limits a student who sends too many.
MOST_RECORDS = 5_000
#: Number of receipts on a student's page.
SHOWN = 50

_INSERT = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class StoreError(MlgpuError):
    """The database failed: it is locked, full or unavailable. The call stored nothing."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A report, its sender according to the hub, and its arrival by our clock (seconds since 1970)."""

    student: str
    report: Report
    arrived: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """A stored record with its lesson, and its arrival by our clock (seconds since 1970)."""

    arrived: float
    lesson: str | None
    record: SharedRecord


@dataclass(frozen=True, slots=True)
class StudentSummary:
    """The stored data of one student. `checks` maps exercises to their state.

    `clock_ahead` is the student's clock minus ours at the arrival of the last report, in seconds. It includes
    the transfer time of the report, and its waiting time if it was sent late. `receipts` begins with the last
    one: in the order of arrival, and of the cells' numbers within a run.
    """

    name: str
    arrived: float
    clock_ahead: float
    lesson: str | None
    checks: Mapping[str, SharedCheck]
    receipts: tuple[Receipt, ...]


class ReportStore:
    """The database of the service. It is thread-safe."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._insert = _INSERT[engine.dialect.name]

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def take(self, reports: Sequence[Sent]) -> None:
        """Store reports in their order; records that are stored already stay unchanged.

        Raises StoreError, in which case none of the reports is stored.
        """
        with self._transaction() as connection:
            for sent in reports:
                self._student(connection, sent)
                self._records(connection, sent)
                self._checks(connection, sent)

    def students(self) -> list[StudentSummary]:
        """Return all students by name, each with the last receipt."""
        last = and_(RECORDS.c.place == STUDENTS.c.last_place, RECORDS.c.student == STUDENTS.c.name)
        people = select(STUDENTS, *_record_columns()).outerjoin(RECORDS, last).order_by(STUDENTS.c.name)
        with self._transaction() as connection:
            rows = connection.execute(people).all()
            checks = _by_student(connection.execute(select(CHECKS)).all())
        return [
            _student(row, checks.get(row.name, {}), [] if row.record_id is None else [row]) for row in rows
        ]

    def student(self, name: str) -> StudentSummary | None:
        """Return the data of one student with the last receipts, or None if there is none."""
        own = select(*_record_columns()).where(RECORDS.c.student == name)
        # More than are shown, because records that arrived together are sorted by their number in the run.
        own = own.order_by(RECORDS.c.place.desc()).limit(4 * SHOWN)
        with self._transaction() as connection:
            row = connection.execute(select(STUDENTS).where(STUDENTS.c.name == name)).first()
            if row is None:
                return None
            checks = _by_student(connection.execute(select(CHECKS).where(CHECKS.c.student == name)).all())
            records = connection.execute(own).all()
        latest: dict[str, int] = {}
        for one in records:
            latest.setdefault(one.run, one.place)
        records = sorted(records, key=lambda one: (latest[one.run], one.number), reverse=True)
        return _student(row, checks.get(name, {}), records[:SHOWN])

    def forget(self, name: str) -> int | None:
        """Delete all data of a student. Returns the number of deleted records, None if there was no data."""
        with self._transaction() as connection:
            count: int = connection.execute(delete(RECORDS).where(RECORDS.c.student == name)).rowcount
            connection.execute(delete(CHECKS).where(CHECKS.c.student == name))
            known = connection.execute(delete(STUDENTS).where(STUDENTS.c.name == name)).rowcount
        self._empty_log()
        return count if known or count else None

    def tidy(self, before: float) -> None:
        """Delete data that arrived before a time (seconds since 1970), and more than MOST_RECORDS each."""
        rank = func.row_number().over(partition_by=RECORDS.c.student, order_by=RECORDS.c.place.desc())
        ranked = select(RECORDS.c.place, rank.label("rank")).subquery()
        beyond = select(ranked.c.place).where(ranked.c.rank > MOST_RECORDS)
        with self._transaction() as connection:
            connection.execute(
                delete(RECORDS).where(or_(RECORDS.c.arrived < before, RECORDS.c.place.in_(beyond)))
            )
            connection.execute(delete(CHECKS).where(CHECKS.c.arrived < before))
            connection.execute(delete(STUDENTS).where(STUDENTS.c.arrived < before))
        self._empty_log()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            with self._engine.begin() as connection:
                yield connection
        except SQLAlchemyError as error:
            raise StoreError(str(getattr(error, "orig", None) or error).strip().partition("\n")[0]) from error

    def _empty_log(self) -> None:
        """Empty SQLite's write-ahead log, in which deleted data could still be read."""
        if self._engine.dialect.name == "sqlite":
            with self._transaction() as connection:
                connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))

    def _student(self, connection: Connection, sent: Sent) -> None:
        values: dict[str, Any] = {"arrived": sent.arrived, "clock_ahead": sent.report.sent_at - sent.arrived}
        if sent.report.lesson is not None:
            values["lesson"] = sent.report.lesson
        statement = self._insert(STUDENTS).values(name=sent.student, **values)
        connection.execute(statement.on_conflict_do_update(index_elements=["name"], set_=values))

    def _records(self, connection: Connection, sent: Sent) -> None:
        name, report = sent.student, sent.report
        if not report.records:
            return
        rows = [
            {
                **{key: getattr(record, key) for key in _FIELDS},
                "student": name,
                "arrived": sent.arrived,
                "lesson": report.lesson,
                "readings": as_json(record.readings),
            }
            for record in report.records
        ]
        statement = self._insert(RECORDS).on_conflict_do_nothing(index_elements=["student", "id"])
        columns = (RECORDS.c.place, RECORDS.c.run, RECORDS.c.number)
        new = connection.execute(statement.returning(*columns), rows).all()
        if not new:
            return
        run = report.records[-1].run
        last = max(new, key=lambda one: (one.run == run, one.number))
        known = connection.execute(
            select(RECORDS.c.run, RECORDS.c.number)
            .join(STUDENTS, STUDENTS.c.last_place == RECORDS.c.place)
            .where(STUDENTS.c.name == name, RECORDS.c.student == name)
        ).first()
        if known is None or known.run != last.run or known.number < last.number:
            connection.execute(update(STUDENTS).where(STUDENTS.c.name == name).values(last_place=last.place))

    def _checks(self, connection: Connection, sent: Sent) -> None:
        if not sent.report.checks:
            return
        who = {"student": sent.student, "arrived": sent.arrived}
        rows = [{**who, **as_json(check)} for check in sent.report.checks]
        statement = self._insert(CHECKS)
        reported = statement.excluded
        changed = {
            "passed": or_(CHECKS.c.passed, reported.passed),
            # The larger of both. SQLite and PostgreSQL have different functions for it.
            "tries": case((CHECKS.c.tries > reported.tries, CHECKS.c.tries), else_=reported.tries),
            "arrived": reported.arrived,
        }
        connection.execute(
            statement.on_conflict_do_update(index_elements=["student", "exercise"], set_=changed), rows
        )


_FIELDS = (
    *("id", "run", "number", "execution_count", "started_at"),
    *("outcome", "framework", "framework_version", "device"),
)


def _record_columns() -> list[Any]:
    """Return the columns of a record, under names that differ from those of a student."""
    return [
        RECORDS.c.id.label("record_id"),
        RECORDS.c.arrived.label("record_arrived"),
        RECORDS.c.lesson.label("record_lesson"),
        *(RECORDS.c[name] for name in ("place", *_FIELDS[1:], "readings")),
    ]


def _by_student(rows: Any) -> dict[str, dict[str, SharedCheck]]:
    found: dict[str, dict[str, SharedCheck]] = {}
    for row in rows:
        found.setdefault(row.student, {})[row.exercise] = SharedCheck(row.exercise, row.passed, row.tries)
    return found


def _student(row: Row[Any], checks: Mapping[str, SharedCheck], records: list[Row[Any]]) -> StudentSummary:
    receipts = tuple(_receipt(one) for one in records)
    return StudentSummary(row.name, row.arrived, row.clock_ahead, row.lesson, checks, receipts)


def _receipt(row: Row[Any]) -> Receipt:
    record = SharedRecord(
        id=row.record_id,
        **{name: getattr(row, name) for name in _FIELDS[1:]},
        readings=tuple(SharedReading(**one) for one in row.readings),
    )
    return Receipt(row.record_arrived, row.record_lesson, record)
