"""Runs the service until it receives a signal to stop."""

from __future__ import annotations

import asyncio
import secrets
import signal
import socket
import sys
from pathlib import Path

from jupyterhub.services.auth import HubOAuth
from tornado.httpserver import HTTPServer
from tornado.ioloop import PeriodicCallback
from tornado.netutil import bind_unix_socket

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.teach.sharing.address import why_untrusted
from jupyter_mlgpu.teach.sharing.report import MAX_BYTES
from jupyter_mlgpu.teach.teacher.handlers import application
from jupyter_mlgpu.teach.teacher.keeping import Keeper
from jupyter_mlgpu.teach.teacher.people import TRUST_SECONDS
from jupyter_mlgpu.teach.teacher.settings import Settings
from jupyter_mlgpu.teach.teacher.store import ReportStore

#: Seconds after which an incomplete request is dropped.
PATIENCE = 60
_HOUR_IN_MS = 3_600_000
#: All students may connect to the socket. The folder's permissions protect it from replacement.
_EVERYBODY = 0o666


async def serve(settings: Settings, store: ReportStore) -> None:
    """Serve until SIGTERM or Ctrl-C; raises UsageError if the address is in use."""
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for one in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(one, stopped.set)
    hub = HubOAuth.instance(cache_max_age=TRUST_SECONDS)
    keeper = Keeper(store, settings.keep_days)
    server = HTTPServer(
        # There is a new secret at each start. Browsers are sent to the hub once more, where users are still
        # signed in.
        application(settings, hub, keeper, secrets.token_bytes(32)),
        max_body_size=MAX_BYTES,
        max_header_size=16_384,
        body_timeout=PATIENCE,
        idle_connection_timeout=PATIENCE,
    )
    try:
        server.listen(settings.port, settings.host)
    except OSError as error:
        raise UsageError(
            f"The service cannot listen on {settings.host}:{settings.port} ({error.strerror or error}): "
            "give it another url in c.JupyterHub.services."
        ) from error
    if settings.socket is not None:
        server.add_socket(_at(settings.socket.absolute()))
    print(f"The teacher's view listens on {settings.host}:{settings.port}.", file=sys.stderr, flush=True)
    await keeper.tidy()
    tidying = PeriodicCallback(keeper.tidy, _HOUR_IN_MS)
    tidying.start()
    await stopped.wait()
    tidying.stop()
    server.stop()
    await server.close_all_connections()
    await loop.run_in_executor(None, keeper.close)


def _at(path: Path) -> socket.socket:
    """Return the socket at a path; raises UsageError, also if another user could put one there."""
    try:
        found = bind_unix_socket(str(path), mode=_EVERYBODY)
    except (OSError, ValueError) as error:
        why: str | None = getattr(error, "strerror", None) or str(error)
    else:
        why = why_untrusted(path)
        if why is None:
            return found
        found.close()
        path.unlink(missing_ok=True)
    raise UsageError(
        f"The service cannot listen on {visible_line(path)} ({why}): give --socket a path in a folder of "
        "the service's own, which others may enter and not write to."
    )
