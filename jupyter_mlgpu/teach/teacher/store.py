"""Keeps reports, and finds them again. Every call is one transaction; what returned is committed."""

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

#: Records of one student that are kept: more than a course makes, and a bound for one who floods.
MOST_RECORDS = 5_000
#: Receipts on a student's page.
SHOWN = 50

_INSERT = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}


class StoreError(MlgpuError):
    """The database did not do it: it is locked, full or away. Nothing of the call was kept."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A report, of whom the hub says that it is, and when it arrived by our clock (seconds since 1970)."""

    student: str
    report: Report
    arrived: float


@dataclass(frozen=True, slots=True)
class Receipt:
    """A record as it is kept: when it arrived by our clock (seconds since 1970), and its lesson."""

    arrived: float
    lesson: str | None
    record: SharedRecord


@dataclass(frozen=True, slots=True)
class StudentSummary:
    """What is kept of one student. `checks` maps exercises to what is known of them.

    `clock_ahead` is the student's clock less ours when the last report arrived, in seconds: the way of the
    report is in it, and how long it waited where it was sent late. `receipts` begins with the last: in the
    order of arrival, and of the cells' numbers inside a run.
    """

    name: str
    arrived: float
    clock_ahead: float
    lesson: str | None
    checks: Mapping[str, SharedCheck]
    receipts: tuple[Receipt, ...]


class ReportStore:
    """The database behind the service. Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._insert = _INSERT[engine.dialect.name]

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()

    def take(self, reports: Sequence[Sent]) -> None:
        """Keep reports, in their order; a record that is kept already is left as it is.

        Raises StoreError, and then keeps nothing of any of them.
        """
        with self._transaction() as connection:
            for sent in reports:
                self._student(connection, sent)
                self._records(connection, sent)
                self._checks(connection, sent)

    def students(self) -> list[StudentSummary]:
        """Everybody of whom something is kept, by name, each with the last receipt."""
        last = and_(RECORDS.c.place == STUDENTS.c.last_place, RECORDS.c.student == STUDENTS.c.name)
        people = select(STUDENTS, *_record_columns()).outerjoin(RECORDS, last).order_by(STUDENTS.c.name)
        with self._transaction() as connection:
            rows = connection.execute(people).all()
            checks = _by_student(connection.execute(select(CHECKS)).all())
        return [
            _student(row, checks.get(row.name, {}), [] if row.record_id is None else [row]) for row in rows
        ]

    def student(self, name: str) -> StudentSummary | None:
        """What is kept of one student, with the last receipts; None where there is nothing."""
        own = select(*_record_columns()).where(RECORDS.c.student == name)
        # More than are shown: the number inside a run decides among those that came together.
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

    def forget(self, name: str) -> int:
        """Delete all that is kept of a student; how many records that were."""
        with self._transaction() as connection:
            count: int = connection.execute(delete(RECORDS).where(RECORDS.c.student == name)).rowcount
            connection.execute(delete(CHECKS).where(CHECKS.c.student == name))
            connection.execute(delete(STUDENTS).where(STUDENTS.c.name == name))
        self._empty_log()
        return count

    def tidy(self, before: float) -> None:
        """Delete what arrived before a moment (seconds since 1970), and all over MOST_RECORDS a student."""
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
        """SQLite writes to a log first, where what was deleted could still be read."""
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
        told = statement.excluded
        changed = {
            "passed": or_(CHECKS.c.passed, told.passed),
            # The larger of both: SQLite and PostgreSQL have no function of one name for it.
            "tries": case((CHECKS.c.tries > told.tries, CHECKS.c.tries), else_=told.tries),
            "arrived": told.arrived,
        }
        connection.execute(
            statement.on_conflict_do_update(index_elements=["student", "exercise"], set_=changed), rows
        )


_FIELDS = ("id", "run", "number", "started_at", "outcome", "framework", "framework_version", "device")


def _record_columns() -> list[Any]:
    """The columns of a record, under names that those of a student leave free."""
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
