"""A fake JupyterHub, for tests and benchmarks of the teacher's view: it identifies people by their tokens.

It answers a service's requests to a hub on loopback: the owner of a token (`/hub/api/user`), and signing in
with a browser (OAuth), where `/hub/login?user=NAME` replaces the form for a name and a password.
`RunningService` is the service itself, as a hub starts it.
"""

from __future__ import annotations

import http.client
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

SERVICE = "mlgpu-teacher"
PREFIX = f"/services/{SERVICE}/"
ACCESS = f"access:services!service={SERVICE}"
_START_LIMIT = 60.0


class StandInHub:
    """A hub in a thread of its own. `asked` counts requests for the owner of a token."""

    def __init__(self) -> None:
        self.asked = 0
        self.silent = False
        self.secret = secrets.token_hex(16)
        self._models: dict[str, dict[str, Any]] = {}
        self._people: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Answers", (_Answers,), {"hub": self}))
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}).start()

    def person(self, name: str, groups: tuple[str, ...] = (), *, access: bool = True) -> str:
        """Return the token of a person's server. `access`: the hub lets this person use the service."""
        model = {"kind": "user", "name": name, "groups": list(groups), "scopes": [ACCESS] if access else []}
        self._people[name] = model
        return self.token_of(model)

    def service(self, name: str) -> str:
        """Return the token of another service that may use ours."""
        return self.token_of({"kind": "service", "name": name, "scopes": [ACCESS]})

    def token_of(self, model: dict[str, Any]) -> str:
        """Return a new token for a user or service model."""
        token = secrets.token_hex(16)
        self._models[token] = model
        return token

    def revoke(self, token: str) -> None:
        """Make a token invalid."""
        del self._models[token]

    def owner(self, token: str) -> dict[str, Any] | None:
        """Return the owner of a token, None for an invalid one."""
        self.asked += 1
        return self._models.get(token)

    def signed_in(self, name: str) -> dict[str, Any] | None:
        """Return the person of that name, as for one who signed in with a browser."""
        return self._people.get(name)

    def environment(self, url: str) -> dict[str, str]:
        """Return the variables that a hub sets for a service that listens at a URL."""
        return {
            "JUPYTERHUB_API_TOKEN": self.secret,
            "JUPYTERHUB_API_URL": f"{self.url}/hub/api",
            "JUPYTERHUB_BASE_URL": "/",
            "JUPYTERHUB_CLIENT_ID": f"service-{SERVICE}",
            "JUPYTERHUB_HOST": self.url,
            "JUPYTERHUB_OAUTH_ACCESS_SCOPES": json.dumps(["access:services", ACCESS]),
            "JUPYTERHUB_OAUTH_CALLBACK_URL": f"{url}{PREFIX}oauth_callback",
            "JUPYTERHUB_SERVICE_NAME": SERVICE,
            "JUPYTERHUB_SERVICE_PREFIX": PREFIX,
            "JUPYTERHUB_SERVICE_URL": url,
        }

    def close(self) -> None:
        """End the hub."""
        self._server.shutdown()
        self._server.server_close()


class _Answers(BaseHTTPRequestHandler):
    hub: StandInHub

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if self.hub.silent:
            self._answer(500, {})
        elif parts.path == "/hub/api/user":
            owner = self.hub.owner(self.headers.get("Authorization", "").removeprefix("token "))
            self._answer(403 if owner is None else 200, owner or {"message": "Forbidden"})
        elif parts.path == "/hub/login":
            self._answer(200, {}, {"Set-Cookie": f"hub-user={query['user']}; Path=/hub/"})
        elif parts.path == "/hub/api/oauth2/authorize":
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get("hub-user")
            if cookie is None:
                self._answer(403, {"message": "Sign in first."})
            else:
                found = urlencode({"code": cookie.value, "state": query["state"]})
                self._answer(302, {}, {"Location": f"{query['redirect_uri']}?{found}"})
        else:
            self._answer(404, {})

    def do_POST(self) -> None:
        body = parse_qs(self.rfile.read(int(self.headers.get("Content-Length", "0"))).decode())
        person = self.hub.signed_in(body["code"][0])
        if person is None or body["client_secret"][0] != self.hub.secret:
            self._answer(400, {"error": "invalid_grant"})
        else:
            self._answer(200, {"access_token": self.hub.token_of(person), "token_type": "Bearer"})

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""

    def _answer(self, status: int, data: dict[str, Any], headers: dict[str, str] | None = None) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class RunningService:
    """The service in a process of its own, with a hub's variables. Its log is in `folder`."""

    def __init__(self, hub: StandInHub, database: str, folder: Path, *arguments: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.database = database
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = folder / f"service-{self.port}.log"
        self._command = [sys.executable, "-m", "jupyter_mlgpu.teacher", "--database", database, *arguments]
        self._environment = {**os.environ, **hub.environment(self.url)}
        self.start()

    @property
    def log(self) -> str:
        """All that it wrote."""
        return self._log.read_text(errors="replace")

    def start(self) -> None:
        """Start or restart it and wait until it answers. Raises RuntimeError if it ends instead."""
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(self._command, env=self._environment, stdout=log, stderr=log)
        end = time.monotonic() + _START_LIMIT
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.ask("GET", "/")
            except OSError:
                time.sleep(0.02)
            else:
                return
        self.stop()
        raise RuntimeError(f"The service did not start; its log:\n{self.log}")

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, dict[str, str], str]:
        """Return status, headers and text of an answer; `path` begins with a slash."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read().decode()
        finally:
            connection.close()

    def post(self, token: str | None, body: bytes, **headers: str) -> tuple[int, dict[str, Any]]:
        """Send a report. Returns the status and the JSON of the answer."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        if token is not None:
            given["Authorization"] = f"token {token}"
        status, _, text = self.ask("POST", f"{PREFIX}api/reports", body, given)
        return status, json.loads(text)

    def kill(self) -> None:
        """End it as `kill -9` does, whatever it is doing."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Ask it to end, as a hub does. Returns its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)
