"""Answers requests for the page of one cell's record, also while another cell runs.

The requests use the control channel like those of `channel.py` and `live_counters.py`; `run` and `sequence`
identify the record:

    {"type": "inside", "run": ..., "sequence": 7}
    -> {"timeline": "kept", "samples": ..., "why_no_samples": null, "receipt": null}

`timeline` is `kept` if the kernel has the cell's events, for `inside_trace` below. Else it is `light` (no
profile was taken), `none` (nothing was recorded; the record's notes say why) or `gone` (its events are not
kept). `samples` are the memory samples of the live counters while the cell ran:
{"series": [...], "interval": 0.5, "samples": [[0.2, [1024]], ...]}, with series as in `live_counters.py` and
times in seconds from the cell's start. If it is null, `why_no_samples` is `short` (the cell was shorter than
two samples), `unwatched` (no browser showed the counters while it ran) or `gone` (they are no longer kept, or
the record is from another kernel). `receipt` is the content of the open receipt in the format of
`show/receipts/view.py`, null if the record is no longer kept.

    {"type": "inside_trace", ...} -> {"trace": "...", "events": 1200, "left_out": []}

is the cell's timeline for Perfetto, as `%mlc_trace export` writes it, its first `TRACE_ITEMS` events at most.

    {"type": "inside_record", ...} -> {"record": {...}}

is the record itself, as it is saved.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Literal

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.jupyter.notebook.browser.live_counters import INTERVAL
from jupyter_mlgpu.measure.probes.counter_samples import FEWEST
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.browser.messages import MemorySamplesData, RecordPageData

Answer = dict[str, Any]
Key = tuple[str, int]

#: Most events of a trace that is sent to a browser: 7 MB of JSON, made in less than a second.
TRACE_ITEMS = 50_000


@dataclass(eq=False, repr=False)
class RecordPages:
    """Answers requests for single records.

    `counters` returns the state of the live counters, as `LiveCounters.state` does; `now` is their clock.
    """

    runtime: Runtime
    counters: Callable[[], Mapping[str, Any] | None]
    now: Callable[[], float] = real_time.monotonic

    def answers(self) -> Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]:
        """Return the answers by request type, for `KernelChannel`."""
        return {
            "inside": self.inside,
            "inside_trace": self.trace,
            "inside_record": self.record,
            "answer": self.answer,
        }

    def record_made(self, record: Record) -> None:
        """Keep the live counters' samples of a cell that has just ended, because they soon drop them."""
        wall = record.reading("wall_time").value
        if wall is None or (state := self.counters()) is None or wall < state["interval"]:
            return
        # The record's clock and the counters' may differ by a constant, so both are read now.
        offset = self.now() - self.runtime.recorder.clock.monotonic_ns() / 1e9
        self.runtime.samples.add(record.key, state, record.started_monotonic_ns / 1e9 + offset, wall)

    def inside(self, content: Mapping[str, Any]) -> RecordPageData:
        """Return a record's memory samples and open receipt, with a reason for each part that is missing."""
        key = _key(content)
        record = self.runtime.store.get(key)
        has_events = any(one.events for one in self.runtime.profiles.get(key))
        samples = self.runtime.samples.get(key)
        return {
            "timeline": "kept" if has_events else _why_no_timeline(record),
            "samples": _of_memory(samples) if samples else None,
            "why_no_samples": None if samples else self._why_no_samples(record),
            "receipt": None if record is None else _receipt(record),
        }

    def trace(self, content: Mapping[str, Any]) -> Answer:
        """Return the trace of a profiled cell; raises UsageError if its events are not kept."""
        from jupyter_mlgpu.show.exporting import chrome, timeline

        record = self._record_named(content)
        profiles, samples = self.runtime.profiles.get, self.runtime.samples.get
        if not profiles(record.key):
            raise UsageError(
                say("The events of this cell are not kept: run it again with `%%mlc_trace --ops`.")
            )
        left_out = timeline.left_out([record], profiles, samples)
        items = timeline.items([record], profiles, samples)
        first = list(islice(items, TRACE_ITEMS))
        if next(items, None) is not None:
            left_out.append(
                say(
                    "Only its first {count} events are here; `%mlc_trace export` writes all of them.",
                    count=TRACE_ITEMS,
                )
            )
        about = {"written_by": f"jupyter_mlgpu {__version__}", "cells": 1, "left_out": left_out}
        file = io.BytesIO()
        count = chrome.write_to(file, first, about)
        return {"trace": file.getvalue().decode(), "events": count, "left_out": left_out}

    def record(self, content: Mapping[str, Any]) -> Answer:
        """Return the whole record; raises UsageError if it is not kept."""
        return {"record": self._record_named(content).to_json()}

    def answer(self, content: Mapping[str, Any]) -> Answer:
        """Return one sentence about all cells of this kernel, None without a timed cell."""
        from jupyter_mlgpu.show.receipts import notebook_answer

        return {"answer": decoding.to_json(notebook_answer.newest_in_words(self.runtime.store.records()))}

    def _record_named(self, content: Mapping[str, Any]) -> Record:
        record = self.runtime.store.get(_key(content))
        if record is None:
            raise UsageError(say("This kernel no longer holds the record."))
        return record

    def _why_no_samples(self, record: Record | None) -> Literal["short", "unwatched", "gone"]:
        if (
            record is None
            or self.runtime.samples.was_dropped(record.key)
            or record.run.id != self.runtime.recorder.run.id
        ):
            return "gone"
        wall = record.reading("wall_time").value
        return "short" if wall is not None and wall < FEWEST * INTERVAL else "unwatched"


def _why_no_timeline(record: Record | None) -> Literal["light", "none", "gone"]:
    if record is None or record.ops:
        return "gone"
    return "light" if record.mode == "light" else "none"


def _receipt(record: Record) -> Any:
    from jupyter_mlgpu.show.receipts import view  # slow to import: it loads the drawing of benchmarks

    return decoding.to_json(view.data(record), texts=False)


def _of_memory(samples: Answer) -> MemorySamplesData:
    memory = [number for number, series in enumerate(samples["series"]) if series["quantity"] == "memory"]
    rows: Any = [[at, [values[number] for number in memory]] for at, values in samples["samples"]]
    return {
        "series": [samples["series"][number] for number in memory],
        "interval": samples["interval"],
        "samples": rows,
    }


def _key(content: Mapping[str, Any]) -> Key:
    run, sequence = content.get("run"), content.get("sequence")
    if not isinstance(run, str) or not isinstance(sequence, int):
        raise UsageError(say("A record is identified by its run and sequence."))
    return run, sequence
