"""Gathers the facts about this machine: one module per part, all at once, each with a time limit.

No framework is imported. With `deep`, each framework is tested in its own process, and the network is tried.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.explain.doctor.gather import (
    builds,
    environment,
    frameworks,
    gpus,
    jupyter,
    kernels,
    libraries,
    machine,
    network,
    notebooks,
    packages,
    python,
    storage,
)
from jupyter_mlgpu.explain.doctor.gather.cleaning import cleaned
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.explain.doctor.gather.tools import all_unknown
from jupyter_mlgpu.explain.doctor.maybe import Maybe, Unknown
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

T = TypeVar("T")

#: Seconds after which an unfinished part is left out; all parts are read at once.
PATIENCE_S = 4.0
NOT_DEEP = Unknown(say("Checked only with --deep."), asked=False)


def gather(
    *,
    deep: bool = False,
    tell: Callable[[Sentence], None] = lambda sentence: None,
    inside: KernelsOwnFacts | None = None,
    patience: float = PATIENCE_S,
    start_kernels: bool = True,
) -> Facts:
    """Return all facts about this machine and this Python, redacted; `tell` is called with the progress.

    With start_kernels=False, the Pythons of the installed kernels are not started.

    A part that fails, or takes longer than `patience` seconds, is unknown with that reason.
    """
    reader = _ParallelReader(patience)
    reads: Mapping[str, Callable[[], Any]] = {
        "machine": machine.read,
        "python": python.read,
        "environment": environment.read,
        "gpus": gpus.read,
        "kernel": lambda: kernels.read(inside, start=start_kernels),
        "jupyter": jupyter.read,
        "storage": storage.read,
        "packages": packages.read,
        "builds": builds.read,
        "libraries": libraries.read,
        "notebooks": notebooks.read,
    }
    tell(say("Checking this machine and this Python"))
    waiting = {name: reader.begin(name, read) for name, read in reads.items()}
    found: dict[str, Any] = {name: reader.end(part) for name, part in waiting.items()}
    for name, part in found.items():
        usual = getattr(Facts(), name)
        if isinstance(part, Unknown) and not isinstance(usual, Unknown):
            found[name] = all_unknown(type(usual), part.reason)
    found |= _deeper(tell) if deep else {"network": NOT_DEEP, "frameworks": NOT_DEEP}
    return cleaned(Facts(gathered_by=__version__, **found))


def _deeper(tell: Callable[[Sentence], None]) -> dict[str, Any]:
    reader = _ParallelReader(2 * network.SITE_S)
    sites = {site: reader.begin(site, partial(network.answers, site)) for site in network.SITES}
    listed = packages.read()
    answers = frameworks.read(lambda name: name in listed, tell)
    # A site that has not answered within the time limit counts as unreachable.
    return {"frameworks": answers, "network": {site: reader.end(one) is True for site, one in sites.items()}}


@dataclass(slots=True)
class _Part(Generic[T]):
    """A part that is being read; `done` is set when `value` is final."""

    name: str
    done: threading.Event
    value: Maybe[T]


class _ParallelReader:
    """Reads parts in parallel threads, and abandons a thread that takes too long."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._deadline = real_time.monotonic() + patience

    def begin(self, name: str, read: Callable[[], T]) -> _Part[T]:
        late = Unknown(
            say(
                "The {part} facts were not read within {seconds} s.", part=name, seconds=f"{self._patience:g}"
            )
        )
        part: _Part[T] = _Part(name, threading.Event(), late)

        def work() -> None:
            try:
                value: Maybe[T] = read()
            except Exception as error:
                value = Unknown(
                    say(
                        "The {part} facts could not be read ({error}: {why}).",
                        part=name,
                        error=type(error).__name__,
                        why=str(error),
                    )
                )
            part.value = value
            part.done.set()

        # A daemon thread, so a system call that hangs does not keep the command from ending.
        threading.Thread(target=work, name=f"doctor-{name}", daemon=True).start()
        return part

    def end(self, part: _Part[T]) -> Maybe[T]:
        part.done.wait(max(0.0, self._deadline - real_time.monotonic()))
        return part.value
