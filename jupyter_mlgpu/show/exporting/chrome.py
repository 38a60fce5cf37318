"""Writes a timeline in the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

The format is described in "Trace Event Format", Google; this is its JSON Object Format. Times are in
microseconds with three decimals, so that nanoseconds stay exact. Events are written one at a time, so the
memory needed does not grow with the trace.
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record.files import writing
from jupyter_mlgpu.show.exporting.timeline import CLOCK, Item

#: Most characters of a name, or of a text in an event's arguments.
_LONGEST = 2_000


def write(path: Path, items: Iterable[Item], about: dict[str, Any]) -> int:
    """Write a trace in one step, compressed if the path ends in .gz. Return the number of its events.

    `about` becomes the trace's `otherData`. Raises RecordError, with the path, if it cannot be written. An
    existing file is then unchanged.
    """
    with writing(path) as file:
        if path.suffix == ".gz":
            # No file name and no time inside, so that the same trace gives the same bytes.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=5, mtime=0) as packed:
                return write_to(packed, items, about)
        return write_to(file, items, about)


def write_to(file: Any, items: Iterable[Item], about: dict[str, Any]) -> int:
    """Write a trace into a file that is open in binary mode. See `write`."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="\n")
    count = 0
    text.write('{"displayTimeUnit":"ns","otherData":')
    text.write(_json({"clock": CLOCK, **about}))
    text.write(',"traceEvents":[')
    for item in items:
        text.write(",\n" if count else "\n")
        text.write(event(item))
        count += 1
    text.write("\n]}\n")
    text.flush()
    text.detach()
    return count


def event(item: Item) -> str:
    """Return one event as JSON."""
    if item.kind == "name":
        what = "thread_name" if item.track else "process_name"
        return _json({"ph": "M", "name": what, **_place(item), "args": {"name": item.name[:_LONGEST]}})
    table: dict[str, Any] = {"ph": _PHASES[item.kind], "name": item.name[:_LONGEST], **_place(item)}
    if item.category:
        table["cat"] = item.category
    if item.kind == "instant":
        table["s"] = "p"
    if item.args:
        table["args"] = {
            name: value[:_LONGEST] if isinstance(value, str) else value for name, value in item.args.items()
        }
    times = f',"ts":{_microseconds(item.start_ns)}'
    if item.kind == "slice":
        times += f',"dur":{_microseconds(item.duration_ns)}'
    return f"{_json(table)[:-1]}{times}}}"


_PHASES = {"slice": "X", "instant": "i", "counter": "C"}


def _place(item: Item) -> dict[str, int]:
    return {"pid": item.process, "tid": item.track}


def _microseconds(nanoseconds: int) -> str:
    sign = "-" if nanoseconds < 0 else ""
    whole, rest = divmod(abs(nanoseconds), 1000)
    return f"{sign}{whole}.{rest:03d}"


def _json(value: Any) -> str:
    # A name may contain a lone surrogate, which UTF-8 cannot encode.
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode(errors="replace").decode()
