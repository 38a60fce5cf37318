"""Forty records that differ in what a receipt says of them; run as a script, it writes down what that is.

Python's tests and the browser's (labextension/test/record/{head,openreceipt}.test.ts) read the same file, so
that a record is in the same words wherever it is shown.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.record import decoding, units
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, GpuWork
from jupyter_mlgpu.record.limit import Limit, LimitKind
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import HOLDS_ONLY, DeviceUse, Fact, LogLine, RanOn, Record, Repeat
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page.view import TableData
from jupyter_mlgpu.show.receipts import figures_in_words, head, view
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.show.receipts.view import OpenReceiptData
from jupyter_mlgpu.testing import example_record

FILE = Path(__file__).parents[1] / "data" / "words" / "records.json"


def forty() -> dict[str, Record]:
    """The records, by what is special about each."""
    return dict(
        (*_times(), *_places(), *_limits(), *_gpus(), *_endings(), *_figures()),
    )


def told() -> list[dict[str, Any]]:
    """What is said of each: its head's parts in English, and each measured reading's figure."""
    return [
        {
            "name": name,
            "data": shown[MIME_TYPE],
            "plain": shown["text/plain"],
            "label": str(said.label),
            "line": " · ".join(said.named.values()),
            "messages": [str(one) for one in said.messages],
            "folded": said.folded,
            "figures": [
                [one.quantity, one.unit, one.value, units.figure(replace(one, uncertainty=None))]
                for one in record.readings
                if one.value is not None and not figures_in_words.is_slowed(one, record)
            ],
            "open": decoding.to_json(inside, texts=False),
            "inside": lines_of(inside),
        }
        for name, record in forty().items()
        for said, shown, inside in [(head.of(record), bundle(record), view.data(record))]
    ]


def lines_of(inside: OpenReceiptData) -> list[str]:
    """What an open receipt says, in English: a line a sentence or a row."""

    def rows(*tables: TableData | None) -> list[str]:
        found = [one for one in tables if one is not None]
        return [line for one in found for line in (one.caption, *map("\t".join, one.rows))]

    told = [
        inside.answer,
        inside.advice,
        *rows(inside.lines, inside.under_roof),
        inside.profiled,
        *rows(*inside.operations),
        inside.doubt,
        *rows(inside.evidence),
        *inside.places,
        *rows(*inside.work, inside.measured, inside.facts),
        *inside.left_out,
        *inside.missing,
        inside.versions,
    ]
    return [one.replace("`", "") for one in told if one]


def as_json() -> str:
    """The file: a record a line."""
    lines = ",\n".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in told())
    return f"[\n{lines}\n]\n"


def _with(*readings: Reading, **changes: Any) -> Record:
    """The example with these readings in place of its own of the same quantities."""
    given = {one.quantity for one in readings}
    kept = [one for one in example_record().readings if one.quantity not in given]
    return replace(example_record(), readings=(*readings, *kept), **changes)


def _of(quantity: str, value: float, unit: str) -> Reading:
    return Reading(quantity, value, unit, "cell", "other", 1, detail=say("a counter"))


def _times() -> Iterator[tuple[str, Record]]:
    for seconds in (0.000_000_4, 0.0123, 0.9996, 59.96, 3_725.0):
        yield f"a cell of {seconds} s", _with(_of("wall_time", seconds, "s"))
    yield "a time that is not known", _with(missing("wall_time", say("The clock went back.")))
    yield "a profiled cell", _with(mode="profiled")
    walls = (3.0, 1.25, 1.0, None, 1.5)
    yield "the last run of a cell that repeats", _with(repeat=Repeat(5, 4, walls), mode="profiled")
    yield "the warm-up of a cell that repeats", _with(repeat=Repeat(0, 4))


def _places() -> Iterator[tuple[str, Record]]:
    def entry(device: str, share: float | None, **more: Any) -> RanOn:
        return RanOn(more.pop("framework", "tensorflow"), device, "cpu", None, None, share, **more)

    def on(*ran_on: RanOn, **asked: str) -> Record:
        return _with(device=DeviceUse(asked, ran_on))

    yield "all of it on one device", on(entry("cpu:0", 1.0))
    two = (entry("cpu:0", 1.0), entry("gpu:0", 1.0, framework="torch"))
    yield "each framework on one device", on(*two)
    yield "nearly all of it on one of two devices", on(entry("gpu:0", 0.998), entry("cpu:0", 0.002))
    yield "elsewhere than asked for", on(entry("cpu:0", 1.0), tensorflow="gpu:0")
    yield "seen by memory alone", on(entry("gpu:0", None, framework="torch", evidence="allocator"))
    yield "no operations", on()
    unknown = DeviceUse({}, None, say("PyTorch does not tell."))
    yield "a device that is not known", _with(device=unknown, versions={"torch": "2.13.0"})
    yield "the only device", _with(device=replace(unknown, only={"torch": "cpu:0", "jax": "cpu:0"}))
    yield "a GPU named by its records", _with(device=unknown, gpu_work=(GpuWork("gpu:1", 9, 0.1),))


def _limits() -> Iterator[tuple[str, Record]]:
    def limited(kind: LimitKind, confidence: Any, share: float | None, samples: int = 0) -> Record:
        seen = Reading("samples_share", share or 0.0, "share", "cell", "other", samples)
        limit = Limit(
            kind=kind,
            said=say("So it is."),
            confidence=confidence,
            share=share,
            evidence=(seen,) if samples else (),
        )
        return _with(limit=limit)

    yield "a limit that is sure", limited("waiting", "sure", 0.86)
    yield "a limit that is likely, by few samples", limited("input", "likely", 0.55, 12)
    yield "a limit that is open", limited("python", "open", 0.97, 500)
    yield "a limit without a share", limited("contention", "likely", None)
    yield "a limit for all the time", limited("native", "sure", 1.0, 25)
    yield "a limit that is not known", limited("unknown", "open", None)


def _gpus() -> Iterator[tuple[str, Record]]:
    def busy(seconds: float, device: str = "gpu:0", scope: Any = "device") -> Reading:
        return Reading("device_time", seconds, "s", scope, "other", 9, device=device, detail=say("records"))

    work = GpuWork("gpu:0", 9, 0.1)
    yield "a GPU that was busy", _with(busy(0.14), gpu_work=(work,))
    later = replace(work, went_on=0.5)
    yield "a GPU that went on", _with(busy(0.9), gpu_work=(later,), asynchronous=True)
    yield "the busiest of two GPUs", _with(busy(0.1), busy(0.4, "gpu:1"))
    times = [busy(0.1 + 0.02 * number, f"gpu:{number}") for number in range(8)]
    works = [GpuWork(f"gpu:{number}", 9, 0.1, went_on=0.3 - 0.02 * number) for number in range(8)]
    yield (
        "the busiest of eight GPUs, of which another went on longest",
        _with(*times, gpu_work=tuple(works), asynchronous=True),
    )
    yield "a GPU by its driver's count", _with(busy(0.14, scope="process"))
    waited = missing("device_time", STILL_AT_WORK)
    yield "a GPU that is still at work", _with(waited, asynchronous=True)


def _endings() -> Iterator[tuple[str, Record]]:
    yield "a failed cell of a file", _with(outcome="error", origin="loaded")
    yield "an interrupted cell of a replayed log", _with(outcome="interrupted", origin="replayed")
    holds = {HOLDS_ONLY: Fact("definitions", say("the cell's code"))}
    yield "a cell that computed nothing", _with(facts=holds)
    lines = tuple(_line(verdict) for verdict in ("action", "harmless", "unknown", "unknown"))
    yield "messages to act on and unknown ones", _with(logs=lines)
    yield "a message after the cell had ended", _with(logs=(_line("info"), _line("fatal", late=True)))


def _line(verdict: Any, late: bool = False) -> LogLine:
    return LogLine(f"a {verdict} line", "a-line", verdict, None, None, {}, 1, "stderr", None, late)


def _figures() -> Iterator[tuple[str, Record]]:
    yield "energy in kilojoules", _with(_of("energy", 3_512.3, "J"))
    yield "energy in millijoules", _with(_of("energy", 0.012, "J"))
    yield (
        "pages and retries",
        _with(_of("major_faults", 2_000.0, "pages"), _of("allocator_retries", 3.0, "retries")),
    )
    rates = (_of("flop_rate", 1.23e10, "FLOP/s"), _of("byte_rate", 8.31e9, "bytes/s"))
    yield "rates", _with(*rates, _of("flops", 4.2e18, "FLOP"), _of("operation_rate", 950.0, "1/s"))
    parts = (_of("device_idle", 0.612, "share"), _of("flop_share", 0.413, "of the roof"))
    yield "shares, and memory of terabytes", _with(*parts, _of("peak_memory_process", 3.0 * 1024**4, "bytes"))


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(as_json(), encoding="utf-8")
