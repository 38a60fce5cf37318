"""Start a program that is no child of this process."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import threading
from collections.abc import Iterator, Sequence

#: Descriptors are given in two steps, so that none is overwritten before it was given.
_COPIES_FROM = 64


def start(program: Sequence[str], descriptors: Sequence[int]) -> None:
    """Run a program that has `descriptors` as 3, 4 and so on, and /dev/null as 0 to 2.

    A shell starts it and ends within 2 ms: the program then belongs to the system's first process, and
    `os.wait` and `children()` do not find it. Raises OSError where no process can be made.
    """
    with contextlib.ExitStack() as opened:
        actions: list[tuple[int, ...]] = []
        for target, descriptor in enumerate(descriptors, start=3):
            aside = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, _COPIES_FROM)
            opened.callback(os.close, aside)
            actions.append((os.POSIX_SPAWN_DUP2, aside, target))
        null = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        opened.callback(os.close, null)
        actions += [(os.POSIX_SPAWN_DUP2, null, standard) for standard in range(3)]
        with _unnoticed():
            shell = os.posix_spawn(
                "/bin/sh",
                ["sh", "-c", '"$@" &', "sh", *program],
                os.environ,
                file_actions=actions,
                setsigmask=[],
                setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            )
            status = _waited_for(shell)
    if status:
        raise OSError(f"the shell could not start it (exit status {status})")


def _waited_for(process: int) -> int:
    try:
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    except ChildProcessError:  # the user's code waits for all children, or ignores them
        return 0


@contextlib.contextmanager
def _unnoticed() -> Iterator[None]:
    """A handler of the user's hears nothing of our child, and of its own all the same."""
    handler = signal.getsignal(signal.SIGCHLD)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, handler)
        with contextlib.suppress(ChildProcessError):
            if os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
                signal.raise_signal(signal.SIGCHLD)
