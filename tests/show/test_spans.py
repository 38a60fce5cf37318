"""Records as OpenTelemetry spans, as the SDK's own exporter in memory gets them."""

import subprocess
import sys

import pytest
from msgspec.structs import replace

import jupyter_mlgpu
from jupyter_mlgpu.record.errors import MissingPackageError, RecordError
from jupyter_mlgpu.record.reading import missing
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.testing import example_record

pytestmark = pytest.mark.needs("opentelemetry")

#: 2026-01-01T00:00:00Z, the start of the example record, in nanoseconds.
BEGUN = 1_767_225_600_000_000_000
SECOND = 1_000_000_000


@pytest.fixture
def exported():
    """A function that exports records and returns the spans that the exporter got."""
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    def export(*records):
        exporter = InMemorySpanExporter()
        assert jupyter_mlgpu.export_spans(records, exporter) == len(exporter.get_finished_spans())
        return exporter.get_finished_spans()

    return export


def untimed(record):
    others = [one for one in record.readings if one.quantity != "wall_time"]
    return replace(record, readings=(missing("wall_time", Sentence("No clock.")), *others))


def test_a_span_has_the_name_and_times_of_its_cell(exported):
    (span,) = exported(example_record())
    assert span.name == "model.fit(x, y)"
    assert (span.start_time, span.end_time) == (BEGUN, BEGUN + SECOND // 2)
    assert span.parent is None
    assert span.attributes["mlgpu.run"] == "0" * 32
    assert span.instrumentation_scope.name == "jupyter_mlgpu"


def test_cells_of_a_run_are_placed_by_its_monotonic_clock(exported):
    # The computer's clock was set back between the two cells.
    later = replace(
        example_record(2), started_at="2025-12-31T00:00:00.000000Z", started_monotonic_ns=1_000 + 3 * SECOND
    )
    _, second = exported(example_record(1), later)
    assert second.start_time == BEGUN + 3 * SECOND


def test_figures_are_attributes_with_their_units_and_what_is_unknown_is_none(exported):
    (span,) = exported(example_record())
    assert span.attributes["mlgpu.wall_time_s"] == 0.5
    assert span.attributes["mlgpu.peak_memory_process_bytes"] == 512 * 1024**2
    assert "mlgpu.energy_J" not in span.attributes
    assert span.attributes["mlgpu.energy_why_missing"] == "Not measured here."


@pytest.mark.parametrize(("outcome", "type_"), [("error", "_OTHER"), ("interrupted", "KeyboardInterrupt")])
def test_a_failed_cell_has_the_status_error(exported, outcome, type_):
    ok, failed = exported(example_record(1), replace(example_record(2), outcome=outcome))
    assert ok.status.is_unset
    assert "error.type" not in ok.attributes
    assert (failed.status.is_ok, failed.status.description) == (False, outcome)
    assert failed.attributes["error.type"] == type_


def test_a_run_is_a_trace_and_a_record_has_the_same_ids_whenever_it_is_exported(exported):
    first, second, other = exported(example_record(1), example_record(2), example_record(1, run="1" * 32))
    assert first.context.trace_id == second.context.trace_id != other.context.trace_id
    assert len({one.context.span_id for one in (first, second, other)}) == 3
    (again,) = exported(example_record(1))
    assert again.context == first.context


def test_a_record_without_a_wall_time_has_no_end_and_is_left_out(exported):
    (span,) = exported(untimed(example_record(1)), example_record(2))
    assert span.attributes["mlgpu.cell"] == 2
    assert exported() == ()


def test_the_callers_tracer_provider_and_span_are_left_alone(exported):
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider

    before = trace.get_tracer_provider()
    with TracerProvider(shutdown_on_exit=False).get_tracer("mine").start_as_current_span("mine") as mine:
        (span,) = exported(example_record())
        assert trace.get_current_span() is mine
    assert span.parent is None
    assert trace.get_tracer_provider() is before


def test_an_exporter_that_fails_is_one_sentence():
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter = InMemorySpanExporter()
    exporter.shutdown()
    with pytest.raises(RecordError, match="The exporter reported a failure"):
        jupyter_mlgpu.export_spans([example_record()], exporter)


def test_without_the_sdk_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk", None)
    with pytest.raises(MissingPackageError, match=r"Exporting spans needs the package .*\[otel\]"):
        jupyter_mlgpu.export_spans([example_record()], None)


def test_opentelemetry_is_imported_only_to_export():
    code = "import sys, jupyter_mlgpu; jupyter_mlgpu.export_spans; print('opentelemetry' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
