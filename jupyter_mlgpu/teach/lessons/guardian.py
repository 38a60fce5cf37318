"""Ends processes when the one that started them is gone, in whatever way: `python -m` this module.

It reads process ids from its standard input, one a line. The input ends when the process at its other end
closes it or dies; then those processes, and what they have started, are asked to end, and killed where they
do not.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import psutil

#: Seconds to end in, when asked.
PATIENCE = 5.0


def guard(lines: Iterable[str]) -> None:
    """End the processes named in `lines`, once there are no more lines."""
    # A process that is looked at when its id comes is told from a later one with the same id.
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
    except psutil.Error:  # it has ended by itself
        return


if __name__ == "__main__":
    guard(sys.stdin)
