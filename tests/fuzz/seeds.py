"""Real files to begin with: receipts saved in the lessons, machines of the doctor's tests, logs, results."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from pathlib import Path
from typing import Any

from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.flight import flight_record as accounting
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.sharing import report
from jupyter_mlgpu.testing import FakeBackend, FakeClock, example_record
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case
from scripts.tracked import tracked

ROOT = Path(__file__).parents[2]


@cache
def notebooks() -> tuple[Any, ...]:
    """Lessons, each with its three cells of a receipt that are the shortest."""
    found = []
    for path in tracked(ROOT / "notebooks", "*.ipynb")[:8]:
        data = json.loads(path.read_bytes())
        cells = [cell for cell in data["cells"] if _records_of(cell)]
        data["cells"] = [data["cells"][0], *sorted(cells, key=lambda cell: len(json.dumps(cell)))[:3]]
        found.append(data)
    return tuple(found)


@cache
def records() -> tuple[tuple[Any, ...], ...]:
    """Records files, as lists of their lines: a lesson's, and one of our own making."""
    made = [example_record(number).to_json() for number in (1, 2, 3)]
    saved = [[one for cell in data["cells"] for one in _records_of(cell)] for data in notebooks()]
    return tuple(tuple(one) for one in (made, *saved) if one)


@cache
def facts() -> tuple[Any, ...]:
    """Healthy machines, and those somebody reported as broken."""
    folder = ROOT / "tests" / "explain" / "doctor"
    machines = {path.stem: json.loads(path.read_bytes()) for path in tracked(folder, "machines/*.json")}
    found = list(machines.values())
    for path in tracked(folder, "broken/*.json")[::4]:
        told = json.loads(path.read_bytes())
        found.append(_with(machines[told["machine"]], told["changes"]))
    return tuple(found)


@cache
def benches() -> tuple[Any, ...]:
    """Results of two small benchmarks."""
    found = []
    for seconds, watts in ((0.1, 300.0), (0.02, None)):
        clock = FakeClock()
        backend = FakeBackend("torch", devices=("gpu:0",))
        device: Device = backend.devices()[0]
        results = []
        for name, parameters in (
            ("gemm", {"n": 1024}),
            ("bandwidth", {"operation": "add"}),
            ("resnet50", {"mode": "train", "batch": 128}),
        ):
            case = dataclasses.replace(
                fake_case(FakeRunner(clock, [seconds]), name=name), framework="torch", parameters=parameters
            )
            result, _ = measure(
                case,
                device,
                backend=backend,
                monitor=FakeMonitor(clock, watts=watts),
                clock=clock,
                budget=Budget(repeats=4, sample_s=0.1, warm_up_s=1.0),
            )
            results.append(result)
        run = BenchRun(
            tuple(results),
            {"processor": "a chip"},
            {"torch": "2.13.0"},
            started_at="2026-11-22T01:00:00Z",
            clock="fake clock",
            quick=False,
            notes=("a note",),
        )
        found.append(json.loads(json.dumps(run.to_json())))
    return tuple(found)


@cache
def races() -> tuple[Any, ...]:
    """Races that were measured."""
    folder = ROOT / "docs" / "measurements" / "2026-11-21-h200-race"
    return tuple(json.loads(path.read_bytes()) for path in tracked(folder, "*.json"))


@cache
def logs() -> tuple[bytes, ...]:
    """Pieces of logs: messages of every kind that is known, and ordinary lines."""
    data = ROOT / "tests" / "data"
    known = [json.loads(line) for line in (data / "messages.jsonl").read_text("utf-8").splitlines()]
    texts = [str(one["template"]) for one in known]
    ordinary = (data / "ordinary_lines.txt").read_bytes().splitlines()
    pieces = [texts[at : at + 12] for at in range(0, len(texts), 40)]
    return (
        *("\n".join(piece).encode() + b"\n" for piece in pieces),
        b"\n".join(ordinary[:30]) + b"\n",
        b"10%|#   | 1/10\r20%|##  | 2/10\r\n" * 5,
    )


@cache
def reports() -> tuple[Any, ...]:
    """What two students' kernels send to the teacher's view."""
    run = "0" * 32
    reading = report.SharedReading("wall_time", 0.5, "s", "cell", "clock", 1)
    record = report.SharedRecord(
        f"{run}-1", run, 1, 7, 1.7e9, "ok", "tensorflow", "2.19.1", "cpu", (reading,)
    )
    check = report.SharedCheck("add_three", True, 2)
    full = report.Report(report.SCHEMA, "02_adding_tensors", 1.7e9, (record,), (check,))
    empty = report.Report(report.SCHEMA, None, 1.7e9, (), ())
    return (report.to_json(full), report.to_json(empty))


@cache
def answers() -> tuple[Any, ...]:
    """What the teacher's view answers."""
    return ({"acknowledged": ["0" * 32 + "-1"]}, {"error": "The report is too large."})


@cache
def recordings() -> tuple[Any, ...]:
    """Figures of another machine, as the package brings them."""
    folder = ROOT / "jupyter_mlgpu" / "teach" / "lessons" / "recordings"
    return tuple(json.loads(path.read_bytes()) for path in tracked(folder, "*.json"))


def _records_of(cell: Any) -> list[Any]:
    bundles = [output.get("data", {}) for output in cell.get("outputs", ())]
    return [data[MIME_TYPE] for data in bundles if MIME_TYPE in data]


def _with(machine: Any, changes: dict[str, Any]) -> Any:
    data = json.loads(json.dumps(machine))
    for way, value in changes.items():
        *parents, last = way.split("/")
        place = data
        for step in parents:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if value == "<delete>":
            del place[int(last) if isinstance(place, list) else last]
        else:
            place[int(last) if isinstance(place, list) else last] = value
    return data


@cache
def account_states() -> tuple[Any, ...]:
    """What kernels have written down of themselves: one that has just begun, and one in a large cell."""
    fresh = accounting.KernelState(1, 4711, 1e9, "run", "host", 1e9)
    sample = accounting.MemorySample(
        1e9,
        2**33,
        2**34,
        2**35,
        2**33,
        2**34,
        0,
        2**31,
        (accounting.DeviceMemorySample("GPU 0", 2**33, 2**35),),
        accounting.OomKills(0, 3),
    )
    full = accounting.KernelState(
        1,
        4711,
        1e9,
        "run",
        "host",
        1e9,
        accounting.CellName(3, "model.fit(x)"),
        sample,
        2**31,
        ("2026-11-24 08:00:00.123456: F tensorflow/core/x.cc:12] Check failed: ok", "RESOURCE_EXHAUSTED: no"),
    )
    return tuple(json.loads(decoding.to_bytes(one)) for one in (fresh, full))


def account_with(state: bytes) -> bytes:
    """The file of an account with this for a state, and right checksums."""
    data = bytearray(accounting.SIZE)
    pages = accounting.Pages(data)
    pages.put_at(accounting.At("running", 1e9, 3, 7, 0, 12))
    pages.put_text(state[:15_000])
    return bytes(data)


@cache
def flight() -> tuple[bytes, ...]:
    """Whole accounts."""
    return tuple(account_with(json.dumps(one).encode()) for one in account_states())


@cache
def endings() -> tuple[Any, ...]:
    """How kernels ended, as servers wrote it down."""
    lines = ("terminate called after throwing an instance of 'std::bad_alloc'", "  what():  std::bad_alloc")
    counted = accounting.OomKills(1, 4)
    some = (
        ExitReport(),
        ExitReport(1, 4711, -6, False, 1e9, accounting.OomKills(), counted, "container", lines),
    )
    return tuple(json.loads(decoding.to_bytes(one)) for one in some)


def roofs() -> tuple[Any, ...]:
    """A file of two measured roofs, as a benchmark keeps it."""
    one = {
        "machine": "0" * 12,
        "framework": "torch",
        "device": "gpu:0",
        "hardware": "NVIDIA H100",
        "type": "bfloat16",
        "rate": 7e14,
        "samples": 9,
        "measured_at": "2026-11-24T12:00:00Z",
        "version": "2.11.0",
        "case": "gemm n=8192 bfloat16",
    }
    memory = one | {"type": "memory", "rate": 2.9e12, "case": "bandwidth add MiB=256 float32"}
    return ({"schema": 1, "kind": "jupyter_mlgpu roofs", "roofs": [one, memory]},)
