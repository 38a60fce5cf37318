"""Benchmarks: measure how fast this machine computes, with intervals, and compare with published figures.

    import jupyter_mlgpu
    run = jupyter_mlgpu.bench("gemm", framework="torch", quick=True)

`jupyter_mlgpu.bench` is this package, and it can be called (docs/adr/0021).
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_mlgpu.experiment.bench.run import BenchRun


def bench(
    *cases: str, framework: str | None = None, device: str | None = None, quick: bool = False
) -> BenchRun:
    """Measure cases by name (`gemm`, `bandwidth`, ...; the small ones without any) and return the run.

    `framework` is one or several separated by commas, `device` a word such as `cpu` or `gpu:0`. An interrupt
    ends the run, which then has what was measured until then, with `outcome` "interrupted". Raises BenchError
    and UsageError.
    """
    from jupyter_mlgpu.experiment.bench import session
    from jupyter_mlgpu.experiment.bench.machine import local_monitor
    from jupyter_mlgpu.record.clock import SystemClock
    from jupyter_mlgpu.record.device_request import AUTO, DeviceWord

    names = tuple(one for one in (framework or "").lower().split(",") if one)
    order = session.Order(cases, names, AUTO if device is None else DeviceWord.parse(device), quick)
    return session.run(order, monitor=local_monitor(), clock=SystemClock()).run


class _Callable(ModuleType):
    """The package as a module that can be called: `jupyter_mlgpu.bench(...)`."""

    __call__ = staticmethod(bench)


sys.modules[__name__].__class__ = _Callable
