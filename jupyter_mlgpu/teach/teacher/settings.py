"""The service's settings, from the hub's environment variables and the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from jupyter_mlgpu.record.documentation import page
from jupyter_mlgpu.record.errors import UsageError

DATABASE = "sqlite:///mlgpu-teacher.sqlite"
TEACHERS = "teachers"
KEEP_DAYS = 180

#: Variables that a hub sets for a service, or an administrator for an external one. JupyterHub reads the
#: others.
_NEEDED = (
    "JUPYTERHUB_API_TOKEN",
    "JUPYTERHUB_API_URL",
    "JUPYTERHUB_CLIENT_ID",
    "JUPYTERHUB_SERVICE_NAME",
    "JUPYTERHUB_SERVICE_PREFIX",
    "JUPYTERHUB_SERVICE_URL",
)


@dataclass(frozen=True, slots=True)
class Settings:
    """The address to listen at (`host`, `port`), the `prefix` (with a slash at both ends), and more.

    `teachers` is the hub's group whose members see the whole class, and `keep_days` the retention time.
    `socket` is a Unix socket to listen at as well.
    """

    host: str
    port: int
    prefix: str
    teachers: str = TEACHERS
    keep_days: int = KEEP_DAYS
    socket: Path | None = None


def settings_from(
    environment: Mapping[str, str], teachers: str, keep_days: int, socket: Path | None = None
) -> Settings:
    """Return the settings of a service started by a hub; raises UsageError naming what is missing."""
    if absent := [name for name in _NEEDED if not environment.get(name)]:
        raise UsageError(
            f"The teacher's view is started by a JupyterHub, and {', '.join(absent)} is not set: add it to "
            f"c.JupyterHub.services with a url, as {page('teacher')} shows."
        )
    url = environment["JUPYTERHUB_SERVICE_URL"]
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host is None or port is None:
        raise UsageError(
            f"The service's url names no host and port: found {url!r:.80}, write 'http://127.0.0.1:10101'."
        )
    if keep_days < 1:
        raise UsageError(f"--keep-days takes a number of days, at least 1: found {keep_days}.")
    prefix = "/" + environment["JUPYTERHUB_SERVICE_PREFIX"].strip("/") + "/"
    return Settings(host, port, prefix.replace("//", "/"), teachers, keep_days, socket)
