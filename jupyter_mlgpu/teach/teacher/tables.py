"""The database tables. Column names are those of `teach/sharing/report.py`."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Double,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    UniqueConstraint,
)

METADATA = MetaData()

#: The version of the tables below. A change increases it, and adds to UPGRADES.
FORM = 2
#: The statement that makes the tables of each version from those of the version before.
UPGRADES = {2: "ALTER TABLE mlgpu_records ADD COLUMN execution_count INTEGER"}

#: The version of a database, in one row.
FORMS = Table("mlgpu_form", METADATA, Column("form", Integer, primary_key=True))

#: A hub's names have at most 255 characters.
_NAME = String(255)
#: SQLite numbers rows by itself only in an Integer.
_PLACE = BigInteger().with_variant(Integer(), "sqlite")

#: A student: arrival of the last report, how far the student's clock was ahead of ours then (s), the last
#: lesson named, and the place of the last record in RECORDS.
STUDENTS = Table(
    "mlgpu_students",
    METADATA,
    Column("name", _NAME, primary_key=True),
    Column("arrived", Double, nullable=False),
    Column("clock_ahead", Double, nullable=False),
    Column("lesson", String(64)),
    Column("last_place", _PLACE),
)

#: A record per row. `place` counts arrivals and is never reused, so no row takes the place of another.
RECORDS = Table(
    "mlgpu_records",
    METADATA,
    Column("place", _PLACE, primary_key=True),
    Column("student", _NAME, nullable=False),
    Column("id", String(64), nullable=False),
    Column("run", String(64), nullable=False),
    Column("number", Integer, nullable=False),
    Column("execution_count", Integer),
    Column("arrived", Double, nullable=False),
    Column("lesson", String(64)),
    Column("started_at", Double, nullable=False),
    Column("outcome", String(16), nullable=False),
    Column("framework", String(32)),
    Column("framework_version", String(32)),
    Column("device", String(32)),
    Column("readings", JSON, nullable=False),
    UniqueConstraint("student", "id"),
    Index("mlgpu_records_by_student", "student", "place"),
    sqlite_autoincrement=True,
)

#: An exercise of a student. `passed` stays true once it is, and `tries` is the largest number reported.
CHECKS = Table(
    "mlgpu_checks",
    METADATA,
    Column("student", _NAME, primary_key=True),
    Column("exercise", String(64), primary_key=True),
    Column("passed", Boolean, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("arrived", Double, nullable=False),
)
