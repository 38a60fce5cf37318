"""What is added to a cell's record after it was measured; `pipeline.stages` has the order.

A stage makes a record of a record and knows nothing of the others. One that fails costs what it would have
added, which a note of the record says.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.capture import native_lines
from jupyter_mlgpu.jupyter.notebook.cell.named_values import named_values
from jupyter_mlgpu.measure.activity.activity import Activity
from jupyter_mlgpu.measure.capture.capture import Capture
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import Journal
from jupyter_mlgpu.record.gpu_work import GpuFigures
from jupyter_mlgpu.record.record import STILL_READING, Record
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.store import NEWEST, Store

_MPS_VARIABLE = "PYTORCH_MPS_LOG_PROFILE_INFO"
#: Seconds that nobody notices.
_UNNOTICED_S = 0.01
#: Records before which no cell can have run often enough for growth to be told (see `growth.py`).
_FEWEST_RECORDS = 5
#: Runs of a cell before which nobody can say that it became slower (see `comparing/slower.py`).
_FEWEST_TO_BE_SLOWER = 8

# The parts of a record, as a note names the one that it lacks: made once, for hardly any cell needs them.
TRACEBACK = say("the time of the traceback")
ELSEWHERE = say("what stays on another device")
NATIVE_LINES = say("the native lines of the cell")
MPS_LOG = say("what PyTorch's MPS log reports")
ITEMS = say("the number of items")
LIMIT = say("what limited the cell")
SLOWER = say("whether the cell became slower")
GROWTH = say("memory growth")
HOLDS = say("what the cell holds")
DEATH = say("what ended the previous kernel")
_JOURNAL = say("its line in the journal")


@dataclass(eq=False, slots=True)  # a frozen one takes twice as long to make, and each cell makes eleven
class RecordStage:
    """Adds `part` of a record, which is what a note names where that fails."""

    part: str
    add: Callable[[Record], Record]

    def __call__(self, record: Record) -> Record:
        """The record with that part, or with a note of why it has none."""
        try:
            return self.add(record)
        except Exception as error:
            failed = redact(words(error))
            return record.with_note(
                say("Missing from this record: {part} ({error}).", part=self.part, error=failed)
            )


@dataclass(frozen=True, slots=True)
class EndedCell:
    """What the stages need of a cell that has ended, beside its record.

    `devices` were asked for while it ran, `items` is how many the user says that it worked on, and
    `left_out_s` the seconds after the end of its code that its wall time leaves out. `activity` is what was
    seen of it while it ran, with lines as the user sees them. `when_gpu_done` calls a function with what the
    GPUs did, once that is known.
    """

    code: str
    devices: Sequence[Device]
    items: int | None
    left_out_s: float
    activity: Activity | None = None
    when_gpu_done: Callable[[Callable[[GpuFigures], None]], None] = lambda tell: None


@dataclass(eq=False, slots=True)
class NotebookSession:
    """What the stages need of the notebook around a cell; `namespace` has the values of its names.

    `died_before` says, once, what ended the kernel before this one, where it died. `store` keeps a record and
    tells who listens, `show` draws a cell's receipt, and `revise` changes the record of that number.
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
    """The record after these stages."""
    for stage in ordered:
        record = stage(record)
    return record


def saving(journal: Journal | None) -> RecordStage:
    """Writes a record down, once it is complete or has changed; without a journal, nothing is written."""
    return RecordStage(_JOURNAL, lambda one: saved(one, journal))


def with_traceback(record: Record, left_out_s: float) -> Record:
    """Says how long the traceback took where that is most of what the person at the keyboard waited for."""
    wall = record.reading("wall_time").value
    if wall is None or left_out_s <= max(wall, _UNNOTICED_S):
        return record
    return record.with_note(
        say(
            "IPython took another {time} to show the traceback; these times do not include it.",
            time=units.seconds(left_out_s),
        )
    )


def with_values_elsewhere(
    record: Record, cell: EndedCell, selection: DeviceSelection, namespace: Mapping[str, Any]
) -> Record:
    """Says which values that the cell names live on another device than the one asked for."""
    if not cell.devices:
        return record
    return _with_notes(record, selection.stays(named_values(cell.code, namespace), cell.devices))


def with_logs(record: Record, capture: Capture) -> Record:
    """The record with the native lines of its cell, which end here."""
    said = capture.end_cell(record.cell.sequence)
    if said is None:
        return record
    if said.whole:
        record = record.with_logs(said.lines, said.facts, said.notes)
    else:
        record = record.with_logs(said.lines, {}, (STILL_READING,))
    return native_lines.annotate_native_output(record, capture.shown_lines())


def with_mps_log(record: Record, capture: Capture, environ: Mapping[str, str] = os.environ) -> Record:
    """The record with the operations that PyTorch's MPS log tells; as it was where that is not asked for.

    It is asked for by `--ops` over the cell and by the variable. Called when the cell's lines were read.
    """
    if record.mode != "profiled" or not environ.get(_MPS_VARIABLE) or "torch" not in record.versions:
        return record
    from jupyter_mlgpu.explain.logs import mps_profile  # seldom asked for

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
    seen = mps_profile.read((line for text in texts for line in text.splitlines()), environ)
    return replace(_with_notes(record, seen.notes), ops=(*seen.ops, *record.ops))


def with_items(record: Record, items: int | None) -> Record:
    """The record with the number of items that the user tells, and what one of them took."""
    if items is None or record.outcome != "ok":  # a cell that failed has not worked on all of them
        return record
    from jupyter_mlgpu.record.items import NAME, fact  # seldom asked for
    from jupyter_mlgpu.show.receipts.items import sentence

    told = {NAME: fact(items, Sentence("%%mlc_trace --items"))}
    record = replace(record, facts={**record.facts, **told})
    return _with_notes(record, [sentence(record)])


def with_slower(record: Record, store: Store) -> Record:
    """The record with a note where its cell takes longer than it did, as the rule of `compare` has it."""
    earlier = store.runs(record)
    if len(earlier) + 1 < _FEWEST_TO_BE_SLOWER:
        return record
    # Loaded when there is something to compare.
    from jupyter_mlgpu.explain.comparing.slower import became_slower
    from jupyter_mlgpu.show.receipts.slower import sentence

    found = became_slower(earlier, record)
    return record if found is None else record.with_note(sentence(found))


def with_growth(record: Record, store: Store) -> Record:
    """The record with a note for each block traced in its cell, and for the cell, where memory grows."""
    if len(store) < _FEWEST_RECORDS:
        return record
    # Loaded when there is something to compare.
    from jupyter_mlgpu.explain import growth
    from jupyter_mlgpu.show.receipts import growing

    grown = growth.of_blocks(store.made_during(record))
    if growth.may_be_growing(store.runs(record), record):
        newest = store.records()[-NEWEST:]
        grown = [*filter(None, [growth.of_run(newest, record)]), *grown]
    return _with_notes(record, map(growing.sentence, grown))


def with_exit(record: Record, died_before: Callable[[], Sentence | None]) -> Record:
    """The record with what ended the kernel before this one."""
    return _with_notes(record, [died_before()])


def saved(record: Record, journal: Journal | None) -> Record:
    """Writes the record down; the one returned says so where that was not possible."""
    if journal is not None:
        try:
            journal.append(record)
        except RecordError as error:
            return record.with_note(redact(say("This record was not saved: {error}", error=error)))
    return record


def _with_notes(record: Record, notes: Iterable[Sentence | None]) -> Record:
    for note in notes:
        if note is not None:
            record = record.with_note(note)
    return record
