"""Run a case once more under its framework's profiler: how busy the device is, and with which kernels."""

from __future__ import annotations

import re
from collections import Counter

from jupyter_mlgpu.experiment.bench.result import KernelShare, Profiled
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner
from jupyter_mlgpu.measure.ops.busy import device_busy
from jupyter_mlgpu.measure.ops.cell import CellProfile, Find
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Number of kernels that a result keeps: those with the longest times.
KERNELS = 5
#: Seconds of steps to profile, as timed without a profiler. Each kernel leaves an event to be read.
WINDOW_S = 0.1
#: Arguments of C++ templates and functions, which make a name longer than any line.
_ARGUMENTS = re.compile(r"[<(].*", re.DOTALL)


def profiled(
    framework: str, device: Device, runner: CaseRunner, step_s: float, find: Find = registry.profiler
) -> Profiled | Sentence:
    """Return what the profiler of a framework shows of some steps, or why it shows nothing.

    `step_s` is what a step takes without a profiler, in seconds. `find` returns a framework's profiler.
    """
    steps = max(1, round(WINDOW_S / step_s))
    profile = CellProfile(find)
    try:
        profile.begin(framework)
        profile.cell_begins()
        runner.run(steps)
        runner.wait()
        profile.cell_ended()
        found = profile.finish()
    finally:
        profile.abandon()
    times: Counter[str] = Counter()
    for one in found.profiles:
        for event in one.events:
            if event.plane == "device" and event.device == device.name:
                times[short(event.name)] += event.duration_ns
    busy = [one for each in found.profiles for one in device_busy(each) if one.device == device.name]
    total = sum(times.values())
    if not total or not busy:
        return (
            joined(*found.notes)
            if found.notes
            else say("The profiler saw no kernel on {device}.", device=device.name)
        )
    kernels = tuple(KernelShare(name, spent / total) for name, spent in times.most_common(KERNELS))
    return Profiled(steps, 1 - busy[0].idle_share, kernels)


def short(name: str) -> str:
    """Return a kernel's name without the arguments of its template, and without its return type."""
    plain = name.removeprefix("void ").replace("(anonymous namespace)::", "")
    return _ARGUMENTS.sub("", plain) or name
