"""Saves and loads records: `%mlc_trace save`, `load` and `replay`, and the sidebar's save request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from jupyter_mlgpu.jupyter.notebook.browser.channel import Channel
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record import files
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, below, joined, say, say_count

#: Most receipts that a replay shows under its cell; a file may hold thousands of records.
RECEIPTS = 10


def save(path: str, runtime: Runtime) -> Sentence:
    """Run `%mlc_trace save PATH`; return the text to print. Raises RecordError if it cannot be written."""
    count, problems = files.save_valid_records(path, runtime.store.records())
    saved = say_count(
        "Saved {count} record to {path}.", "Saved {count} records to {path}.", count, path=PurePath(path)
    )
    return below(saved, *problems)


def save_for_browser(content: Mapping[str, Any], runtime: Runtime) -> dict[str, Any]:
    """Save the records for a browser's `{"type": "save", "path": ...}`; return the text to show.

    The path is relative to the kernel's folder. Raises UsageError if it is no path, and RecordError if it
    cannot be written.
    """
    path = content.get("path")
    if not isinstance(path, str) or not path.strip():
        raise UsageError(say("Saving records needs a file name, for example records.jsonl."))
    return {"said": save(path, runtime)}


def load(path: str, runtime: Runtime, channel: Channel) -> Sentence:
    """Run `%mlc_trace load PATH`; return the text to print. Raises our errors if the file cannot be read."""
    records, problems = files.load_records(path)
    records = [_explained(record) for record in records]
    new, left_out = runtime.store.extend(records)
    channel.push({"type": "hello"})  # makes browsers request a snapshot, as there may be thousands of records
    known = len(records) - new - left_out
    if known and known == len(records):
        return below(_all_there(known, path), *problems)
    sentences = [
        say_count(
            "Loaded {count} record from {path}.",
            "Loaded {count} records from {path}.",
            new,
            path=PurePath(path),
        )
    ]
    if known:
        sentences.append(say("{count} more were already loaded.", count=known))
    if left_out:
        sentences.append(
            say(
                "{count} older ones did not fit: load part of the file, or run `%mlc_trace clear` first.",
                count=left_out,
            )
        )
    return below(joined(*sentences), *problems)


def replay(path: str, runtime: Runtime, channel: Channel) -> Sentence:
    """Run `%mlc_trace replay PATH`: show receipts, return the text to print. Raises errors as `load` does."""
    from jupyter_mlgpu.jupyter.notebook.cell import receipts
    from jupyter_mlgpu.measure.frameworks.replay import Replay  # rarely used

    records, problems = files.load_records(path)
    replay = Replay(list(map(_explained, records)), PurePath(path).name)
    played = replay.records
    new = [record for record in played if runtime.store.get(record.key) is None]
    _, left_out = runtime.store.extend(new)
    runtime.replays.append(replay)
    channel.push({"type": "hello"})  # as in `load`
    for record in new[:RECEIPTS]:
        receipts.show(record)
    sentences = [
        _all_there(len(played), path)
        if played and not new
        else say_count(
            "Replayed {count} record from {path}; nothing was run here.",
            "Replayed {count} records from {path}; nothing was run here.",
            len(new),
            path=PurePath(path),
        )
    ]
    if len(new) > RECEIPTS:
        sentences.append(
            say("The first {count} are shown here; the sidebar shows all of them.", count=RECEIPTS)
        )
    if left_out:
        sentences.append(
            say("The {count} oldest did not fit; `%mlc_trace clear` makes room.", count=left_out)
        )
    if 0 < len(new) < len(played):
        sentences.append(say("{count} were already loaded and are unchanged.", count=len(played) - len(new)))
    if len(played) < len(records):
        left = len(records) - len(played)
        sentences.append(say("{count} were left out because they do not say where they ran.", count=left))
    return below(joined(*sentences), *problems)


def _all_there(count: int, path: str) -> Sentence:
    return say_count(
        "The only record of {path} was already loaded.",
        "All {count} records of {path} were already loaded.",
        count,
        path=PurePath(path),
    )


def _explained(record: Record) -> Record:
    """Return the record with its lines explained: those of Apple's fork come as they were printed."""
    if all(line.verdict != "unknown" for line in record.logs):
        return record
    from jupyter_mlgpu.explain.logs.catalogue import Catalogue
    from jupyter_mlgpu.explain.logs.reexplain import explain_again

    return explain_again(record, Catalogue.load())
