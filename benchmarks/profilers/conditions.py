"""Under what each cell is timed: bare, with our tracing, with a framework's profiler, with other tools.

Conditions that are compared share a kernel, and tools of different makers do not: what one leaves behind
then falls on its own bare cells alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from benchmarks.profilers.cells import Framework

BARE = "bare"
LIGHT = "light tracing"
PROFILER = "the framework's profiler"
OPS = "--ops"


@dataclass(frozen=True, slots=True)
class Condition:
    """How a cell is run: `before` is a cell that is run first, untimed; `over` stands above the cell."""

    name: str
    before: str = "pass"
    over: str = ""
    profiler: bool = False

    def code(self, cell: str, framework: Framework) -> str:
        """The cell as it is sent."""
        return self.over + (framework.profiler.format(cell=cell) if self.profiler else cell)


@dataclass(frozen=True, slots=True)
class Side:
    """A kernel and its conditions, the bare one first. `needs` is the package that must be installed.

    `teardown` is a cell that is run at the end. `every` says in which rounds it takes part: 3 is every third.
    Each takes part in one before the first.
    """

    name: str
    needs: str
    setup: str
    conditions: tuple[Condition, ...]
    every: int = 1
    teardown: str = "pass"


# The time that stopping takes belongs to the profiler; the rest of `finish` is reading and the table.
_PARSING = """
import importlib
import time
from jupyter_mlgpu.measure.ops.cell import CellProfile

spent = []

def take_time(owner, method, sign):
    original = getattr(owner, method)
    def timed(self):
        begun = time.perf_counter(), time.process_time()
        try:
            return original(self)
        finally:
            ended = time.perf_counter(), time.process_time()
            spent.append([sign * (end - begin) for begin, end in zip(begun, ended)])
    setattr(owner, method, timed)

module, _, name = "{session}".partition(":")
take_time(CellProfile, "finish", 1)
take_time(getattr(importlib.import_module(module), name), "_end", -1)
"""
#: What reading the last profile with --ops and making its table took: seconds, and of processor time.
PARSING = "[sum(each) for each in zip(spent.pop(), spent.pop())]"

_OFF = "%mlc_trace off"
_ON = "%mlc_trace on"
_LOAD = f"%load_ext jupyter_mlgpu\n{_OFF}"


#: Other makers' tools, by the names that their kernels have here.
TOOLS = ("JUmPER", "scalene", "viztracer")


def sides(framework: Framework, tools: Collection[str] = TOOLS) -> tuple[Side, ...]:
    """The kernels of a framework's cells: ours and the profiler's always, and those of `tools`."""
    parsing = _PARSING.format(session=framework.session)
    light = (Condition(BARE, _OFF), Condition(LIGHT, _ON))
    profiled = (
        Condition(BARE, _OFF),
        # The last profile is let go before, for that takes a while with PyTorch.
        Condition(PROFILER, f"profiler = None\n{_OFF}", profiler=True),
        Condition(OPS, _ON, over="%%mlc_trace --ops\n"),
    )
    ours = (
        Side("light", "jupyter_mlgpu", _LOAD, light),
        Side("profiled", "jupyter_mlgpu", f"{_LOAD}\n{parsing}", profiled),
    )
    others = (
        Side(
            "JUmPER",
            "jumper_extension",
            "%load_ext jumper_extension",
            (Condition(BARE, "%perfmonitor_stop"), Condition("JUmPER, 1 s", "%perfmonitor_start 1.0")),
            every=3,
            teardown="%perfmonitor_stop",  # its collector is a process of its own, which outlives the kernel
        ),
        Side(
            "scalene",
            "scalene",
            "%load_ext scalene",
            (Condition(BARE), Condition("scalene --cpu-only", over="%%scalene --cpu-only\n")),
            every=10,  # one cell can take half a minute
        ),
        Side(
            "viztracer",
            "viztracer",
            "%load_ext viztracer",
            (Condition(BARE), Condition("viztracer", over="%%viztracer\n")),
            every=3,
        ),
    )
    return (*ours, *(side for side in others if side.name in tools))
