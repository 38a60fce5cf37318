"""Behind a real JupyterHub and its proxy, with a base URL: the notebook's server is reached through both."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.ui.conftest import ROOT, Lab, from_another

if TYPE_CHECKING:
    from tests.ui.conftest import Gate

LOAD = "%load_ext jupyter_mlgpu"
BASE = "/hub-test/"
USER = "ada"
START_LIMIT = 90.0

CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}{base}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {home!r}
c.Spawner.environment = {environment!r}
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True"]
c.Spawner.http_timeout = 60
c.Spawner.start_timeout = 120
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.ConfigurableHTTPProxy.auth_token = "tested"
"""


def free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [int(one.getsockname()[1]) for one in sockets]
    for one in sockets:
        one.close()
    return ports


class Hub:
    """A JupyterHub of its own, with its proxy; notebooks are in the home of its one user."""

    def __init__(self, folder: Path, python: str) -> None:
        self.root = folder / "home"
        self.root.mkdir()
        port, hub_port, api_port = free_ports(3)
        self.url = f"http://127.0.0.1:{port}{BASE}"
        node = shutil.which("node", path=f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}")
        proxy = ROOT / "labextension" / "node_modules" / ".bin" / "configurable-http-proxy"
        environment = from_another(folder)
        wanted = ("PATH", "JUPYTER_PATH", "PYTHONPATH")
        config = folder / "config.py"
        config.write_text(
            CONFIG.format(
                port=port,
                base=BASE,
                hub_port=hub_port,
                api_port=api_port,
                home=str(self.root),
                python=python,
                proxy=[node, str(proxy)],
                environment={name: environment[name] for name in wanted},
            )
        )
        self._log = (folder / "hub.log").open("w+b")
        self._process = subprocess.Popen(
            [python, "-m", "jupyterhub", "--config", str(config)],
            cwd=folder,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**environment, "PATH": f"{Path(python).parent}:{os.environ['PATH']}"},
            start_new_session=True,
        )
        self._wait_until_it_answers()

    def log(self) -> str:
        """All that the hub, its proxy and the user's server have written."""
        return Path(self._log.name).read_text(errors="replace")

    def stop(self) -> None:
        """End the hub, which ends its proxy and the user's server."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=40)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # a hub that fails leaves its proxy behind
        self._process.wait()
        self._log.close()

    def _wait_until_it_answers(self) -> None:
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end and self._process.poll() is None:
            try:
                urllib.request.urlopen(f"{self.url}hub/api/").close()
            except urllib.error.URLError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"JupyterHub did not start; its last words were:\n{self.log()[-3000:]}")


class HubLab(Lab):
    """One browser tab with the JupyterLab of the hub's user."""

    def load(self, name: str) -> None:
        """Load JupyterLab afresh with one notebook, through hub and proxy."""
        self.page.goto(f"{self.server.url}user/{USER}/lab/tree/{name}?reset")


@pytest.fixture(scope="module")
def hub(front_ends: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hub]:
    hub = Hub(tmp_path_factory.mktemp("hub"), front_ends)
    yield hub
    hub.stop()


@pytest.fixture
def hub_lab(hub: Hub, context: BrowserContext) -> Iterator[Lab]:
    """JupyterLab of a user who has logged in and whose server has started."""
    page = context.new_page()
    log_in(page, hub)
    yield HubLab(page, hub)  # type: ignore[arg-type]
    page.close()


def log_in(page: Page, hub: Hub) -> None:
    """As a user does: name, password, and waiting until the server is up."""
    page.goto(f"{hub.url}hub/login")
    page.get_by_label("Username").fill(USER)
    page.get_by_label("Password").fill("any will do")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**/user/{USER}/lab**", timeout=60_000)


def test_the_sidebar_is_live_behind_a_hub_s_proxy_and_after_a_reload_in_mid_cell(
    hub_lab: Lab, gate: Gate
) -> None:
    hub_lab.write("hub.ipynb", LOAD, "before = 1", gate.cell)
    hub_lab.load("hub.ipynb")
    hub_lab.wait_for_app()
    hub_lab.show_sidebar()
    hub_lab.run_to_end(0)
    hub_lab.run_to_end(1)
    expect(hub_lab.records.locator(".jp-mlgpu-Name")).to_have_text(["before = 1"])
    hub_lab.run(2)
    expect(hub_lab.running).to_contain_text("import pathlib, time")
    clock = hub_lab.running.get_by_role("timer")
    expect(clock).not_to_have_text(clock.inner_text())
    hub_lab.save()
    hub_lab.reload()
    hub_lab.wait_for_app()
    hub_lab.show_sidebar()
    expect(hub_lab.running).to_contain_text("import pathlib, time")
    expect(hub_lab.records.locator(".jp-mlgpu-Name")).to_have_text(["before = 1"])
    gate.open()
    expect(hub_lab.records).to_have_count(2)
    expect(hub_lab.running).to_be_hidden()
    # What the page was sent came through the proxy, under the hub's base URL.
    path = hub_lab.page.evaluate("() => jupyterapp.serviceManager.serverSettings.baseUrl")
    assert path.endswith(f"{BASE}user/{USER}/")
