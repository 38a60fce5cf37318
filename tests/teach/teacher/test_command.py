"""The command: what it refuses, it refuses with one sentence."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

import pytest

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")

from jupyter_mlgpu.record import documentation
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.teach.sharing.address import ADDRESS_VARIABLE, TOKEN_VARIABLE, address_of
from jupyter_mlgpu.teach.sharing.post import post
from jupyter_mlgpu.teach.sharing.report import from_bytes
from jupyter_mlgpu.teach.teacher.__main__ import main
from jupyter_mlgpu.teach.teacher.database import open_database
from jupyter_mlgpu.teach.teacher.settings import settings_from
from jupyter_mlgpu.teach.teacher.store import ReportStore, Sent
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub
from tests.teach.teacher.conftest import Kernel


def test_a_student_is_forgotten_by_name(
    database: str, kernel: Kernel, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ReportStore(open_database(database))
    store.take([Sent("ada", from_bytes(kernel.report(1, 2)), 1.0)])
    assert main(["--database", database, "--forget", "ada"]) == 0
    assert capsys.readouterr().out == "Deleted 2 records of 'ada'.\n"
    assert main(["--database", database, "--forget", "ada"]) == 0
    assert capsys.readouterr().out == "No data for 'ada'.\n"
    assert store.students() == []
    store.close()


def test_what_is_forgotten_is_in_no_file_any_more(tmp_path: Path, kernel: Kernel) -> None:
    url = f"sqlite:///{tmp_path}/kept.sqlite"
    store = ReportStore(open_database(url))
    store.take([Sent("ada-lovelace", from_bytes(kernel.report(1, 2)), 1.0)])
    assert main(["--database", url, "--forget", "ada-lovelace"]) == 0
    found = [path.name for path in tmp_path.iterdir() if b"ada-lovelace" in path.read_bytes()]
    assert found == []
    store.close()


def test_a_new_sqlite_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    open_database(f"sqlite:///{tmp_path}/kept.sqlite").dispose()
    for path in tmp_path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("nonsense", "is not a database URL"),
        ("mysql://user:secret@host/name", "is neither SQLite nor PostgreSQL"),
        ("sqlite://", "names no file"),
        ("sqlite:////nowhere/at/all.sqlite", "cannot be opened"),
        ("postgresql://user:secret@127.0.0.1:1/name", "cannot be opened"),
    ],
)
def test_a_database_that_cannot_be_opened_is_named_without_its_password(
    url: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--database", url, "--forget", "ada"]) == 2
    said = capsys.readouterr().err
    assert says in said
    assert "secret" not in said
    assert said.count("\n") == 1


def test_started_by_hand_it_says_that_a_hub_starts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("JUPYTERHUB_API_TOKEN", raising=False)
    assert main(["--database", f"sqlite:///{tmp_path}/kept.sqlite"]) == 2
    said = capsys.readouterr().err
    assert "is started by a JupyterHub, and JUPYTERHUB_API_TOKEN" in said
    assert documentation.page("teacher") in said


@pytest.mark.parametrize(
    ("url", "keep_days", "says"),
    [
        ("unix+http://somewhere", 180, "names no host and port"),
        ("http://127.0.0.1:99999", 180, "names no host and port"),
        ("http://127.0.0.1:1", 0, "a number of days, at least 1"),
    ],
)
def test_settings_with_which_it_cannot_run_are_refused(
    hub: StandInHub, url: str, keep_days: int, says: str
) -> None:
    with pytest.raises(UsageError, match=says):
        settings_from(hub.environment(url), "teachers", keep_days)


def test_an_address_on_which_it_cannot_listen_is_said(hub: StandInHub, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_mlgpu.teacher", "--database", f"sqlite:///{tmp_path}/kept.sqlite"],
        env={**os.environ, **hub.environment("http://192.0.2.1:1")},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 2
    assert "cannot listen on 192.0.2.1:1" in done.stderr
    assert done.stderr.count("\n") == 1


def test_reports_come_through_a_socket_that_students_may_use_and_not_replace(
    hub: StandInHub, tmp_path: Path, start: Callable[..., RunningService], kernel: Kernel
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mlgpu-", dir="/tmp")).resolve()  # a socket's path must be short
    folder.chmod(0o755)
    place = folder / "reports"
    try:
        service = start(f"sqlite:///{tmp_path}/kept.sqlite", "--socket", str(place))
        assert stat.S_IMODE(place.stat().st_mode) == 0o666
        url = f"http+unix://{quote(str(place), safe='')}{PREFIX}".rstrip("/")
        address = address_of({ADDRESS_VARIABLE: url, TOKEN_VARIABLE: hub.person("ada")})
        assert post(address, kernel.report(1), lambda: True).taken == set(kernel.ids(1))
        service.kill()
        service.start()  # what it left behind is no hindrance
        assert post(address, kernel.report(2), lambda: True).taken == set(kernel.ids(2))
    finally:
        shutil.rmtree(folder)


def test_the_folders_of_the_database_and_the_socket_are_created(
    hub: StandInHub, tmp_path: Path, start: Callable[..., RunningService]
) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mlgpu-", dir="/tmp")).resolve()  # a socket's path must be short
    folder.chmod(0o755)
    try:
        start(f"sqlite:///{folder}/both/kept.sqlite", "--socket", f"{folder}/both/reports")
        start(f"sqlite:///{folder}/alone/kept.sqlite")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}
        assert modes == {"both": 0o755, "alone": 0o700}
    finally:
        shutil.rmtree(folder)


def serve(hub: StandInHub, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command as a hub does. It returns only if it cannot start."""
    for name, value in hub.environment("http://127.0.0.1:1").items():
        monkeypatch.setenv(name, value)
    return main(arguments)


@pytest.mark.parametrize(("option", "mode"), [("--socket", "0755"), ("--database", "0700")])
def test_a_folder_that_cannot_be_created_is_said_with_the_command_that_creates_it(
    hub: StandInHub,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    option: str,
    mode: str,
) -> None:
    folder = tmp_path / "srv" / "the class"
    place = str(folder / "reports") if option == "--socket" else f"sqlite:///{folder}/kept.sqlite"
    assert serve(hub, monkeypatch, option, place) == 2
    said = capsys.readouterr().err
    user = pwd.getpwuid(os.geteuid()).pw_name
    assert f"The folder {folder} of {option} is missing, and {user}, who runs the service" in said
    assert f"run `sudo install --directory --mode {mode} --owner {user} '{folder}'`" in said
    assert said.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_folder_in_which_the_service_may_not_write_is_said(
    hub: StandInHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root, who runs tests, may write everywhere
    assert serve(hub, monkeypatch, "--database", f"sqlite:///{tmp_path}/kept.sqlite") == 2
    said = capsys.readouterr().err
    assert f"may not write to the folder {tmp_path} of --database" in said
    assert said.count("\n") == 1


def test_a_student_is_not_looked_for_in_a_new_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--database", f"sqlite:///{tmp_path}/none/kept.sqlite", "--forget", "ada"]) == 2
    assert "cannot be opened" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_socket_where_students_could_put_theirs_is_refused(hub: StandInHub, tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="mlgpu-", dir="/tmp")).resolve()
    folder.chmod(0o777)
    try:
        for place in (folder / "reports", folder / "none" / "reports"):
            done = subprocess.run(
                [
                    *(sys.executable, "-m", "jupyter_mlgpu.teacher", "--socket", str(place)),
                    *("--database", f"sqlite:///{tmp_path}/kept.sqlite"),
                ],
                env={**os.environ, **hub.environment("http://127.0.0.1:0")},
                capture_output=True,
                text=True,
                timeout=100,
            )
            assert done.returncode == 2
            assert f"cannot listen on {place}" in done.stderr
            assert done.stderr.count("\n") == 1
    finally:
        shutil.rmtree(folder)
