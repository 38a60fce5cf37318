"""Example records to show and to store."""

from __future__ import annotations

from msgspec.structs import replace

from jupyter_mlgpu.record.limit import Confidence, HotLine, Limit
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import Cell, DeviceUse, RanOn, Record, Run
from jupyter_mlgpu.record.sentence import Sentence, say

NO_STATISTICS = say("TensorFlow keeps no allocator statistics for {device}.", device="cpu:0")


def example_record(sequence: int = 1, *, run: str = "0" * 32, name: str = "model.fit(x, y)") -> Record:
    """Return a complete record with plausible values, to test code that shows records."""
    return Record(
        run=Run(run, "lesson.ipynb", "0" * 12),
        cell=Cell(sequence, f"cell-{sequence}", sequence, "0" * 16, name),
        started_at="2026-01-01T00:00:00.000000Z",
        started_monotonic_ns=1_000,
        outcome="ok",
        device=DeviceUse(
            {"*": "cpu:0"},
            (
                RanOn(
                    "tensorflow",
                    "cpu:0",
                    "cpu",
                    "/job:localhost/replica:0/task:0/device:CPU:0",
                    120,
                    1.0,
                ),
            ),
        ),
        readings=(
            Reading("wall_time", 0.5, "s", "cell", "simulated", 1, detail=Sentence("fake clock")),
            Reading("cpu_time", 0.9, "s", "process", "simulated", 1, detail=Sentence("fake probe")),
            missing("device_time", Sentence("Light tracing runs without a profiler.")),
            Reading(
                "peak_memory_process",
                512 * 1024**2,
                "bytes",
                "process",
                "simulated",
                1,
                detail=Sentence("fake probe"),
            ),
            missing(
                "peak_memory_allocator",
                NO_STATISTICS,
            ),
            missing("peak_memory_device", Sentence("Not measured here.")),
            Reading(
                "memory_process",
                384 * 1024**2,
                "bytes",
                "process",
                "simulated",
                1,
                detail=Sentence("fake probe"),
            ),
            missing(
                "memory_allocator",
                NO_STATISTICS,
            ),
            missing("energy", Sentence("Not measured here.")),
        ),
        versions={"python": "3.11", "tensorflow": "2.19.1"},
    )


def limited_record(sequence: int = 1, *, confidence: Confidence = "sure") -> Record:
    """Return the same with a limit: of 14.7 s, a loader in line 4 of the cell took most."""
    work = Sentence("{work} s of work in {wall} s", {"work": "2.0", "wall": "14.7"})
    wall = Reading("wall_time", 14.7, "s", "cell", "simulated", 1, detail=Sentence("fake clock"))
    busy = Reading("device_busy", 0.14, "share", "device", "simulated", 290, device="GPU 0")
    loading = Reading("samples_share", 0.82, "share", "cell", "simulated", 50, detail=Sentence("fake stack"))
    cpu = Reading("cpu_time", 13.9, "s", "process", "simulated", 1, detail=Sentence("fake probe"))
    record = example_record(sequence)
    return replace(
        record,
        readings=tuple(
            {"wall_time": wall, "cpu_time": cpu}.get(reading.quantity, reading) for reading in record.readings
        ),
        limit=Limit(
            "input",
            confidence,
            Sentence("Waited {share} of the time: the GPU had {work}.", {"share": "86 %", "work": work}),
            0.86,
            (loading, busy, cpu, missing("device_time", Sentence("Light tracing runs without a profiler."))),
            Sentence(
                "Let `DataLoader` prepare batches in other processes, or run it with `%%mlc_trace --ops`."
            ),
        ),
        lines=(
            HotLine(4, 41, 0.82, 0.6922, 0.9019, calls="next(batches)"),
            HotLine(5, 6, 0.12, 0.0562, 0.2380, calls="model.train_on_batch(x, y)"),
            HotLine(2, 3, 0.06, 0.0206, 0.1622, cell=3),
        ),
    )
