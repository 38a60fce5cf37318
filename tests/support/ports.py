"""Ports of this machine that nobody listens on, and that nobody else takes before they are used."""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import socket

#: Below those that a system gives away by itself, which another process may be given before ours are used;
#: and each worker of pytest-xdist has its own.
_FIRST, _EACH = 10_000, 2_000
_WORKER = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 10
_BEGIN = random.SystemRandom().randrange(_EACH)  # two runs of the tests may stand beside each other
_NEXT = (_FIRST + _EACH * _WORKER + (_BEGIN + number) % _EACH for number in itertools.count())


def free_ports(count: int) -> list[int]:
    """As many ports, each given once in some hundred kernels."""
    found: list[int] = []
    for port in itertools.islice(_NEXT, _EACH):
        with socket.socket() as one, contextlib.suppress(OSError):
            one.bind(("127.0.0.1", port))
            found.append(port)
        if len(found) == count:
            return found
    raise RuntimeError(f"fewer than {count} of {_EACH} ports are free")
