"""Records as OpenTelemetry spans: a span per record, in one trace per run."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.table_columns import columns_of
from jupyter_mlgpu.show.exporting.timeline import start_times


def export_spans(records: Iterable[Record], exporter: Any) -> int:
    """Give an OpenTelemetry SpanExporter a span per record, all at once, and return their number.

        records, problems = jupyter_mlgpu.load_records("records.jsonl")
        jupyter_mlgpu.export_spans(records, ConsoleSpanExporter())

    A span begins when its cell did and is as long as its wall time; a record without a wall time is left out.
    Its attributes are the columns of `records().to_frame()` with their units, as in `mlgpu.wall_time_s`. What
    is unknown has no attribute. A failed cell's span has the status ERROR and an `error.type`. The spans of a
    run share a trace, and exporting a record again gives the same ids. No tracer provider is set for the
    process, and nothing is exported unless this is called. Raises MissingPackageError without
    opentelemetry-sdk, RecordError if the exporter fails.
    """
    require(say("Exporting spans"), "otel", "opentelemetry.sdk")
    from opentelemetry.sdk.trace.export import SpanExportResult

    timed = [record for record in records if record.reading("wall_time").value is not None]
    spans = _spans(timed)
    if spans and exporter.export(spans) is not SpanExportResult.SUCCESS:
        raise RecordError("The exporter reported a failure; its log messages have the reason.")
    return len(spans)


def _spans(records: Sequence[Record]) -> tuple[Any, ...]:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.sdk.trace.sampling import ALWAYS_ON
    from opentelemetry.trace import StatusCode

    kept = InMemorySpanExporter()
    ids = _ids()
    provider = TracerProvider(sampler=ALWAYS_ON, id_generator=ids, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider.get_tracer("jupyter_mlgpu", __version__)
    starts = start_times(records)
    columns = [one for one in columns_of(records) if one.kind != "time"]
    for number, record in enumerate(records):
        ids.key = record.key
        # An empty context: the caller's own span is no parent of cells that ran before.
        span = tracer.start_span(record.cell.name or "cell", context=Context(), start_time=starts[record.key])
        for one in columns:
            if (value := one.values[number]) is not None:
                span.set_attribute("mlgpu." + re.sub(r"\W+", "_", one.name).strip("_"), value)
        if record.outcome != "ok":
            span.set_status(StatusCode.ERROR, record.outcome)
            # A record does not keep the exception's type; `_OTHER` is the convention's word for that.
            kind = "KeyboardInterrupt" if record.outcome == "interrupted" else "_OTHER"
            span.set_attribute("error.type", kind)
        span.end(starts[record.key] + round((record.reading("wall_time").value or 0) * 1e9))
    return tuple(kept.get_finished_spans())


def _ids() -> Any:
    """Return a generator that makes a span's ids from the `key` of its record."""
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    class Ids(IdGenerator):  # type: ignore[misc]  # the SDK's types are not read
        key = ("", 0)

        def generate_trace_id(self) -> int:
            return _digest(self.key[0], 16)

        def generate_span_id(self) -> int:
            return _digest(f"{self.key[0]} {self.key[1]}", 8)

    return Ids()


def _digest(text: str, size: int) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:size])
