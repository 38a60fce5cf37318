"""Both databases, a stand-in hub with a running service before it, and a browser that keeps cookies."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.teach.sharing.report import (
    SCHEMA,
    Report,
    SharedCheck,
    SharedReading,
    SharedRecord,
    to_bytes,
)
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub

HERE = Path(__file__).parent
NO_POSTGRESQL = "needs PostgreSQL's server: on Debian, apt install postgresql"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.needs("jupyterhub", "sqlalchemy", "psycopg"))


class PostgreSQL:
    """A server of its own, in a new folder, with one connection a database allowed from this machine."""

    def __init__(self, initdb: str) -> None:
        # Its own user where we are root, as whom it refuses to run; pytest's folders are root's alone.
        self._user = {"user": pwd.getpwnam("nobody").pw_uid} if os.geteuid() == 0 else {}
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        os.chown(self.folder, self._user.get("user", -1), -1)
        self._postgres = str(Path(initdb).with_name("postgres"))
        self._data = self.folder / "data"
        subprocess.run(
            [initdb, "-D", self._data, "-U", "tested", "--auth=trust", "--no-sync", "--encoding=UTF8"],
            stdout=subprocess.DEVNULL,
            check=True,
            cwd=self.folder,
            **self._user,
        )
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [self._postgres, "-D", self._data, "-k", self.folder, "-c", "listen_addresses="]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*command, "-c", "fsync=off"], cwd=self.folder, stdout=log, stderr=log, **self._user
            )
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            time.sleep(0.02)

    def _answers(self) -> bool:
        import psycopg

        try:
            self.connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    def connect(self, database: str) -> Any:
        """A connection that commits each statement."""
        import psycopg

        return psycopg.connect(
            host=str(self.folder), user="tested", dbname=database, autocommit=True, connect_timeout=5
        )

    def new(self) -> str:
        """The URL of a new, empty database."""
        name = f"t{uuid.uuid4().hex[:12]}"
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return f"postgresql://tested@/{name}?host={self.folder}"

    def stop(self) -> None:
        """Stop it at once, as it stops when a machine goes down: what is committed stays."""
        self.process.send_signal(3)  # SIGQUIT: immediate shutdown
        self.process.wait()

    def remove(self) -> None:
        """Stop it, and delete all it had."""
        self.stop()
        shutil.rmtree(self.folder)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    places = [shutil.which("initdb"), *sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))]
    initdb = next((one for one in places if one is not None), None)
    if initdb is None:
        pytest.skip(NO_POSTGRESQL)
    server = PostgreSQL(str(Path(initdb).resolve()))
    yield server
    server.remove()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of an empty database, of each kind."""
    if request.param == "postgresql":
        return request.getfixturevalue("postgresql").new()
    return f"sqlite:///{tmp_path}/kept.sqlite"


@pytest.fixture(scope="session")
def hub() -> Iterator[StandInHub]:
    hub = StandInHub()
    yield hub
    hub.close()


@pytest.fixture
def start(hub: StandInHub, tmp_path: Path) -> Iterator[Callable[..., RunningService]]:
    """Starts services of a test's own: `start(database, *arguments)`."""
    services: list[RunningService] = []

    def started(database: str, *arguments: str) -> RunningService:
        services.append(RunningService(hub, database, tmp_path, *arguments))
        return services[-1]

    yield started
    for service in services:
        service.kill()


@pytest.fixture(scope="module")
def service(hub: StandInHub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """One over SQLite for all tests of a module, which take different students."""
    folder = tmp_path_factory.mktemp("service")
    service = RunningService(hub, f"sqlite:///{folder}/kept.sqlite", folder)
    yield service
    service.kill()


@dataclass
class Kernel:
    """Makes reports as one run of a student's kernel does."""

    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def record(self, number: int, wall_time: float | None = 0.25, outcome: str = "ok") -> SharedRecord:
        readings = (
            SharedReading("wall_time", wall_time, "s", "cell", "clock", 0 if wall_time is None else 1),
            SharedReading("peak_memory_process", 3 * 1024**3, "bytes", "process", "operating system", 7),
        )
        return SharedRecord(
            f"{self.run}-{number}",
            self.run,
            number,
            number + 4,  # four cells ran before tracing
            time.time(),
            outcome,
            "tensorflow",
            "2.19.1",
            "cpu",
            readings,
        )

    def report(
        self,
        *numbers: int,
        checks: tuple[SharedCheck, ...] = (),
        lesson: str | None = "07_a_cnn",
        ahead: float = 0.0,
    ) -> bytes:
        """A report of the cells with these numbers, sent by a clock that is so many seconds ahead."""
        records = tuple(self.record(number) for number in numbers)
        return to_bytes(Report(SCHEMA, lesson, time.time() + ahead, records, checks))

    def ids(self, *numbers: int) -> list[str]:
        return [f"{self.run}-{number}" for number in numbers]


@pytest.fixture
def kernel() -> Kernel:
    return Kernel()


class Browser:
    """Follows redirects and keeps cookies, as a browser does; `name` is signed in to the hub."""

    def __init__(self, hub: StandInHub, service: RunningService, name: str) -> None:
        self.cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        self._service = service
        self._opener.open(f"{hub.url}/hub/login?user={name}").close()

    def get(self, path: str = "", **headers: str) -> tuple[int, str]:
        """Status and text of the page at a path below the service's."""
        status, _, text = self.whole(path, **headers)
        return status, text

    def whole(self, path: str = "", **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and text."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(f"{self._service.url}{PREFIX}{path}", headers=given)
        try:
            with self._opener.open(request) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, dict(error.headers), error.read().decode()


@pytest.fixture
def browser(hub: StandInHub, service: RunningService) -> Callable[[str], Browser]:
    """A browser in which somebody whom the hub knows is signed in."""
    return lambda name: Browser(hub, service, name)
