"""What a receipt says by itself of memory that grows from run to run."""

from __future__ import annotations

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.store import NEWEST, Store

#: Records before which no cell can have run often enough for growth to be told (see `growth.py`).
FEWEST_RECORDS = 5


def with_growth(record: Record, store: Store) -> Record:
    """The record of a cell, with a note for each of its blocks, and for the cell, where memory grows."""
    if len(store) < FEWEST_RECORDS:
        return record
    try:
        # Loaded when there is something to compare.
        from jupyter_mlgpu import growth
        from jupyter_mlgpu.render import growing

        grown = growth.of_blocks(store.made_during(record))
        if growth.may_be_growing(store.runs(record), record):
            newest = store.records()[-NEWEST:]
            grown = [*filter(None, [growth.of_run(newest, record)]), *grown]
        said = [sentence for one in grown if (sentence := growing.sentence(one)) is not None]
    except Exception as error:
        return record.with_note(f"Whether this cell's memory grows is not known ({error}).")
    for sentence in said:
        record = record.with_note(sentence)
    return record
