"""The service's log: what went wrong is in it, and no token ever is, wherever a request put one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")

from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub
from tests.teach.teacher.conftest import Kernel

Start = Callable[..., RunningService]
SECRET = "0123456789abcdef0123456789abcdef"


def asked(service: RunningService, token: str) -> list[int]:
    """Ask everything, in every way, each with a token where it does not belong; the statuses."""
    paths = (
        "api/reports",
        "",
        "students/ada",
        "oauth_callback",
        "api/reports/",
        "nothing",
        "%ff",
        "students/",
    )
    queries = (f"?token={SECRET}", f"?code={SECRET}&state=x", f"?a=b&%74oken={SECRET}#x", f"?{SECRET}", "")
    statuses = []
    for method in ("POST", "GET", "PUT", "HEAD", "OPTIONS", "DELETE"):
        for path in paths:
            for query in queries:
                for headers in ({}, {"Authorization": f"token {token}"}, {"Cookie": f"token={SECRET}"}):
                    status, _, _ = service.ask(method, f"{PREFIX}{path}{query}", b"{}", headers)
                    statuses.append(status)
    return statuses


def test_no_token_is_in_any_line_of_the_log_whatever_the_status(
    hub: StandInHub, tmp_path: Path, start: Start, kernel: Kernel
) -> None:
    service = start(f"sqlite:///{tmp_path}/kept.sqlite")
    statuses = asked(service, SECRET)
    hub.silent = True
    try:
        statuses += asked(service, f"{SECRET}-2")  # the first is remembered as unknown
    finally:
        hub.silent = False
    assert {403, 404, 405} <= set(statuses)
    assert any(status >= 500 for status in statuses)
    assert SECRET not in service.log
    # What was refused is told all the same.
    assert "403" in service.log
    assert "api/reports" in service.log


def test_a_token_that_the_hub_refuses_or_knows_is_in_no_line(
    hub: StandInHub, tmp_path: Path, start: Start, kernel: Kernel
) -> None:
    service = start(f"sqlite:///{tmp_path}/kept.sqlite")
    known = hub.person("ada")
    assert service.post(known, kernel.report(1))[0] == 200
    assert service.post(SECRET, kernel.report(1))[0] == 401
    assert service.ask("POST", f"{PREFIX}api/reports?token={known}", kernel.report(2))[0] == 403
    assert SECRET not in service.log
    assert known not in service.log


def test_a_failure_of_ours_is_logged_with_its_traceback_and_without_the_query(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from jupyter_mlgpu.teach.teacher.logs import handler

    root = logging.Logger("told")
    root.addHandler(handler())
    try:
        raise ValueError(
            f"no such thing: /services/teacher/?token={SECRET} in HTTPServerRequest(uri='/a?{SECRET}')"
        )
    except ValueError:
        root.exception("Uncaught exception POST /services/x/api/reports?token=%s (127.0.0.1)", SECRET)
    root.warning("Why? Because a header was 'Authorization: token %s'.", SECRET)
    told = capsys.readouterr().err
    assert SECRET not in told
    assert "Traceback" in told
    assert "POST /services/x/api/reports?" in told
    assert "(127.0.0.1)" in told
    assert "Why? Because" in told
