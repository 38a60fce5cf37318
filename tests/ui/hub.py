"""A JupyterHub of its own with its proxy, and the JupyterLab of each of its students, for tests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import psutil
from playwright.sync_api import Page

from tests.ui.conftest import ROOT, Lab, from_another

BASE = "/hub-test/"
#: This Python as a kernel: the hub's own environment has no TensorFlow.
KERNEL = "class"
#: Whoever is called this gets a server to which our front end is not installed.
WITHOUT_EXTENSION = "zoe"
START_LIMIT = 90.0

CONFIG = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}{base}"
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = {home!r} + "/{{username}}"
c.Spawner.environment = {environment!r}
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True"]
c.Spawner.http_timeout = 120
c.Spawner.start_timeout = 120
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.ConfigurableHTTPProxy.auth_token = "tested"


def choose(spawner):
    if spawner.user.name == {without!r}:
        spawner.environment = {{**spawner.environment, "JUPYTER_PATH": {bare!r}}}


c.Spawner.pre_spawn_hook = choose
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
    """A JupyterHub with its proxy, under a base URL; each student's notebooks are in a home of their own."""

    def __init__(self, folder: Path, python: str) -> None:
        """`python`: in whose environment hub and students' servers run."""
        self.homes = folder / "homes"
        self.homes.mkdir()
        self._folder = folder
        port, hub_port, api_port = free_ports(3)
        self._api_port = api_port
        self.url = f"http://127.0.0.1:{port}{BASE}"
        proxy = ROOT / "labextension" / "node_modules" / ".bin" / "configurable-http-proxy"
        environment = from_another(folder)
        wanted = ("PATH", "JUPYTER_PATH", "PYTHONPATH")
        add_kernel(folder / "share" / "kernels" / KERNEL)
        config = folder / "config.py"
        config.write_text(
            CONFIG.format(
                port=port,
                base=BASE,
                hub_port=hub_port,
                api_port=api_port,
                home=str(self.homes),
                python=python,
                proxy=[node(), str(proxy)],
                environment={name: environment[name] for name in wanted},
                without=WITHOUT_EXTENSION,
                bare=str(folder / "bare"),
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

    def version(self) -> str:
        """The hub's own version, as it tells it."""
        with urllib.request.urlopen(f"{self.url}hub/api/") as answer:
            return str(json.load(answer)["version"])

    def log(self) -> str:
        """All that the hub, its proxy and the students' servers have written."""
        return Path(self._log.name).read_text(errors="replace")

    def cut(self) -> None:
        """Kill the proxy: no browser reaches any server, until the hub has seen it and starts another one."""
        self._proxy().kill()

    def memory(self) -> tuple[list[float], list[float]]:
        """Resident memory in MiB of each student's server, and of each kernel of ours."""
        servers, kernels = [], []
        for process in psutil.Process(self._process.pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                line = " ".join(process.cmdline())
                size = process.memory_info().rss / 2**20
                if "jupyterhub.singleuser" in line:
                    servers.append(size)
                elif "ipykernel_launcher" in line:
                    kernels.append(size)
        return servers, kernels

    def stop(self) -> None:
        """End the hub, which ends its proxy and the students' servers."""
        self._process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=40)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # a hub that fails leaves its proxy behind
        self._process.wait()
        # A hub whose proxy was killed once starts another one while it ends (seen with 5.5.4 and 6.1.1).
        with contextlib.suppress(OSError, psutil.Error):
            self._proxy().kill()
        self._log.close()

    def _proxy(self) -> psutil.Process:
        """The proxy that the hub started last. Raises OSError or psutil.Error where there is none."""
        process = psutil.Process(int((self._folder / "jupyterhub-proxy.pid").read_text()))
        if str(self._api_port) not in " ".join(process.cmdline()):
            raise psutil.NoSuchProcess(process.pid)  # another program has its number now
        return process

    def _wait_until_it_answers(self) -> None:
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end and self._process.poll() is None:
            try:
                self.version()
            except urllib.error.URLError:
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"JupyterHub did not start; its last words were:\n{self.log()[-3000:]}")


def node() -> str:
    """Node itself: `node` may be a program that starts it, and Node would outlive that one."""
    found = shutil.which("node", path=f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}")
    assert found is not None, "make install brings Node"
    return subprocess.check_output([found, "-p", "process.execPath"], text=True).strip()


def add_kernel(folder: Path) -> None:
    """A kernel that runs this Python, which has TensorFlow, in a server that runs another one."""
    folder.mkdir(parents=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": argv, "display_name": "Python of the class", "language": "python"}
    (folder / "kernel.json").write_text(json.dumps(spec))


class Desk:
    """Where one student works: a home, and an address behind the hub."""

    def __init__(self, hub: Hub, name: str) -> None:
        self.name = name
        self.root = hub.homes / name
        self.root.mkdir(exist_ok=True)
        self.url = f"{hub.url}user/{name}/"
        self.login = f"{hub.url}hub/login"


class HubLab(Lab):
    """One browser tab with the JupyterLab of one of the hub's students."""

    def __init__(self, page: Page, desk: Desk) -> None:
        super().__init__(page, desk)  # type: ignore[arg-type]
        self.desk = desk

    def load(self, name: str) -> None:
        """Load JupyterLab afresh with one notebook, through hub and proxy."""
        self.page.goto(f"{self.desk.url}lab/tree/{name}?reset")

    def log_in(self) -> None:
        """As a student does: name and password. The server starts meanwhile."""
        self.page.goto(self.desk.login)
        self.page.get_by_label("Username").fill(self.desk.name)
        self.page.get_by_label("Password").fill("any will do")
        self.page.get_by_role("button", name="Sign in").click()

    def wait_for_server(self) -> None:
        """Wait until the student's server is up."""
        self.page.wait_for_url(f"**/user/{self.desk.name}/lab**", timeout=120_000)

    def note_connections(self) -> None:
        """From now on keep what JupyterLab says of its connection to the notebook's kernel."""
        self.page.evaluate(
            """() => {
                const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
                window.connections = [kernel.connectionStatus];
                kernel.connectionStatusChanged.connect((_, now) => window.connections.push(now));
            }"""
        )

    def wait_for_connection(self, status: str) -> None:
        """Wait until it has said so since then: `connected`, `connecting` or `disconnected`."""
        self.page.wait_for_function("status => window.connections.slice(1).includes(status)", arg=status)
