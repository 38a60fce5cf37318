"""Receipts and results of every kind, as a notebook saves them for front ends without our view."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu import compare
from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.graphs.planning.forecast import of_graph
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.graphs.planning.placing import target
from jupyter_mlgpu.measure.checking.compare import Deviation
from jupyter_mlgpu.measure.checking.result import ResultCheck, WrongResult
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.page.rendering import as_html, as_text
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.show.why.page import Reasons
from jupyter_mlgpu.testing import example_record, limited_record
from tests.show import forty_records
from tests.support import strips


def receipts() -> dict[str, dict[str, Any]]:
    """Return the bundle of each kind of receipt by its name."""
    forty = forty_records.forty()
    return {
        "plain cell": bundle(example_record()),
        "cell with a limit": bundle(limited_record()),
        "GPU strip": bundle(strips.judged("loader, no workers, run 1")),
        "GPU that goes on": bundle(strips.judged("ends before its work, run 1")),
        "error": bundle(forty["a failed cell of a file"]),
        "messages": bundle(forty["messages to act on and unknown ones"]),
        "time that is not known": bundle(forty["a time that is not known"]),
        "only a title": bundle(forty["a cell that computed nothing"]),
    }


def results() -> dict[str, Displayable]:
    """Return a result of each kind that a cell may end with, by its name."""
    return {
        "race": race(),
        "plan": plan(),
        "comparison": compare([_run(1, 1.0), _run(2, 1.1)], [_run(3, 2.0), _run(4, 2.2)]),
        "check": check(),
        "why": Reasons(limited_record()),
    }


def bundles() -> dict[str, dict[str, Any]]:
    """Return receipts and results, each with `text/html` and `text/plain`, by name."""
    pages = {
        name: {"text/html": one._repr_html_(), "text/plain": as_text(one)} for name, one in results().items()
    }
    uncharted = {"text/html": as_html(race()), "text/plain": as_text(race())}
    return {**receipts(), **pages, "race without charts": uncharted}


def race() -> RaceResult:
    """Return a race of two devices over three sizes."""

    def lane(device: str, *seconds: float) -> Lane:
        timings = (
            Timing(size, tuple(middle * (1 + place / 100) for place in range(-5, 6)), 2, True)
            for size, middle in zip((10, 100, 1000), seconds, strict=True)
        )
        return Lane(device, device.split(":")[0], None, tuple(timings))

    lanes = (lane("cpu:0", 1e-6, 1e-3, 1.0), lane("gpu:0", 1e-4, 1e-4, 1e-4))
    return RaceResult("x @ x", "torch", "n", 11, False, lanes, "ok", "2026-01-01T00:00:00Z", "fake clock")


def plan() -> Any:
    """Return a plan of ten operations, two of them for the CPU."""

    def node(place: int) -> Node:
        before = () if place == 0 else (Operand(f"main/{place - 1}", 0, "x"),)
        kind = "Relu" if place % 5 else "Einsum"
        return Node(
            f"main/{place}", kind, {"T": ("float32",)}, before, (), (GivenTensor("out", "float32", 4),)
        )

    body = Body("main", tuple(map(node, range(10))))
    return of_graph(FunctionGraph((body,)), target("metal"), "a graph")


def check() -> ResultCheck:
    """Return a check of a cell with one wrong result."""
    off = Deviation("value", (3,), "1.5", "1.2", 0.3, 1e-6, 2, 10)
    wrong = WrongResult("aten.cumsum", "line 3 of [5]", "mps", "float32", (10,), 0, off)
    return ResultCheck(5, 1, {"aten.eig": 2}, 0, 1, (wrong,), 1.0, 60.0)


def _run(number: int, seconds: float) -> Record:
    record = example_record(number)
    wall = replace(record.reading("wall_time"), value=seconds)
    others = (one for one in record.readings if one.quantity != "wall_time")
    return replace(record, readings=(wall, *others))
