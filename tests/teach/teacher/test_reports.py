"""Sending reports: what is acknowledged is kept, whatever happens, and nobody sends in another's name."""

from __future__ import annotations

import itertools
import json
import re
import resource
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")

from jupyter_mlgpu.teach.sharing.report import MAX_BYTES
from jupyter_mlgpu.teach.teacher.allowance import AT_ONCE
from jupyter_mlgpu.teach.teacher.database import open_database
from jupyter_mlgpu.teach.teacher.people import TRUST_SECONDS
from jupyter_mlgpu.teach.teacher.store import ReportStore
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub
from tests.teach.teacher.conftest import Kernel, PostgreSQL

Start = Callable[..., RunningService]


def kept(service: RunningService) -> dict[str, list[str]]:
    """The ids of the records that are kept of each student, as another process sees them."""
    store = ReportStore(open_database(service.database))
    try:
        return {
            one.name: sorted(receipt.record.id for receipt in (store.student(one.name) or one).receipts)
            for one in store.students()
        }
    finally:
        store.close()


def test_a_report_is_acknowledged_and_kept_and_the_service_ends_well_when_asked(
    hub: StandInHub, database: str, start: Start, kernel: Kernel
) -> None:
    service = start(database)
    assert service.post(hub.person("ada"), kernel.report(1, 2)) == (
        200,
        {"acknowledged": kernel.ids(1, 2)},
    )
    assert kept(service) == {"ada": kernel.ids(1, 2)}
    assert service.stop() == 0


def test_nothing_acknowledged_is_lost_when_the_service_is_killed_and_what_is_sent_again_is_there_once(
    hub: StandInHub, database: str, start: Start
) -> None:
    service = start(database)
    acknowledged: dict[str, set[str]] = {}
    unanswered: dict[str, tuple[str, Kernel, int]] = {}
    first_answers = threading.Barrier(7)

    def send(name: str, token: str) -> None:
        kernel = Kernel()
        acknowledged[name] = set()
        for number in range(1, 1000):
            unanswered[name] = token, kernel, number
            try:
                status, answer = service.post(token, kernel.report(number))
            except (OSError, ValueError):
                return  # it was killed
            if status == 200:
                acknowledged[name].update(answer["acknowledged"])
            if number == 3:
                first_answers.wait(timeout=60)

    names = [f"student{at}" for at in range(6)]
    senders = [threading.Thread(target=send, args=(name, hub.person(name))) for name in names]
    for one in senders:
        one.start()
    first_answers.wait(timeout=60)
    service.kill()  # in the middle of some of their reports
    for one in senders:
        one.join()
    service.start()
    assert min(len(ids) for ids in acknowledged.values()) >= 3
    assert all(acknowledged[name] <= set(found) for name, found in kept(service).items())
    for name, (token, kernel, number) in unanswered.items():
        # What was not answered may be kept or not: it is sent again, with one that was acknowledged.
        status, answer = service.post(token, kernel.report(1, number))
        assert (status, answer["acknowledged"]) == (200, kernel.ids(1, number)), answer
        acknowledged[name].update(answer["acknowledged"])
    assert kept(service) == {name: sorted(ids) for name, ids in acknowledged.items()}


def test_a_locked_sqlite_is_said_and_nothing_is_acknowledged(
    hub: StandInHub, tmp_path: Path, start: Start, kernel: Kernel
) -> None:
    service = start(f"sqlite:///{tmp_path}/kept.sqlite")
    token = hub.person("ada")
    lock = sqlite3.connect(tmp_path / "kept.sqlite", isolation_level=None)
    lock.execute("BEGIN EXCLUSIVE")
    status, answer = service.post(token, kernel.report(1))
    lock.execute("ROLLBACK")
    lock.close()
    assert status == 503
    assert answer["error"].startswith("The database could not store this just now (it is locked")
    assert service.post(token, kernel.report(1))[0] == 200
    assert kept(service) == {"ada": kernel.ids(1)}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process's files")
def test_a_full_disk_is_said_and_nothing_of_the_report_is_kept(
    hub: StandInHub, tmp_path: Path, start: Start, kernel: Kernel
) -> None:
    service = start(f"sqlite:///{tmp_path}/kept.sqlite")
    token = hub.person("ada")
    assert service.post(token, kernel.report(*range(1, 51)))[0] == 200
    size = (tmp_path / "kept.sqlite-wal").stat().st_size
    resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (size, size))  # no file may grow any more
    status, answer = service.post(token, kernel.report(*range(51, 101)))
    assert (status, answer["error"][:28]) == (503, "The database could not store")
    service.kill()
    assert kept(service) == {"ada": sorted(kernel.ids(*range(1, 51)))}


def test_a_locked_table_of_postgresql_is_said(
    hub: StandInHub, postgresql: PostgreSQL, start: Start, kernel: Kernel
) -> None:
    url = postgresql.new()
    service = start(url)
    token = hub.person("ada")
    with postgresql.connect(_name(url)) as other, other.transaction():
        other.execute("LOCK TABLE mlgpu_records IN ACCESS EXCLUSIVE MODE")
        status, answer = service.post(token, kernel.report(1))
    assert (status, answer["error"][:28]) == (503, "The database could not store")
    assert service.post(token, kernel.report(1))[0] == 200


def test_a_postgresql_that_goes_away_and_comes_back_costs_nothing(
    hub: StandInHub, postgresql: PostgreSQL, start: Start, kernel: Kernel
) -> None:
    service = start(postgresql.new())
    token = hub.person("ada")
    assert service.post(token, kernel.report(1))[0] == 200
    postgresql.stop()
    assert service.post(token, kernel.report(2))[0] == 503
    postgresql.start()
    assert service.post(token, kernel.report(2))[0] == 200
    assert kept(service) == {"ada": kernel.ids(1, 2)}


def _name(url: str) -> str:
    """The database's name in a URL."""
    return url.partition("@/")[2].partition("?")[0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "something else"),
        (b"\xff\xfe", "something else"),
        (b"[" * 100_000, "something else"),
        (b"[]", "the report"),
        (b'{"schema": 1}', "schema 2"),
        (b'{"schema": 2}', "lacks"),
    ],
    ids=["empty", "not UTF-8", "nested", "a list", "another schema", "no fields"],
)
def test_what_is_no_report_is_refused_with_a_sentence(
    hub: StandInHub, service: RunningService, body: bytes, why: str
) -> None:
    status, answer = service.post(hub.person("ada"), body)
    assert status == 400
    assert answer["error"].startswith("The report cannot be read: ")
    assert why in answer["error"]


def test_a_field_that_does_not_belong_there_is_refused(
    hub: StandInHub, service: RunningService, kernel: Kernel
) -> None:
    report = json.loads(kernel.report(1))
    report["records"][0]["source_code"] = "secret"
    status, answer = service.post(hub.person("careless"), json.dumps(report).encode())
    assert (status, "source_code" in answer["error"]) == (400, True)
    assert "careless" not in kept(service)


def test_a_body_of_a_gigabyte_is_refused_before_it_is_sent(hub: StandInHub, service: RunningService) -> None:
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(head(hub.person("ada"), f"Content-Length: {10**9}"))
        answer = connection.makefile("rb").read().decode()
    assert answer.startswith("HTTP/1.1 413 ")
    assert "larger than 256,000 bytes" in answer


def test_a_body_without_end_is_refused_as_soon_as_it_is_too_long(
    hub: StandInHub, service: RunningService
) -> None:
    piece = b"x" * 16_384
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(head(hub.person("ada"), "Transfer-Encoding: chunked"))
        sent = 0
        while sent <= MAX_BYTES:
            connection.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
            sent += len(piece)
        answer = connection.makefile("rb").read(2000).decode()
    assert answer.startswith("HTTP/1.1 413 ")


def head(token: str, *more: str) -> bytes:
    lines = [f"POST {PREFIX}api/reports HTTP/1.1", "Host: service", f"Authorization: token {token}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def test_without_a_token_a_report_is_refused(service: RunningService, kernel: Kernel) -> None:
    status, answer = service.post(None, kernel.report(1))
    assert (status, answer["error"][:18]) == (401, "No token was sent:")


def test_a_token_that_the_hub_does_not_know_is_refused(service: RunningService, kernel: Kernel) -> None:
    status, answer = service.post("made-up", kernel.report(1))
    assert (status, answer["error"][:31]) == (401, "The hub does not know this toke")


def test_another_service_s_token_is_refused(hub: StandInHub, service: RunningService, kernel: Kernel) -> None:
    status, answer = service.post(hub.service("grader"), kernel.report(1))
    assert (status, answer["error"][:46]) == (403, "This token belongs to the service grader: only")


def test_somebody_whom_the_hub_does_not_let_in_is_refused(
    hub: StandInHub, service: RunningService, kernel: Kernel
) -> None:
    status, answer = service.post(hub.person("stranger", access=False), kernel.report(1))
    assert (status, answer["error"][:23]) == (403, "stranger has no access ")
    assert "stranger" not in kept(service)


def test_a_name_in_the_body_is_refused(hub: StandInHub, service: RunningService, kernel: Kernel) -> None:
    hub.person("victim")
    for key in ("student", "name", "user"):
        forged = {**json.loads(kernel.report(1)), key: "victim"}
        status, answer = service.post(hub.person("mallory"), json.dumps(forged).encode())
        assert (status, key in answer["error"]) == (400, True)
    assert not {"victim", "mallory"} & set(kept(service))


@pytest.mark.parametrize("query", ["student=victim", "name=victim", "token=TOKEN", "user=victim&x=1"])
def test_a_name_or_a_token_in_the_address_is_refused(
    hub: StandInHub, service: RunningService, kernel: Kernel, query: str
) -> None:
    query = query.replace("TOKEN", hub.person("victim"))
    headers = {"Authorization": f"token {hub.person('mallory')}"}
    status, _, text = service.ask("POST", f"{PREFIX}api/reports?{query}", kernel.report(1), headers)
    assert (status, json.loads(text)["error"][:19]) == (403, "The hub identifies ")
    assert not {"victim", "mallory"} & set(kept(service))


@pytest.mark.parametrize("header", ["X-Forwarded-User", "X-Remote-User", "Remote-User", "X-JupyterHub-User"])
def test_a_name_in_a_header_changes_nothing(
    hub: StandInHub, service: RunningService, kernel: Kernel, header: str
) -> None:
    hub.person("victim")
    name = f"honest-{header}"
    assert service.post(hub.person(name), kernel.report(1), **{header.replace("-", "_"): "victim"})[0] == 200
    assert kept(service)[name] == kernel.ids(1)
    assert "victim" not in kept(service)


def test_a_cookie_is_no_token(hub: StandInHub, service: RunningService, kernel: Kernel) -> None:
    token = hub.person("victim")
    for name in ("service-mlgpu-teacher", "jupyterhub-session-id", "token"):
        status, _ = service.post(None, kernel.report(1), Cookie=f"{name}={quote(token)}")
        assert status == 401
    assert "victim" not in kept(service)


def test_two_tokens_of_one_header_are_refused(
    hub: StandInHub, service: RunningService, kernel: Kernel
) -> None:
    both = f"{hub.person('mallory')}, token {hub.person('victim')}"
    assert service.post(both, kernel.report(1))[0] == 401
    assert not {"victim", "mallory"} & set(kept(service))


def test_reports_cannot_be_read_back_by_a_token(hub: StandInHub, service: RunningService) -> None:
    headers = {"Authorization": f"token {hub.person('teacher', groups=('teachers',))}"}
    status, _, text = service.ask("GET", f"{PREFIX}api/reports", headers=headers)
    assert (status, json.loads(text)) == (405, {"error": "This address does not accept GET."})


def test_one_who_sends_without_pause_is_asked_to_wait(
    hub: StandInHub, service: RunningService, kernel: Kernel
) -> None:
    token = hub.person("eager")
    acknowledged = []
    for number in itertools.count(1):  # faster than one in two seconds, on any machine
        status, answer = service.post(token, kernel.report(number))
        if status != 200:
            break
        acknowledged += answer["acknowledged"]
    assert status == 429
    assert re.fullmatch(r"Reports are arriving too fast: send the next one in [12] s\.", answer["error"])
    assert len(acknowledged) >= AT_ONCE
    assert kept(service)["eager"] == sorted(acknowledged)
    assert service.post(hub.person("patient"), kernel.report(1))[0] == 200


def test_the_hub_is_asked_once_a_minute_at_most_for_a_token(
    hub: StandInHub, service: RunningService, kernel: Kernel
) -> None:
    token = hub.person("frugal")
    before = hub.asked
    for number in range(1, 6):
        assert service.post(token, kernel.report(number))[0] == 200
    assert hub.asked - before == 1
    assert TRUST_SECONDS == 60  # docs/teacher.md says so


def test_while_the_hub_is_away_nothing_is_taken(
    hub: StandInHub, service: RunningService, kernel: Kernel
) -> None:
    token = hub.person("waiting")
    hub.silent = True
    status, answer = service.post(token, kernel.report(1))
    hub.silent = False
    assert (status, answer["error"][:30]) == (503, "The hub did not say whose toke")
    assert service.post(token, kernel.report(1))[0] == 200
