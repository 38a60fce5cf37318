"""What it costs to send one cell to a device and to take it back: enter and leave, a framework at a time.

    python -m benchmarks.device_scope

Target: at most 20 us each, and as much for what a cell pays: finding the device by its name, entering and
leaving it. Each figure is the median of many single calls, with the 95th percentile beside it; the first,
which imports what it needs, stands apart. Frameworks that are not installed are named.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings

from benchmarks.machine import describe
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.extras import installed

CALLS = 2_000
TARGET_US = 20.0


def main() -> int:
    """Print a line a device; the exit status is 1 where a median is above the target."""
    print("; ".join(f"{name} {value}" for name, value in describe(tuple(registry.FRAMEWORKS)).items()))
    missed = False
    for module, name in registry.MODULES.items():
        if not installed(module):
            print(f"{name:11} not installed here")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the framework's own, while it is imported
            backend = registry.import_framework(name)
        for device in _with_the_costly_one(backend):
            missed |= _measure(backend, device)
    return int(missed)


def _with_the_costly_one(backend: Backend) -> list[Device]:
    """All devices; for PyTorch also one that is not the default, where there is no GPU: it costs most."""
    devices = list(backend.find_devices())
    if backend.name == "torch" and len(devices) == 1:
        devices.append(Device("torch", "meta:0", "meta", "meta"))
    return devices


def _measure(backend: Backend, device: Device) -> bool:
    entered, left = [], []
    for _ in range(CALLS + 1):
        begun = time.perf_counter_ns()
        scope = backend.enter(device)
        between = time.perf_counter_ns()
        scope.leave()
        left.append((time.perf_counter_ns() - between) / 1e3)
        entered.append((between - begun) / 1e3)
    whole = _selected(backend, device)
    figures = []
    for what, times in (("enter", entered), ("leave", left), ("both, with finding the device", whole)):
        if not times:
            continue
        first, rest = times[0], times[1:]
        middle, high = statistics.median(rest), statistics.quantiles(rest, n=20)[-1]
        figures.append(f"{what} {middle:5.1f} us (95 % below {high:.1f}, first {first:.0f})")
    missed = max(map(statistics.median, (entered, left, whole or [0.0]))) > TARGET_US
    verdict = "missed" if missed else "holds"
    print(f"{backend.name:11} {device.name:7} {'  '.join(figures)}  {verdict}")
    return missed


def _selected(backend: Backend, device: Device) -> list[float]:
    """What a cell pays: the device is found by its name, entered and left."""
    if device not in backend.find_devices():
        return []
    selection = DeviceSelection(lambda: [backend])
    selection.select(DeviceWord.parse(device.name))
    times = []
    for _ in range(CALLS + 1):
        begun = time.perf_counter_ns()
        selection.enter()
        selection.leave()
        times.append((time.perf_counter_ns() - begun) / 1e3)
    return times


if __name__ == "__main__":
    sys.exit(main())
