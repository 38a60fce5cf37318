"""`%mlc_trace export`: the words typed, to a trace or a folder of profiles."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.jupyter.notebook.cell_numbers import cell_number, of_cell
from jupyter_mlgpu.measure.kit import Kit
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.exporting import chrome, timeline, xprof

_HELP = "for example `%mlc_trace export trace.json.gz`; `%mlc_trace?` explains."

#: Sentences on what was left out that are printed; the trace has all of them.
_SAID = 5


@dataclass(frozen=True, slots=True)
class _Asked:
    path: Path
    cell: int | None
    xprof: bool


def export(words: str, kit: Kit) -> str:
    """`%mlc_trace export WORDS`; returns what to print."""
    asked = _asked(words)
    records: Sequence[Record] = kit.store.records()
    if asked.cell is not None:
        records = [of_cell(records, asked.cell, kit.recorder.run.id)]
    if not records:
        raise UsageError("There is nothing to export yet: run a cell with tracing on.")
    return _profiles(asked.path, records, kit) if asked.xprof else _trace(asked.path, records, kit)


def _trace(path: Path, records: Sequence[Record], kit: Kit) -> str:
    if not path.name.endswith((".json", ".json.gz")):
        raise UsageError(f"A trace is written to a file that ends in .json or .json.gz, found {path.name!r}.")
    left_out = timeline.left_out(records, kit.profiles.get, kit.looks.get)
    about = {"written_by": f"jupyter_mlgpu {__version__}", "cells": len(records), "left_out": left_out}
    count = chrome.write(path, timeline.items(records, kit.profiles.get, kit.looks.get), about)
    profiled = sum(1 for record in records if kit.profiles.get(record.key))
    head = (
        f"Wrote {count:,} events of {_cells(len(records))} to {path}, operations of {profiled:,} of them. "
        "Open it with Perfetto (https://ui.perfetto.dev), which reads it in the browser and uploads nothing."
    )
    return _with(head, left_out)


def _profiles(folder: Path, records: Sequence[Record], kit: Kit) -> str:
    written, missing = xprof.write(folder, records, kit.profiles.get)
    head = (
        f"Wrote {len(written):,} {'profile' if len(written) == 1 else 'profiles'} to {folder}. "
        f"Open them with `xprof --logdir {shlex.quote(str(folder))}`, or TensorBoard's profile plug-in."
    )
    return _with(head, missing)


def _with(head: str, sentences: Sequence[str]) -> str:
    more = len(sentences) - _SAID
    return "\n".join([head, *sentences[:_SAID], *([f"And {more:,} more."] if more > 0 else [])])


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count:,} cells"


def _asked(line: str) -> _Asked:
    try:
        words = shlex.split(line)
    except ValueError:
        raise UsageError(f"A quote is left open in {line!r}.") from None
    cell: int | None = None
    as_xprof = False
    paths = []
    while words:
        word = words.pop(0)
        if word == "--cell":
            cell = cell_number(words.pop(0) if words else "")
        elif word == "--xprof":
            as_xprof = True
        elif word.startswith("--"):
            raise UsageError(f"Unknown option {word!r} after %mlc_trace export: it has --cell and --xprof.")
        else:
            paths.append(word)
    if len(paths) != 1:
        found = "none" if not paths else ", ".join(map(repr, paths))
        raise UsageError(f"%mlc_trace export needs one path, found {found}: {_HELP}")
    return _Asked(Path(paths[0]).expanduser(), cell, as_xprof)
