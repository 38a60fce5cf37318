"""`collect`: what the engines of an ipyparallel client have measured, in one timeline."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from jupyter_mlgpu.explain.engines import journal
from jupyter_mlgpu.explain.engines.asking import EngineReport, ask
from jupyter_mlgpu.explain.engines.collection import Collection
from jupyter_mlgpu.explain.engines.offsets import SAME_CLOCK
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.clock import Clock, SystemClock
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, say, say_count

#: What each client's engines told the last time: of one that dies, that and its journal are left.
_reports: WeakKeyDictionary[Any, dict[int, EngineReport]] = WeakKeyDictionary()


def collect(client: Any, timeout: float = 5.0) -> Collection:
    """Bring the records of an ipyparallel client's engines into one ordered timeline.

    The extension has to be loaded in the engines before the cells that are to be measured: `%px %load_ext
    jupyter_mlgpu`. Each engine's clock is compared with ours by round trips, and the collection says how
    exactly that is known. Of an engine that does not answer within `timeout` seconds, because it runs a cell,
    hangs or died, a sentence says so; what it told the last time is here, and what it has written into its
    journal, where that is on this machine: of a cell in which it died, the record is partial. Nothing waits
    longer than three times `timeout`.

    Blocks named `jupyter_mlgpu.trace("compute")` and `jupyter_mlgpu.trace("communicate")` are added up for
    each engine, and how much of the communication was waiting for the slowest engine.

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
            f"collect needs an ipyparallel client, such as `ipyparallel.Client()`; found {client!r:.60}."
        )
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise UsageError(f"timeout is a number of seconds above 0, found {timeout!r:.40}.")
    present = sorted(client.ids)
    before = _reports.get(client, {})
    where = journal.folder(getattr(getattr(client, "session", None), "key", None))
    told = {one.engine: one for one in ask(client, present, timeout, clock)}
    for number in _known(client, present, before) | journal.engines(where):
        gone = say("Engine {engine} is gone: it died or was shut down.", engine=str(number))
        told.setdefault(number, EngineReport(number, why=gone))
    here = current().recorder.run.host_digest
    living = {record.key for one in told.values() for record in one.records}
    for number, one in told.items():
        if one.why is not None:
            written = journal.read(where, number)
            told[number] = _left(
                one, before.get(number), written, living, here, gone=number not in client.ids
            )
    found = [told[number] for number in sorted(told)]
    _reports[client] = {one.engine: one for one in found if one.offset is not None}
    return Collection(found, here)


def _left(
    one: EngineReport,
    before: EngineReport | None,
    written: list[Record],
    living: set[tuple[str, int]],
    here: str,
    *,
    gone: bool,
) -> EngineReport:
    """What there is of an engine that has told nothing: what it told before, and what it has written down.

    An engine that lost its connection comes back with another number: what `living` ones told is theirs.
    """
    last = _died_in(written) if gone else None
    told = () if before is None else tuple(one for one in before.records if not journal.unfinished(one))
    known = living | {record.key for record in told}
    whole = (record for record in written if record is last or not journal.unfinished(record))
    new = [record for record in whole if record.key not in known]
    records = (
        *(record for record in told if record.key not in living),
        *(replace(record, run=replace(record.run, engine=str(one.engine))) for record in new),
    )
    offset = None if before is None else before.offset
    host = before.host if before is not None else written[0].run.host_digest if written else None
    if offset is None and host == here:
        offset = SAME_CLOCK
    count = say_count("{count} record", "{count} records", len(records))
    said = [one.why or ""]
    if written:
        said.append(say("What it had reported and saved until then ({count}) is included.", count=count))
    elif records and gone:
        said.append(
            say(
                "What it had reported by the last collection ({count}) is included; anything later is lost.",
                count=count,
            )
        )
    elif records:
        said.append(say("What it had reported by the last collection ({count}) is included.", count=count))
    elif gone:
        said.append(say("Nothing was collected from it before, so its records are lost."))
    if last is not None:
        said.append(
            say(
                "It ended in the middle of the cell `{cell}`, so that record is partial.", cell=last.cell.name
            )
        )
    if records and offset is None:
        said.append(say("Its clock was never compared with ours, so its records are not on the timeline."))
    return EngineReport(one.engine, host, offset, records, one.problems, joined(*said), gone)


def _died_in(written: list[Record]) -> Record | None:
    """The cell that had begun when an engine wrote for the last time, if it had not ended."""
    cells = [record for record in written if record.cell.source_digest is not None]
    last = max(cells, key=lambda record: record.started_at, default=None)
    return last if last is not None and journal.unfinished(last) else None


def _known(client: Any, present: list[int], before: dict[int, EngineReport]) -> set[int]:
    """The numbers of all engines that there have been: ipyparallel counts them from 0 on.

    A client that started its cluster itself knows how many that started.
    """
    sets = getattr(getattr(client, "cluster", None), "engines", None) or {}
    started = sum(getattr(one, "n", 0) for one in sets.values())
    return set(range(max([started - 1, *present, *before], default=-1) + 1))
