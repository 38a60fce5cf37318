"""A process that ends other processes when the process that started it ends or is killed.

It runs as `python -m` this module and reads process ids from standard input, one per line. The input ends
when the process at its other end closes it or dies. Then the listed processes and their children are
terminated, and killed if they do not end in time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import psutil

#: Seconds that a process has to end after it was terminated.
PATIENCE = 5.0


def guard(lines: Iterable[str]) -> None:
    """End the listed processes and their children once `lines` is exhausted."""
    # A psutil.Process stores the start time, so a later process with the same id is not mistaken for it.
    guarded = [one for one in map(_process, lines) if one is not None]
    every = {child for one in guarded for child in (one, *_children(one))}
    for one in every:
        _end(one, kill=False)
    _, alive = psutil.wait_procs(every, timeout=PATIENCE)
    for one in alive:
        _end(one, kill=True)


def _process(line: str) -> psutil.Process | None:
    try:
        return psutil.Process(int(line))
    except psutil.Error:
        return None


def _children(one: psutil.Process) -> list[psutil.Process]:
    try:
        return list(one.children(recursive=True))
    except psutil.Error:
        return []


def _end(one: psutil.Process, *, kill: bool) -> None:
    try:
        (one.kill if kill else one.terminate)()
    except psutil.Error:  # it has ended already
        return


if __name__ == "__main__":
    guard(sys.stdin)
