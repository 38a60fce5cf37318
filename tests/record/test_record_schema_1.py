"""Records of schema 1, in all files that have them here, are read and show the same figures."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tracked import tracked

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.schema_1 import upgraded
from jupyter_mlgpu.show.receipts import text
from jupyter_mlgpu.testing import example_record

ROOT = Path(__file__).resolve().parents[2]
FILES = [
    path
    for folder in ("notebooks", "binder", "tests")
    for path in tracked(ROOT / folder, "**/*")
    if path.suffix in (".jsonl", ".ipynb", ".json")
]


def records_in(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        if value.get("schema") == 1 and "run" in value and "readings" in value:
            yield value
        for one in value.values():
            yield from records_in(one)
    elif isinstance(value, list):
        for one in value:
            yield from records_in(one)


def saved() -> Iterator[tuple[str, dict[str, Any]]]:
    for path in FILES:
        content = path.read_text(encoding="utf-8")
        lines = content.splitlines() if path.suffix == ".jsonl" else [content]
        for line in lines:
            if '"readings"' in line:
                for data in records_in(json.loads(line)):
                    yield str(path.relative_to(ROOT)), data


def test_every_saved_record_is_read_with_the_same_figures():
    count = 0
    for name, data in saved():
        record = Record.from_json(data)
        told = [(one.quantity, one.value, one.unit, one.scope, one.instrument) for one in record.readings]
        before = [
            tuple(one[key] for key in ("quantity", "value", "unit", "scope", "source"))
            for one in data["readings"]
        ]
        assert told == before, name
        assert not any(one.source == "other" for one in record.readings), name
        assert text.receipt(record)
        assert Record.from_json(json.loads(json.dumps(record.to_json()))) == record
        count += 1
    assert count >= 28  # a guard against finding none: as many are left that were saved so


@pytest.mark.parametrize(
    ("source", "kind", "device"),
    [
        ("time.perf_counter_ns", "clock", None),
        ("tf.config.experimental.get_memory_info('GPU:1')", "allocator", "gpu:1"),
        ("Device.memory_stats of gpu:0", "allocator", "gpu:0"),
        ("NVML energy counter, all processes on GPU 0 (NVIDIA H200)", "NVML", "GPU 0 (NVIDIA H200)"),
        ("replayed from a.jsonl: NVML, all processes on GPU 1 (X), every 50 ms", "NVML", "GPU 1 (X)"),
        ("PyTorch's profiler, union of kernels and copies of gpu:0", "profiler", "gpu:0"),
        ("Apple's energy model of the Neural Engine: all programs", "Apple's energy model", "Neural Engine"),
        ("RAPL energy_uj of processor package: all programs", "RAPL", None),
        ("/proc/self/statm", "operating system", None),
        ("fake clock", "simulated", None),
        ("somebody's own", "other", None),
    ],
)
def test_the_text_of_a_source_becomes_its_kind_and_its_device(source: str, kind: str, device: str | None):
    data = json.loads(json.dumps(example_record().to_json())) | {"schema": 1}
    first = data["readings"][0]
    first["source"] = source
    first.pop("detail", None)
    reading = Record.from_json(data).readings[0]
    assert (reading.source, reading.instrument, reading.device) == (kind, source, device)


@pytest.mark.parametrize("readings", [None, 3, "text", [None], [{}], [{"source": 3}]])
def test_what_is_wrong_is_left_for_the_reader_to_refuse(readings: object):
    assert upgraded({"schema": 1, "readings": readings})["readings"] == readings
