"""What is kept and found again, over SQLite and over PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")

from sqlalchemy import create_engine, event, inspect, text

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.sharing.report import SharedCheck, from_bytes
from jupyter_mlgpu.teach.teacher import store as store_module
from jupyter_mlgpu.teach.teacher.database import open_database
from jupyter_mlgpu.teach.teacher.store import ReportStore, Sent, StoreError
from tests.teach.teacher.conftest import Kernel


@pytest.fixture
def store(database: str) -> Iterator[ReportStore]:
    store = ReportStore(open_database(database))
    yield store
    store.close()


def take(store: ReportStore, name: str, body: bytes, arrived: float | None = None) -> None:
    store.take([Sent(name, from_bytes(body), time.time() if arrived is None else arrived)])


def numbers(store: ReportStore, name: str) -> list[int]:
    found = store.student(name)
    return [] if found is None else [receipt.record.number for receipt in found.receipts]


def test_what_was_sent_is_found_again_as_it_was(store: ReportStore, kernel: Kernel) -> None:
    body = kernel.report(1, 2, checks=(SharedCheck("convolve", True, 3),))
    take(store, "ada", body, arrived=1000.0)
    found = store.student("ada")
    report = from_bytes(body)
    assert found is not None
    assert [one.record for one in found.receipts] == list(reversed(report.records))
    assert found.checks == {"convolve": report.checks[0]}
    assert (found.name, found.arrived, found.lesson) == ("ada", 1000.0, "07_a_cnn")
    assert found.clock_ahead == pytest.approx(report.sent_at - 1000.0)


def test_tables_of_another_form_are_refused_and_left_as_they_are(
    store: ReportStore, kernel: Kernel, database: str
) -> None:
    take(store, "ada", kernel.report(1))
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE mlgpu_form SET form = 3"))
        connection.execute(text("DROP TABLE mlgpu_checks"))
    with pytest.raises(
        UsageError, match="has tables of form 3, and this jupyter_mlgpu reads form 2: install"
    ):
        open_database(database)
    found = inspect(engine).get_table_names()
    engine.dispose()
    assert sorted(found) == ["mlgpu_form", "mlgpu_records", "mlgpu_students"]


def test_a_database_of_the_first_form_is_upgraded_and_keeps_what_it_has(
    store: ReportStore, kernel: Kernel, database: str
) -> None:
    take(store, "ada", kernel.report(1))
    engine = create_engine(database.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE mlgpu_records DROP COLUMN execution_count"))
        connection.execute(text("UPDATE mlgpu_form SET form = 1"))
    engine.dispose()
    upgraded = ReportStore(open_database(database))
    take(upgraded, "ada", kernel.report(2))
    ada = upgraded.student("ada")
    assert ada is not None
    assert [one.record.execution_count for one in ada.receipts] == [6, None]
    upgraded.close()
    open_database(database).dispose()  # and is opened again as it is


def test_the_same_report_twice_is_kept_once(store: ReportStore, kernel: Kernel) -> None:
    body = kernel.report(1, 2)
    take(store, "ada", body)
    take(store, "ada", body)
    assert numbers(store, "ada") == [2, 1]


def test_two_students_may_send_records_of_the_same_ids(store: ReportStore, kernel: Kernel) -> None:
    take(store, "ada", kernel.report(1))
    take(store, "bob", kernel.report(1, 2))
    assert (numbers(store, "ada"), numbers(store, "bob")) == ([1], [2, 1])


def test_receipts_are_in_the_order_of_arrival_and_of_numbers_inside_a_run(store: ReportStore) -> None:
    morning, evening = Kernel(), Kernel()
    take(store, "ada", morning.report(2))
    take(store, "ada", morning.report(3))
    take(store, "ada", morning.report(1))  # waited for the network
    assert numbers(store, "ada") == [3, 2, 1]
    take(store, "ada", evening.report(1))
    assert numbers(store, "ada") == [1, 3, 2, 1]
    last = store.students()[0].receipts
    assert [(one.record.run, one.record.number) for one in last] == [(evening.run, 1)]


def test_the_last_receipt_is_not_one_that_came_late_in_its_run(store: ReportStore, kernel: Kernel) -> None:
    take(store, "ada", kernel.report(5))
    take(store, "ada", kernel.report(4))
    assert [one.record.number for one in store.students()[0].receipts] == [5]


def test_an_exercise_passed_once_is_passed_in_whatever_order_reports_come(
    store: ReportStore, kernel: Kernel
) -> None:
    take(store, "ada", kernel.report(checks=(SharedCheck("weights", True, 4),)))
    take(store, "ada", kernel.report(checks=(SharedCheck("weights", False, 3),)))
    assert store.students()[0].checks == {"weights": SharedCheck("weights", True, 4)}


def test_a_report_without_a_lesson_leaves_the_last_one_named(store: ReportStore, kernel: Kernel) -> None:
    take(store, "ada", kernel.report(1))
    take(store, "ada", kernel.report(2, lesson=None))
    assert store.students()[0].lesson == "07_a_cnn"


def test_a_student_who_is_forgotten_is_gone_and_the_others_stay(store: ReportStore, kernel: Kernel) -> None:
    check = (SharedCheck("weights", True, 1),)
    take(store, "ada", kernel.report(1, 2, checks=check))
    take(store, "bob", kernel.report(1, checks=check))
    assert store.forget("ada") == 2
    assert store.student("ada") is None
    assert [one.name for one in store.students()] == ["bob"]
    assert list(store.students()[0].checks) == ["weights"]
    take(store, "cyd", kernel.report(9))
    assert numbers(store, "bob") == [1]


def test_what_is_old_is_deleted_and_a_row_never_takes_another_s_place(store: ReportStore) -> None:
    old, new = Kernel(), Kernel()
    take(store, "ada", old.report(1), arrived=100.0)
    take(store, "ada", old.report(checks=(SharedCheck("weights", True, 1),)), arrived=900.0)
    store.tidy(before=500.0)
    take(store, "bob", new.report(7), arrived=901.0)
    ada, bob = store.students()
    assert (ada.receipts, list(ada.checks)) == ((), ["weights"])
    assert [one.record.number for one in bob.receipts] == [7]
    store.tidy(before=901.0)
    assert [one.name for one in store.students()] == ["bob"]


def test_of_one_who_floods_only_the_newest_records_are_kept(
    store: ReportStore, kernel: Kernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "MOST_RECORDS", 3)
    take(store, "ada", kernel.report(1, 2, 3, 4, 5))
    take(store, "bob", kernel.report(1, 2))
    store.tidy(before=0.0)
    assert (numbers(store, "ada"), numbers(store, "bob")) == ([5, 4, 3], [2, 1])


def test_where_the_database_is_full_nothing_of_the_reports_is_kept(tmp_path: Path, kernel: Kernel) -> None:
    engine = open_database(f"sqlite:///{tmp_path}/kept.sqlite")
    store = ReportStore(engine)
    take(store, "ada", kernel.report(1))
    engine.dispose()
    event.listen(engine, "connect", lambda connection, _: connection.execute("PRAGMA max_page_count = 1"))
    small, large = (from_bytes(kernel.report(*some)) for some in ([2], range(3, 103)))
    with pytest.raises(StoreError, match="full"):
        store.take([Sent("bob", small, 1.0), Sent("ada", large, 1.0)])
    assert (numbers(store, "ada"), numbers(store, "bob")) == ([1], [])
    store.close()
