"""A JupyterHub of its own with its proxy on this machine, under a base URL, for tests."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.support.ports import free_ports

ROOT = Path(__file__).parents[2]
BASE = "/hub-test/"
START_LIMIT = 90.0

CONFIG = """
c.JupyterHub.bind_url = {url!r}
c.JupyterHub.hub_port = {hub_port}
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.ConfigurableHTTPProxy.command = {proxy!r}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api_port}"
c.ConfigurableHTTPProxy.auth_token = "tested"
"""


class LocalHub:
    """Anybody signs in with any password; servers are processes of this user, and files are in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        port, self._hub_port, self._api_port = free_ports(3)
        self.url = f"http://127.0.0.1:{port}{BASE}"
        self._log = (folder / "hub.log").open("w+b")

    def start(self, python: str, config: str, environment: dict[str, str]) -> None:
        """Run the hub that `python` has, with more configuration, until it answers."""
        proxy = ROOT / "labextension" / "node_modules" / ".bin" / "configurable-http-proxy"
        common = CONFIG.format(
            url=self.url,
            hub_port=self._hub_port,
            api_port=self._api_port,
            proxy=[_node(), str(proxy)],
        )
        path = self.folder / "config.py"
        path.write_text(common + config)
        self._process = subprocess.Popen(
            [python, "-m", "jupyterhub", "--config", str(path)],
            cwd=self.folder,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={**environment, "PATH": f"{Path(python).parent}{os.pathsep}{os.environ['PATH']}"},
            start_new_session=True,
        )
        self.wait_for(self.version)

    def version(self) -> str:
        """The hub's own version, as it tells it."""
        with urllib.request.urlopen(f"{self.url}hub/api/") as answer:
            return str(json.load(answer)["version"])

    def log(self) -> str:
        """All that the hub, its proxy, its services and the servers have written."""
        return Path(self._log.name).read_text(errors="replace")

    def wait_for(self, done: Callable[[], object]) -> None:
        """Wait until something can be done without OSError or ValueError; RuntimeError where it cannot."""
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end and self._process.poll() is None:
            try:
                done()
            except (OSError, ValueError):
                time.sleep(0.1)
            else:
                return
        self.stop()
        raise RuntimeError(f"JupyterHub did not do it; its last words were:\n{self.log()[-3000:]}")

    def cut(self) -> None:
        """Kill the proxy: no browser reaches any server, until the hub has seen it and starts another one."""
        self._proxy().kill()

    def processes(self) -> list[psutil.Process]:
        """All that the hub has started, and what those have."""
        found: list[psutil.Process] = psutil.Process(self._process.pid).children(recursive=True)
        return found

    def stop(self) -> None:
        """End the hub, which ends its proxy, its services and the servers."""
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
        process = psutil.Process(int((self.folder / "jupyterhub-proxy.pid").read_text()))
        if str(self._api_port) not in " ".join(process.cmdline()):
            raise psutil.NoSuchProcess(process.pid)  # another program has its number now
        return process


def _node() -> str:
    """Node itself: `node` may be a program that starts it, and Node would outlive that one."""
    found = shutil.which("node", path=f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert found is not None, "make install brings Node"
    return subprocess.check_output([found, "-p", "process.execPath"], text=True).strip()
