"""`collect`: what the engines of an ipyparallel client have measured, in one timeline."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from jupyter_mlgpu.clock import Clock, SystemClock
from jupyter_mlgpu.engines.asking import Told, ask
from jupyter_mlgpu.engines.collection import Collection
from jupyter_mlgpu.errors import UsageError
from jupyter_mlgpu.kit import current

#: What each client's engines told the last time: all that is left of one that dies.
_told: WeakKeyDictionary[Any, dict[int, Told]] = WeakKeyDictionary()


def collect(client: Any, timeout: float = 5.0) -> Collection:
    """Bring the records of an ipyparallel client's engines into one ordered timeline.

    The extension has to be loaded in the engines before the cells that are to be measured: `%px %load_ext
    jupyter_mlgpu`. Each engine's clock is compared with ours by round trips, and the collection says how
    exactly that is known. An engine that does not answer within `timeout` seconds, because it runs a cell,
    hangs or died, is left out, and a sentence says so; of one that died since the last `collect`, the records
    of then are still there. Nothing waits longer than three times `timeout`.

        import ipyparallel, jupyter_mlgpu
        client = ipyparallel.Client()
        found = jupyter_mlgpu.collect(client)   # shows itself: a lane an engine, a table
        found.save("engines.json")              # for Perfetto, one process an engine

    Raises UsageError for what is no client, or a timeout that is no time.
    """
    return collect_with(client, timeout, SystemClock())


def collect_with(client: Any, timeout: float, clock: Clock) -> Collection:
    """The same with a clock of one's choice."""
    if not hasattr(client, "ids") or not hasattr(client, "__getitem__"):
        raise UsageError(
            f"collect needs a client of ipyparallel, such as `ipyparallel.Client()`; found {client!r:.60}."
        )
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise UsageError(f"timeout is a number of seconds above 0, found {timeout!r:.40}.")
    present = sorted(client.ids)
    before = _told.get(client, {})
    told = {one.engine: one for one in ask(client, present, timeout, clock)}
    told = {number: _kept(one, before.get(number), client.ids) for number, one in told.items()}
    for number in _known(client, present, before):
        if number not in told:
            told[number] = _kept(Told(number, why=""), before.get(number), client.ids)
    found = [told[number] for number in sorted(told)]
    _told[client] = {one.engine: one for one in found if one.offset is not None}
    return Collection(found, current().recorder.run.host_digest)


def _kept(one: Told, before: Told | None, present: Iterable[int]) -> Told:
    """What is left of an engine that has gone; one that is there has told all it knows, or will tell it."""
    if one.why is None or one.engine in present:
        return one
    gone = one.why or f"Engine {one.engine} is gone: it died, or was shut down."
    if before is None:
        return Told(one.engine, why=f"{gone} Nothing was collected from it before, so its records are lost.")
    first = gone if not before.earlier else f"Engine {one.engine} is gone: it died, or was shut down."
    count = f"{len(before.records):,} record{'' if len(before.records) == 1 else 's'}"
    return dataclasses.replace(
        before,
        earlier=True,
        why=f"{first} What it had told up to the last collect ({count}) is here; what came later is lost.",
    )


def _known(client: Any, present: list[int], before: dict[int, Told]) -> set[int]:
    """The numbers of all engines that there have been: ipyparallel counts them from 0 on.

    A client that started its cluster itself knows how many that started.
    """
    sets = getattr(getattr(client, "cluster", None), "engines", None) or {}
    started = sum(getattr(one, "n", 0) for one in sets.values())
    return set(range(max([started - 1, *present, *before], default=-1) + 1))
