"""`%mlc_trace export`: writes a trace file or a folder of profiles."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, below, joined, say, say_count, with_commas
from jupyter_mlgpu.show.exporting import chrome, timeline, xprof

_HELP = say("For example `%mlc_trace export trace.json.gz`; `%mlc_trace?` explains.")

#: Most sentences on left-out parts that are printed; the trace file has all of them.
_MOST_SENTENCES = 5


def export(line: str, runtime: Runtime) -> Sentence:
    """Run `%mlc_trace export LINE`; return the text to print."""
    parser = magic_parser("%mlc_trace export", _HELP)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--cell")
    parser.add_argument("--xprof", action="store_true")
    arguments = parser.parse_line(line)
    if len(arguments.paths) != 1:
        found = with_commas(list(map(repr, arguments.paths)) or [say("none")])
        raise UsageError(joined(say("%mlc_trace export needs one path, found {found}.", found=found), _HELP))
    records: Sequence[Record] = runtime.store.records()
    if arguments.cell is not None:
        number = cellnumbers.cell_number(arguments.cell)
        records = cellnumbers.select(number, records, runtime.recorder.run.id)
    if not records:
        raise UsageError(say("Nothing to export yet: run a cell with tracing on."))
    path = Path(arguments.paths[0]).expanduser()
    return (_profiles if arguments.xprof else _trace)(path, records, runtime)


def _trace(path: Path, records: Sequence[Record], runtime: Runtime) -> Sentence:
    if not path.name.endswith((".json", ".json.gz")):
        raise UsageError(
            say(
                "A trace file must end in .json or .json.gz, found {found}.",
                found=repr(path.name),
            )
        )
    left_out = timeline.left_out(records, runtime.profiles.get, runtime.samples.get)
    about = {"written_by": f"jupyter_mlgpu {__version__}", "cells": len(records), "left_out": left_out}
    count = chrome.write(path, timeline.items(records, runtime.profiles.get, runtime.samples.get), about)
    wrote = say(
        "Wrote {events} events from {cells} to {path}, with operations for {profiled} of the "
        "cells. Open it with Perfetto (https://ui.perfetto.dev), which reads it in the "
        "browser and uploads nothing.",
        events=count,
        cells=say_count("{count} cell", "{count} cells", len(records)),
        path=path,
        profiled=sum(1 for record in records if runtime.profiles.get(record.key)),
    )
    return _with_sentences(wrote, left_out)


def _profiles(folder: Path, records: Sequence[Record], runtime: Runtime) -> Sentence:
    written, missing = xprof.write(folder, records, runtime.profiles.get)
    wrote = say_count(
        "Wrote {count} profile to {folder}. Open it with `xprof --logdir {quoted}`, or TensorBoard's profile "
        "plug-in.",
        "Wrote {count} profiles to {folder}. Open them with `xprof --logdir {quoted}`, or TensorBoard's "
        "profile plug-in.",
        len(written),
        folder=folder,
        quoted=shlex.quote(str(folder)),
    )
    return _with_sentences(wrote, missing)


def _with_sentences(head: Sentence, sentences: Sequence[str]) -> Sentence:
    more = len(sentences) - _MOST_SENTENCES
    cut = [say("And {count} more.", count=more)] if more > 0 else []
    return below(head, *sentences[:_MOST_SENTENCES], *cut)
