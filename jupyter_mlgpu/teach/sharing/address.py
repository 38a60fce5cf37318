"""The address of the teacher's view, to which reports and a token are sent.

On a hub whose students have accounts on one machine, any of them could open a port while the teacher's view
is down, and receive all tokens. So only three kinds of addresses are accepted on this machine: a port that
only root can open, https, or a Unix socket, `http+unix://%2Frun%2Fteacher%2Freports/services/teacher`, that
only its owner can replace.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from jupyter_mlgpu.record.documentation import page
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.visible import visible_line

#: The teacher's view; the hub's configuration sets it for every server.
ADDRESS_VARIABLE = "JUPYTER_MLGPU_TEACHER_URL"
#: The user's token; JupyterHub gives it to every server.
TOKEN_VARIABLE = "JUPYTERHUB_API_TOKEN"

#: Linux: the first port that needs no privilege; 0 in many containers.
_FIRST_OPEN_PORT = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


@dataclass(frozen=True, slots=True)
class Address:
    """The address of reports, and the token that names the sender; no text of this class shows the token."""

    url: str
    token: str = field(repr=False)


def address_of(environment: Mapping[str, str]) -> Address:
    """Return the address of the teacher's view from a server's environment.

    Raises UsageError if there is no address or no token.
    """
    url = environment.get(ADDRESS_VARIABLE, "").strip().rstrip("/")
    token = environment.get(TOKEN_VARIABLE, "")
    if not url or not token:
        name = TOKEN_VARIABLE if url else ADDRESS_VARIABLE
        raise UsageError(
            f"This server has no teacher's view (a class's JupyterHub would set {name}), "
            "so nothing can be shared, and nothing is sent."
        )
    if not _is_address(url):
        raise UsageError(
            f"{ADDRESS_VARIABLE} should be an address such as https://hub.example/services/teacher, "
            f"found {redact(url)!r:.100}: whoever runs this JupyterHub can set it right. Nothing is sent."
        )
    parts = urlsplit(url)
    if parts.scheme == "http" and _names_this_machine(str(parts.hostname)) and _is_open(parts.port or 80):
        raise UsageError(
            f"{ADDRESS_VARIABLE} names port {parts.port or 80} of this machine, where any program here could "
            "listen in the place of the teacher's view and be sent this server's token: whoever runs this "
            f"JupyterHub can name a socket of the service's own ({page('teacher')}). Nothing is sent."
        )
    if not re.fullmatch(r"[!-~]+", token):
        raise UsageError(f"{TOKEN_VARIABLE} does not hold a token, so nothing can be shared.")
    return Address(url, token)


def socket_of(parts: SplitResult) -> Path | None:
    """Return the Unix socket that an address names, or None for a network address."""
    return Path(unquote(parts.netloc)) if parts.scheme == "http+unix" else None


def anybody_could_listen(connection: socket.socket) -> bool:
    """Return True if a connection leads to a port of this machine that any program could have opened."""
    here, (there, port) = connection.getsockname()[0], connection.getpeername()[:2]
    return (here == there or _names_this_machine(there)) and _is_open(port)


def why_untrusted(path: Path) -> str | None:
    """Return a reason why another user could have put a socket there, or None if nobody could.

    If only its owner may write to a folder, everything in it was put there by the owner or given away by
    root. The same holds for each folder above. In a folder such as /tmp, everybody owns what they put there.
    """
    place = Path(path.anchor)
    try:
        for name in path.parts[1:]:
            folder, child = os.lstat(place), place / name
            there = os.lstat(child)
            if stat.S_ISLNK(there.st_mode):
                return f"{child} is a link"
            if folder.st_mode & _OTHERS_WRITE:
                ours = folder.st_mode & stat.S_ISVTX and there.st_uid in (0, os.geteuid())
                if not ours:
                    return f"others may write to {visible_line(place)}"
            place = child
        return None if stat.S_ISSOCK(os.lstat(place).st_mode) else f"{visible_line(place)} is no socket"
    except OSError as error:
        return f"{visible_line(path)} cannot be looked at ({error.strerror or type(error).__name__})"


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        if not re.fullmatch(r"[!-~]+", url) or parts.query or parts.fragment:
            return False
        if (path := socket_of(parts)) is not None:
            return (
                path.is_absolute() and len(path.parts) > 1 and os.path.normpath(path) == unquote(parts.netloc)
            )
        port = parts.port
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and port != 0 and parts.username is None


def _names_this_machine(host: str) -> bool:
    name = host.partition("%")[0].rstrip(".").lower()
    try:
        number = ipaddress.ip_address(name)
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")
    return number.is_loopback or number.is_unspecified


def _is_open(port: int) -> bool:
    """Return True if every program may open this port."""
    try:
        first = int(_FIRST_OPEN_PORT.read_text())
    except (OSError, ValueError):  # not Linux
        first = 1024
    return port >= first
