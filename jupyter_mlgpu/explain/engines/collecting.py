"""`collect`: bring the measurements of ipyparallel's engines into one timeline."""

from __future__ import annotations

import dataclasses
from typing import Any
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from jupyter_mlgpu.explain.engines import journal
from jupyter_mlgpu.explain.engines.collection import Collection
from jupyter_mlgpu.explain.engines.offsets import SAME_CLOCK
from jupyter_mlgpu.explain.engines.query import EngineReport, ask
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.clock import Clock, SystemClock
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, say, say_count

#: The last reports of each client's engines: if an engine dies, only these and its journal are left.
_reports: WeakKeyDictionary[Any, dict[int, EngineReport]] = WeakKeyDictionary()


def collect(client: Any, timeout: float = 5.0) -> Collection:
    """Bring the records of an ipyparallel client's engines into one ordered timeline.

    The extension has to be loaded in the engines before the cells to be measured: `%px %load_ext
    jupyter_mlgpu`. Each engine's clock is compared with ours by round trips, and the collection says how
    exact that is.

    An engine that runs a cell, hangs or died does not answer within `timeout` seconds. A sentence then says
    so. The collection has what the engine reported the last time, and what is in its journal if that is on
    this machine. The record of a cell in which it died is partial. Nothing waits longer than three times
    `timeout`.

    Blocks named `jupyter_mlgpu.trace("compute")` and `jupyter_mlgpu.trace("communicate")` are added up for
    each engine, with the part of the communication that was waiting for the slowest engine.

        import ipyparallel, jupyter_mlgpu
        client = ipyparallel.Client()
        found = jupyter_mlgpu.collect(client)   # displays a lane per engine and a table
        found.save("engines.json")              # for Perfetto, one process per engine

    Raises UsageError for an object that is no client, or a timeout that is not above 0.
    """
    return collect_with(client, timeout, SystemClock())


def collect_with(client: Any, timeout: float, clock: Clock) -> Collection:
    """Collect with a given clock: see `collect`."""
    if not hasattr(client, "ids") or not hasattr(client, "__getitem__"):
        raise UsageError(
            f"collect needs an ipyparallel client, such as `ipyparallel.Client()`; found {client!r:.60}."
        )
    if not isinstance(timeout, int | float) or not timeout > 0:
        raise UsageError(f"timeout is a number of seconds above 0, found {timeout!r:.40}.")
    present = sorted(client.ids)
    before = _reports.get(client, {})
    where = journal.folder(getattr(getattr(client, "session", None), "key", None))
    reports = {report.engine: report for report in ask(client, present, timeout, clock)}
    for number in _engine_numbers(client, present, before) | journal.engines(where):
        gone = say("Engine {engine} is gone: it died or was shut down.", engine=str(number))
        reports.setdefault(number, EngineReport(number, why=gone))
    here = current().recorder.run.host_digest
    living = {record.key for report in reports.values() for record in report.records}
    for number, report in reports.items():
        if report.host == here and report.offset is not None and report.offset.may_be_zero:
            reports[number] = dataclasses.replace(report, offset=SAME_CLOCK)
        if report.why is not None:
            written = journal.read(where, number)
            reports[number] = _without_answer(
                report, before.get(number), written, living, here, gone=number not in client.ids
            )
    found = [reports[number] for number in sorted(reports)]
    _reports[client] = {report.engine: report for report in found if report.offset is not None}
    return Collection(found, here)


def _without_answer(
    report: EngineReport,
    before: EngineReport | None,
    written: list[Record],
    living: set[tuple[str, int]],
    here: str,
    *,
    gone: bool,
) -> EngineReport:
    """Return a report on an engine that did not answer: what it reported before and what is in its journal.

    An engine that lost its connection comes back with another number. Records that `living` engines reported
    are theirs.
    """
    last = _died_in(written) if gone else None
    reported = (
        ()
        if before is None
        else tuple(record for record in before.records if not journal.is_unfinished(record))
    )
    known = living | {record.key for record in reported}
    whole = (record for record in written if record is last or not journal.is_unfinished(record))
    new = [record for record in whole if record.key not in known]
    records = (
        *(record for record in reported if record.key not in living),
        *(replace(record, run=replace(record.run, engine=str(report.engine))) for record in new),
    )
    offset = None if before is None else before.offset
    host = before.host if before is not None else written[0].run.host_digest if written else None
    if offset is None and host == here:
        offset = SAME_CLOCK
    count = say_count("{count} record", "{count} records", len(records))
    sentences = [report.why or ""]
    if written:
        sentences.append(say("What it had reported and saved until then ({count}) is included.", count=count))
    elif records and gone:
        sentences.append(
            say(
                "What it had reported by the last collection ({count}) is included; anything later is lost.",
                count=count,
            )
        )
    elif records:
        sentences.append(
            say("What it had reported by the last collection ({count}) is included.", count=count)
        )
    elif gone:
        sentences.append(say("Nothing was collected from it before, so its records are lost."))
    if last is not None:
        sentences.append(
            say(
                "It ended in the middle of the cell `{cell}`, so that record is partial.", cell=last.cell.name
            )
        )
    if records and offset is None:
        sentences.append(
            say("Its clock was never compared with ours, so its records are not on the timeline.")
        )
    return EngineReport(report.engine, host, offset, records, report.problems, joined(*sentences), gone)


def _died_in(written: list[Record]) -> Record | None:
    """Return the record of the cell in which an engine ended, or None if its last cell had finished."""
    cells = [record for record in written if record.cell.source_digest is not None]
    last = max(cells, key=lambda record: record.started_at, default=None)
    return last if last is not None and journal.is_unfinished(last) else None


def _engine_numbers(client: Any, present: list[int], before: dict[int, EngineReport]) -> set[int]:
    """Return the numbers of all engines that ever existed: ipyparallel counts them from 0.

    A client that started its cluster itself knows how many engines that started.
    """
    sets = getattr(getattr(client, "cluster", None), "engines", None) or {}
    started = sum(getattr(one, "n", 0) for one in sets.values())
    return set(range(max([started - 1, *present, *before], default=-1) + 1))
