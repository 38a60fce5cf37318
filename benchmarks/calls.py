"""Measure what our own calls around a cell cost, for each framework that is installed.

Choosing a device: entering and leaving it, and both with finding it by its name (target: 20 us each). Looking
for values on another device, as after each cell that names them while a device is asked for: a small model of
4 weights and a large one of 260. Single calls in this process, without a kernel.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.report import US, Figure, Table, median_figure
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.extras import installed

PACKAGES = tuple(registry.FRAMEWORKS)
#: Seconds.
TARGET = 20e-6
CALLS, LOOKS = 2_000, 200
#: Layers, each with two weights.
LAYERS = {"small": 2, "large": 130}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing: this case takes seconds."""


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Measure each framework."""
    for module, name in registry.MODULES.items():
        if not installed(module):
            print(f"{name}: not installed in this Python", file=sys.stderr)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the framework's own, while it is imported
            backend = registry.import_framework(name)
        figures = [one for device in _devices(backend) for one in _choosing(backend, device)]
        yield Table(f"{name}: single calls", [*figures, *_looking(backend)])


def _devices(backend: Backend) -> list[Device]:
    """Return all devices, and without a GPU PyTorch's `meta`: one that is not the default costs most."""
    devices = list(backend.find_devices())
    if backend.name == "torch" and len(devices) == 1:
        devices.append(Device("torch", "meta:0", "meta", "meta"))
    return devices


def _choosing(backend: Backend, device: Device) -> list[Figure]:
    entered, left = [], []
    for _ in range(CALLS + 1):
        begun = time.perf_counter()
        scope = backend.enter(device)
        between = time.perf_counter()
        scope.leave()
        left.append(time.perf_counter() - between)
        entered.append(between - begun)
    figures = [
        _figure(f"enter {device.name}", entered, TARGET),
        _figure(f"leave {device.name}", left, TARGET),
    ]
    if device in backend.find_devices():
        selection = DeviceSelection(lambda: [backend])
        selection.select(DeviceWord.parse(device.name))

        def select() -> None:
            selection.enter()
            selection.leave()

        whole = _times(select, CALLS)
        figures.append(_figure(f"find {device.name} by its name, enter and leave it", whole, TARGET))
    return figures


def _looking(backend: Backend) -> list[Figure]:
    figures = [_figure("watch and finish a cell", _times(lambda: backend.observe().finish(), LOOKS))]
    device = backend.find_devices()[0]
    for size, layers in LAYERS.items():
        values = {"model": _MODELS[backend.name](layers)}
        times = _times(partial(backend.stays, values, device), LOOKS)
        figures.append(_figure(f"look at a {size} model of {2 * layers} weights", times))
    return figures


def _times(call: Callable[[], object], count: int) -> list[float]:
    """Return the seconds of the first call, and of `count` more."""
    times = []
    for _ in range(count + 1):
        begun = time.perf_counter()
        call()
        times.append(time.perf_counter() - begun)
    return times


def _figure(name: str, times: list[float], target: float | None = None) -> Figure:
    """Return the median; the first call, which imports what it needs, stands apart."""
    first, *rest = times
    columns = {"first": US.text(first), "95 % below": US.text(statistics.quantiles(rest, n=20)[-1])}
    return median_figure(name, rest, US, target, columns)


def _tensorflow(layers: int) -> Any:
    import keras

    return keras.Sequential([keras.Input((2,)), *(keras.layers.Dense(2) for _ in range(layers))])


def _torch(layers: int) -> Any:
    import torch

    return torch.nn.Sequential(*(torch.nn.Linear(2, 2) for _ in range(layers)))


def _jax(layers: int) -> Any:
    import jax

    device = jax.devices("cpu")[0]
    return [jax.device_put(jax.numpy.ones(2), device) for _ in range(2 * layers)]


_MODELS: dict[str, Callable[[int], Any]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "mlx": lambda layers: None,
}
