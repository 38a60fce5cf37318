"""Tests of a sandbox: a program inside tries forbidden actions, and all of them must fail."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES, SameUser, Sandbox, hidden_folders

#: Seconds within which a program that does almost nothing has ended.
_LONGEST = 60

_ATTEMPTS = """
import ctypes, json, os, pathlib, socket, sys
told = json.loads(sys.argv[1])
broken = []
def attempt(what, deed):
    try:
        deed()
    except (OSError, ValueError, AttributeError):  # refused, or not on this system
        return
    broken.append(what)
for path in told["secrets"]:
    attempt("a file of yours can be read", lambda: pathlib.Path(path).read_bytes())
def read_any(folder, kept):
    for place, _, names in os.walk(folder):
        for name in names:
            if name not in kept:
                return pathlib.Path(place, name).read_bytes()
    raise OSError("nothing is there")
for folder, kept in told["sealed"]:
    attempt("a solution of this package can be read", lambda: read_any(folder, kept))
attempt("a file beside yours can be written", lambda: pathlib.Path(told["new"]).write_text("written"))
here = ("127.0.0.1", told["port"])
attempt("this machine's network can be reached", lambda: socket.create_connection(here, 2))
attempt("another program can be reached", lambda: os.kill(told["process"], 0))
def namespace():
    new_user = 0x10000000
    if ctypes.CDLL(None).unshare(new_user) != 0:
        raise OSError("refused")
attempt("memory that no limit sees can be taken", lambda: os.memfd_create("file"))
attempt("a user namespace can be made, and folders in memory in it", namespace)
if told["variable"] in os.environ:
    broken.append("your environment can be read")
pathlib.Path("own").write_text("can be written")
print(json.dumps(broken))
"""


def find(secrets: Iterable[Path]) -> Sandbox:
    """Return the first sandbox that works on this machine and is tight.

    `secrets` are files that no student may read. Raises GradingError with the reason for each sandbox.
    """
    known = list(secrets)
    reasons = []
    for sandbox in SANDBOXES.values():
        if isinstance(sandbox, SameUser):
            continue
        why = sandbox.missing() or "; ".join(find_leaks(sandbox, known))
        if not why:
            return sandbox
        reasons.append(f"{sandbox.name}: {why}")
    raise GradingError(
        f"No sandbox works here, so no student's code was run ({'; '.join(reasons)}). Install bubblewrap "
        "(`apt install bubblewrap`), or give `--unsafe-same-user`: then the students' code runs as you, and "
        "can read the solutions, the hidden tests, the other submissions and your own files, send them "
        "anywhere, and change the grades."
    )


def find_leaks(sandbox: Sandbox, secrets: Iterable[Path]) -> list[str]:
    """Return the forbidden actions that succeed in the sandbox, or that no program runs in it."""
    known = [path for path in secrets if path.is_file()]
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        theirs = Path(name) / "theirs"
        theirs.mkdir()
        secret, new = Path(name) / "secret", Path(name) / "new"
        secret.write_text("a secret", "utf-8")
        variable = "JUPYTER_MLGPU_PROBED"
        task = {
            "secrets": [str(path.resolve()) for path in (secret, *known)],
            "sealed": [[str(one.folder), one.readable] for one in hidden_folders()],
            "new": str(new),
            "port": server.getsockname()[1],
            "process": os.getpid(),
            "variable": variable,
        }
        words = [sys.executable, "-c", _ATTEMPTS, json.dumps(task)]
        try:
            done = subprocess.run(
                sandbox.command(words, theirs, 1024**2),
                cwd=theirs,
                env={**os.environ, variable: "a secret"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LONGEST,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return [f"it does not start ({error})"]
        try:
            found = json.loads(done.stdout)
        except ValueError:
            errors = done.stderr.decode(errors="replace").strip().splitlines()
            return [f"it does not start ({errors[-1] if errors else f'status {done.returncode}'})"]
        if new.exists():
            found.append("a file beside yours can be written")
        return list(dict.fromkeys(map(str, found)))
