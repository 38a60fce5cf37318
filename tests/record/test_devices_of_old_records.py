"""Records of schema 1 had the devices asked for in a text, and idle shares as facts: they show the same."""

import json
from pathlib import Path

import pytest
from tracked import tracked

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts import text
from jupyter_mlgpu.testing import example_record

ROOT = Path(__file__).parents[2]
OLD_TIME = "fake profiler, union of kernels and copies of gpu:0"
OLD_IDLE = "fake profiler: 1 - (union of kernels and copies) / (the cell, from start to end)"


def old(requested: object = None, **facts: object) -> dict:
    data = {**example_record().to_json(), "schema": 1, "mode": "profiled"}
    data["device"]["requested"] = requested
    data["readings"][2] |= {"value": 0.2, "why_missing": None, "scope": "device", "source": OLD_TIME}
    data["readings"][2]["samples"] = 7
    data["facts"] = {name: {"value": value, "source": OLD_IDLE} for name, value in facts.items()}
    return data


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (None, {}),
        ("cpu:0", {"*": "cpu:0"}),
        ("gpu", {"*": "gpu"}),
        ("any", {"*": "any"}),
        ("jax cpu:1", {"jax": "cpu:1"}),
        ("torch gpu:0, jax cpu:0", {"torch": "gpu:0", "jax": "cpu:0"}),
        ("cpu, torch gpu", {"*": "cpu", "torch": "gpu"}),
        (", ,", {}),
        ({"torch": "gpu:0"}, {"torch": "gpu:0"}),
    ],
)
def test_the_device_asked_for_is_read_from_every_form_it_was_written_in(written, meant):
    record = Record.from_json(old(written))
    assert record.device.requested == meant
    assert Record.from_json(record.to_json()) == record


@pytest.mark.parametrize("written", [7, ["cpu"], {"torch": 1}])
def test_what_is_no_device_is_refused(written):
    with pytest.raises(RecordError, match="requested"):
        Record.from_json(old(written))


def test_an_idle_share_is_a_reading_of_its_device_with_the_figure_it_had():
    record = Record.from_json(old(**{"idle_share_of_gpu:0": 0.61, "gpu_name": "H200"}))
    idle = record.reading("device_idle")
    assert (idle.value, idle.unit, idle.scope, idle.device) == (0.61, "share", "device", "gpu:0")
    assert (idle.instrument, idle.samples) == (OLD_IDLE, 7)
    assert list(record.facts) == ["gpu_name"]
    assert "gpu:0 busy 39 % of the profiled cell" in text.receipt(record)


@pytest.mark.parametrize("value", ["most", None, 7, True, 1.5])
def test_a_fact_that_is_no_share_stays_a_fact_and_out_of_the_line(value):
    record = Record.from_json(old(**{"idle_share_of_gpu:0": value}))
    assert record.facts["idle_share_of_gpu:0"].value == value
    assert "busy" not in text.receipt(record)


def test_every_saved_record_reads_as_its_words_say():
    records = saved()
    for data in records:
        asked = data["device"]["requested"]
        if not isinstance(asked, dict):
            assert Record.from_json(data).device.asked_for == (asked or "")
    asked = [data["device"]["requested"] for data in records]
    assert all(form in asked for form in (None, "cpu:0", "torch gpu:0, jax cpu:0"))


def saved() -> list[dict]:
    """The records of schema 1 in the lessons, in what Binder shows, and in tests/data."""
    found: list[dict] = []
    for folder in ("notebooks", "binder", "tests/data"):
        for path in tracked(ROOT / folder, "**/*"):
            if path.suffix == ".jsonl":
                found += records_in([json.loads(line) for line in path.read_text("utf-8").splitlines()])
            elif path.suffix == ".ipynb":
                found += records_in(json.loads(path.read_text("utf-8")))
    return found


def records_in(value: object) -> list[dict]:
    if isinstance(value, dict):
        if value.get("schema") == 1 and "ran_on" in value.get("device", {}):
            return [value]
        value = list(value.values())
    return [record for part in value for record in records_in(part)] if isinstance(value, list) else []
