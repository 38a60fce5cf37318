"""Stages that enrich a cell's record after it was measured; `pipeline.stages` defines their order.

A stage takes a record and returns a record, and does not depend on the other stages. If one fails, the record
lacks only its part, and a note says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.capture import native_lines
from jupyter_mlgpu.jupyter.notebook.cell.named_values import mentioned_values, named_values
from jupyter_mlgpu.measure.activity.activity import Activity
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.capture.stretch import Notes
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Observed
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import Journal
from jupyter_mlgpu.record.gpu_work import GpuFigures
from jupyter_mlgpu.record.record import (
    COMPUTED_FOR,
    NOT_COMPUTED,
    STILL_READING,
    Fact,
    Record,
)
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.store import NEWEST, Store

_MPS_VARIABLE = "PYTORCH_MPS_LOG_PROFILE_INFO"
#: Seconds below which a wait is not noticed.
_UNNOTICED_S = 0.01
#: Seconds of wall time from which a cell that computed earlier cells' work says so.
_WORTH_TELLING_S = 0.1
#: Fewest records with which a cell can have run often enough to detect growth (see `growth.py`).
_FEWEST_RECORDS = 5
#: Fewest runs of a cell with which `comparing/slower.py` can detect that it became slower.
_FEWEST_TO_BE_SLOWER = 8

# Names of the parts of a record, used in the note about a missing one. Made once because few cells need them.
TRACEBACK = say("the time of the traceback")
PLACES = say("where it ran")
ELSEWHERE = say("what stays on another device")
LAZY_WORK = say("what the cell left for later")
NATIVE_LINES = say("the native lines of the cell")
MPS_LOG = say("what PyTorch's MPS log reports")
ITEMS = say("the number of items")
LIMIT = say("what limited the cell")
SLOWER = say("whether the cell became slower")
GROWTH = say("memory growth")
HOLDS = say("what the cell holds")
DEATH = say("what ended the previous kernel")
_JOURNAL = say("its line in the journal")


class RecordStage(Struct, eq=False):
    """Adds one part to a record; `part` names it in the note about a failure."""

    part: str
    add: Callable[[Record], Record]

    def __call__(self, record: Record) -> Record:
        """Return the record with the part added, or with a note on why it is missing."""
        try:
            return self.add(record)
        except Exception as error:
            failed = redact(words(error))
            return record.with_note(
                say("Missing from this record: {part} ({error}).", part=self.part, error=failed)
            )


class EndedCell(Struct, frozen=True):
    """Data of an ended cell that the stages need besides its record.

    `devices` were requested while it ran. `items` is the number that the user gave. `left_out_s` is the time
    in seconds after the end of its code that the wall time leaves out. `activity` is the sampled activity
    with lines as the user sees them. `output` reads the cell's native lines. `when_gpu_done` calls a function
    with the GPU's figures once they are known. `observed` are the frameworks' own observations.
    """

    code: str
    devices: Sequence[Device]
    items: int | None
    left_out_s: float
    activity: Activity | None = None
    output: Callable[[], Notes | None] = lambda: None
    when_gpu_done: Callable[[Callable[[GpuFigures], None]], None] = lambda tell: None
    observed: Mapping[str, Observed] = {}


class NotebookSession(Struct, eq=False):
    """Data of the notebook that the stages need; `namespace` maps its names to values.

    `died_before` returns, once, a sentence on what ended the previous kernel, if it died. `store` keeps a
    record and informs browsers, `show` displays a cell's receipt, and `revise` changes the record with the
    given number.
    """

    runtime: Runtime
    capture: Capture
    namespace: Mapping[str, Any]
    journal: Journal | None
    died_before: Callable[[], Sentence | None]
    store: Callable[[Record], None]
    show: Callable[[Record, EndedCell], None]
    revise: Callable[[int, Callable[[Record], Record]], None]


def complete(record: Record, ordered: Iterable[RecordStage]) -> Record:
    """Return the record after all stages."""
    for stage in ordered:
        record = stage(record)
    return record


def saving_stage(journal: Journal | None) -> RecordStage:
    """Return the stage that saves a record to the journal when it is complete or has changed."""
    return RecordStage(_JOURNAL, lambda record: save_record(record, journal))


def with_traceback(record: Record, left_out_s: float) -> Record:
    """Add the time of the traceback as a fact if that is most of the time the user waited."""
    wall = record.reading("wall_time").value
    if wall is None or left_out_s <= max(wall, _UNNOTICED_S):
        return record
    source = say("IPython, to show the traceback; the times do not include it")
    return replace(record, facts={**record.facts, "traceback": Fact(units.seconds(left_out_s), source)})


def with_values_elsewhere(
    record: Record, cell: EndedCell, selection: DeviceSelection, namespace: Mapping[str, Any]
) -> Record:
    """Add notes on values named in the cell that are on another device than the requested one."""
    if not cell.devices:
        return record
    return with_notes(record, selection.stays(named_values(cell.code, namespace), cell.devices))


def with_lazy_work(
    record: Record, cell: EndedCell, backends: Iterable[Backend], namespace: Mapping[str, Any]
) -> Record:
    """Add what a lazy framework left for later, and a note on earlier cells' work that this cell computed."""
    for backend in backends:
        if registry.framework(backend.name).evaluate is None:
            continue
        found = backend.lazy_work(mentioned_values(cell.code, namespace), record.cell.execution_count)
        if found is None:
            continue
        source = Sentence(registry.title(backend.name))
        if found.left:
            record = _with_fact(record, NOT_COMPUTED, Fact(list(found.left), source))
        if found.computed:
            record = _with_fact(record, COMPUTED_FOR, Fact(list(found.computed), source))
        if (record.reading("wall_time").value or 0.0) >= _WORTH_TELLING_S:
            record = with_notes(record, found.computed.values())
    return record


def with_logs(record: Record, cell: EndedCell, capture: Capture) -> Record:
    """Add the native lines of the cell."""
    captured = cell.output()
    if captured is None:
        return record
    if captured.whole:
        record = record.with_logs(captured.lines, captured.facts, captured.notes)
    else:
        record = record.with_logs(captured.lines, {}, (STILL_READING,))
    return native_lines.annotate_native_output(record, capture.shown_lines())


def with_mps_log(record: Record, capture: Capture, environ: Mapping[str, str] = os.environ) -> Record:
    """Add the operations of PyTorch's MPS log, if they were requested by `--ops` and by the variable.

    Must be called when the cell's lines have been read.
    """
    if record.mode != "profiled" or not environ.get(_MPS_VARIABLE) or "torch" not in record.versions:
        return record
    from jupyter_mlgpu.explain.logs import mps_profile  # imported here because it is rarely used

    texts = []
    for _, stream, data, gone in capture.raw(record.cell.sequence):
        if stream == "stderr":
            texts.append(data.decode(errors="replace"))
            if gone:
                record = record.with_note(
                    say(
                        "The first {count} bytes of this cell's native lines were dropped: the "
                        "operations from PyTorch's MPS log come from the rest.",
                        count=gone,
                    )
                )
    profile = mps_profile.read((line for text in texts for line in text.splitlines()), environ)
    return replace(with_notes(record, profile.notes), ops=(*profile.ops, *record.ops))


def with_items(record: Record, items: int | None) -> Record:
    """Add the number of items that the user gave, and the time per item."""
    if items is None or record.outcome != "ok":  # a cell that failed has not processed all items
        return record
    from jupyter_mlgpu.record.items import NAME, fact  # imported here because it is rarely used
    from jupyter_mlgpu.show.receipts.items import sentence

    facts = {**record.facts, NAME: fact(items, Sentence("%%mlc_trace --items"))}
    record = replace(record, facts=facts)
    return with_notes(record, [sentence(record)])


def with_slower(record: Record, store: Store) -> Record:
    """Add a note if the cell became slower than its earlier runs, by the rule of `compare`."""
    earlier = store.runs(record)
    if len(earlier) + 1 < _FEWEST_TO_BE_SLOWER:
        return record
    # Imported only when there is something to compare.
    from jupyter_mlgpu.explain.comparing.slower import became_slower
    from jupyter_mlgpu.show.receipts.slower import sentence

    found = became_slower(earlier, record)
    return record if found is None else record.with_note(sentence(found))


def with_growth(record: Record, store: Store) -> Record:
    """Add a note for the cell, and for each block traced in it, whose memory grows."""
    if len(store) < _FEWEST_RECORDS:
        return record
    # Imported only when there is something to compare.
    from jupyter_mlgpu.explain import growth
    from jupyter_mlgpu.show.receipts import growing

    grown = growth.of_blocks(store.made_during(record))
    if growth.may_be_growing(store.runs(record), record):
        newest = store.records()[-NEWEST:]
        grown = [*filter(None, [growth.of_run(newest, record)]), *grown]
    return with_notes(record, map(growing.sentence, grown))


def with_exit(record: Record, died_before: Callable[[], Sentence | None]) -> Record:
    """Add a note on what ended the previous kernel."""
    return with_notes(record, [died_before()])


def save_record(record: Record, journal: Journal | None) -> Record:
    """Append the record to the journal, and return it with a note if that failed."""
    if journal is not None:
        try:
            journal.append(record)
        except RecordError as error:
            return record.with_note(redact(say("This record was not saved: {error}", error=error)))
    return record


def _with_fact(record: Record, name: str, fact: Fact) -> Record:
    return replace(record, facts={**record.facts, name: fact})


def with_notes(record: Record, notes: Iterable[Sentence | None]) -> Record:
    """Return the record with those of the notes that are not None."""
    for note in notes:
        if note is not None:
            record = record.with_note(note)
    return record
