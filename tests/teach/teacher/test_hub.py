"""With a real JupyterHub, which runs the service: a student sends, a teacher sees, another is refused."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import tempfile
import urllib.error
import urllib.request
import weakref
from collections.abc import Iterator
from http.cookiejar import CookieJar
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")

from jupyter_mlgpu.teach.sharing.address import address_of
from jupyter_mlgpu.teach.sharing.outbox import ReportAnswer
from jupyter_mlgpu.teach.sharing.post import post
from tests.support.local_hub import BASE, ROOT, LocalHub
from tests.support.ports import free_ports
from tests.teach.teacher.conftest import Kernel

# What docs/teacher.md leaves to the reader: servers, here of this user, and where the tests find the package.
CONFIG = """
c.JupyterHub.services[0]["environment"] = {{"PYTHONPATH": {root!r}}}
c.SimpleLocalProcessSpawner.home_dir_template = {home!r}
c.Spawner.cmd = [sys.executable, {server!r}]
c.Spawner.http_timeout = 60
"""

# Stands for a student's server: it keeps what the hub told it, and answers.
SERVER = """
import http.server, json, os, urllib.parse

names = ("JUPYTERHUB_USER", "JUPYTERHUB_API_TOKEN", "JUPYTER_MLGPU_TEACHER_URL")
told = json.dumps({name: os.environ[name] for name in names})
with open(os.environ["JUPYTERHUB_USER"] + ".json", "w") as file:
    file.write(told)
port = urllib.parse.urlsplit(os.environ["JUPYTERHUB_SERVICE_URL"]).port
http.server.HTTPServer(("127.0.0.1", port), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def documented(folder: Path, port: int) -> str:
    """The configuration of docs/teacher.md, with another folder, another port and another base URL."""
    text = (ROOT / "docs" / "teacher.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?c\.JupyterHub\.services.*?)```", text, re.DOTALL)
    assert found is not None
    config = found[1]
    for literal, ours in (
        ("%2Fsrv%2F", quote(f"{folder}/", safe="")),
        ("/srv/", f"{folder}/"),
        ("10101", str(port)),
        ("/services/mlgpu-teacher", f"{BASE}services/mlgpu-teacher"),
    ):
        assert literal in config
        config = config.replace(literal, ours)
    return config


class Hub(LocalHub):
    """With the service, for a class of two; its people's files are in `folder` too.

    The folder of the service is missing at first.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "server.py").write_text(SERVER)
        (service_port,) = free_ports(1)
        # Not pytest's folder: a socket's path must be short.
        place = tempfile.mkdtemp(prefix="mlgpu-", dir="/tmp")
        weakref.finalize(self, shutil.rmtree, place, ignore_errors=True)
        Path(place).chmod(0o755)
        self.srv = Path(place).resolve()
        config = documented(self.srv, service_port) + CONFIG.format(
            root=str(ROOT), home=str(folder), server=str(folder / "server.py")
        )
        # Another JupyterHub, where its Python is named as for tests/jupyter/lab: 5 is what classes run today.
        python = os.environ.get("JUPYTER_MLGPU_FRONT_ENDS", sys.executable)
        self.start(python, config, dict(os.environ))

    def started(self, name: str) -> dict[str, str]:
        """What the server of a person, who has just asked for it, was told by the hub."""
        path = self.folder / f"{name}.json"
        self.wait_for(lambda: json.loads(path.read_text()))
        found: dict[str, str] = json.loads(path.read_text())
        return found


class SignedIn:
    """A browser in which somebody has signed in to the hub."""

    def __init__(self, hub: Hub, name: str) -> None:
        self._hub = hub
        self._cookies = CookieJar()
        self._opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self._cookies))
        self.get("hub/login")
        home = quote(f"{BASE}hub/home")  # else their server would be started
        status, page = self.post(f"hub/login?next={home}", username=name, password="any will do")
        assert status == 200, page

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """Status and text of a page of the hub's."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return self._open(urllib.request.Request(f"{self._hub.url}{path}", headers=given))

    def post(self, path: str, **fields: str) -> tuple[int, str]:
        """Send a form, with the secret that the hub put into a cookie for it."""
        secret = next(one.value for one in self._cookies if one.name == "_xsrf")
        data = urlencode({**fields, "_xsrf": secret}).encode()
        return self._open(urllib.request.Request(f"{self._hub.url}{path}", data))

    def _open(self, request: urllib.request.Request) -> tuple[int, str]:
        try:
            with self._opener.open(request) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()


@pytest.fixture(scope="module")
def real_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    hub = Hub(tmp_path_factory.mktemp("hub"))
    yield hub
    hub.stop()


def test_a_student_sends_with_their_server_s_token_a_teacher_sees_it_and_another_student_is_refused(
    real_hub: Hub, kernel: Kernel
) -> None:
    ada = SignedIn(real_hub, "ada")
    ada.get("hub/spawn")
    told = real_hub.started("ada")
    answer = post(address_of(told), kernel.report(1, 2), lambda: True)
    assert answer == ReportAnswer(frozenset(kernel.ids(1, 2))), real_hub.log()[-3000:]

    page = "services/mlgpu-teacher/students/ada"
    status, text = SignedIn(real_hub, "tess").get("services/mlgpu-teacher/")
    assert (status, "07_a_cnn" in text, ">ada</a>" in text) == (200, True, True), real_hub.log()[-3000:]
    assert ada.get(page)[0] == 200
    assert stat.S_IMODE((real_hub.srv / "mlgpu-teacher").stat().st_mode) == 0o755
    status, text = SignedIn(real_hub, "bob").get(page)
    assert (status, "07_a_cnn" in text) == (403, False)
    assert "You may see only your own page" in text
    # The hub itself lets nobody in who is in neither group.
    status, text = SignedIn(real_hub, "eve").get(page)
    assert (status, "07_a_cnn" in text) == (403, False)


def test_the_hub_lets_a_page_s_script_ask_again_and_no_other_program(real_hub: Hub) -> None:
    tess = SignedIn(real_hub, "tess")
    status, text = tess.get("services/mlgpu-teacher/")
    assert status == 200
    token = re.search(r'data-xsrf="([^"]+)"', text)
    assert token is not None
    # As a browser asks for a script.
    asked = {"Sec_Fetch_Mode": "cors", "Sec_Fetch_Site": "same-origin", "X_Requested_With": "XMLHttpRequest"}
    assert tess.get("services/mlgpu-teacher/", **asked, X_XSRFToken=token[1])[0] == 200
    assert tess.get("services/mlgpu-teacher/", **asked)[0] == 401
