"""A JupyterHub for a class, and the JupyterLab of each of its students, for tests."""

from __future__ import annotations

import contextlib
import json
import sys
from pathlib import Path

import psutil
from playwright.sync_api import Page

from tests.jupyter.lab.conftest import Lab, from_another
from tests.support.local_hub import LocalHub

#: This Python as a kernel: the hub's own environment has no TensorFlow.
KERNEL = "class"
#: Whoever is called this gets a server to which our front end is not installed.
WITHOUT_EXTENSION = "zoe"

CONFIG = """
c.SimpleLocalProcessSpawner.home_dir_template = {home!r} + "/{{username}}"
c.Spawner.environment = {environment!r}
c.Spawner.cmd = [{python!r}, "-m", "jupyterhub.singleuser"]
c.Spawner.default_url = "/lab"
c.Spawner.args = ["--allow-root", "--LabApp.expose_app_in_browser=True"]
c.Spawner.http_timeout = 120
c.Spawner.start_timeout = 120


def choose(spawner):
    if spawner.user.name == {without!r}:
        spawner.environment = {{**spawner.environment, "JUPYTER_PATH": {bare!r}}}


c.Spawner.pre_spawn_hook = choose
"""


class Hub(LocalHub):
    """Each student's notebooks are in a home of their own."""

    def __init__(self, folder: Path, python: str) -> None:
        """`python`: in whose environment hub and students' servers run."""
        super().__init__(folder)
        self.homes = folder / "homes"
        self.homes.mkdir()
        environment = from_another(folder)
        wanted = ("PATH", "JUPYTER_PATH", "PYTHONPATH")
        add_kernel(folder / "share" / "kernels" / KERNEL)
        config = CONFIG.format(
            home=str(self.homes),
            python=python,
            environment={name: environment[name] for name in wanted},
            without=WITHOUT_EXTENSION,
            bare=str(folder / "bare"),
        )
        self.start(python, config, environment)

    def memory(self) -> tuple[list[float], list[float]]:
        """Resident memory in MiB of each student's server, and of each kernel of ours."""
        servers, kernels = [], []
        for process in self.processes():
            with contextlib.suppress(psutil.Error):
                line = " ".join(process.cmdline())
                size = process.memory_info().rss / 2**20
                if "jupyterhub.singleuser" in line:
                    servers.append(size)
                elif "ipykernel_launcher" in line:
                    kernels.append(size)
        return servers, kernels


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
