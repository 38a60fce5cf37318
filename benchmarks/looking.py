"""What it costs to look for what stays on another device, and to watch and finish a cell, by framework.

    python -m benchmarks.looking

A model of about 260 weights is looked at, as after each cell that names it while a device is asked for, and
a small one of four. Medians of single calls, in microseconds. Frameworks that are not installed are named.
"""

from __future__ import annotations

import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.machine import describe
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend
from jupyter_mlgpu.record.extras import installed

CALLS = 200
LAYERS = {"small": 2, "large": 130}


def main() -> int:
    """Print a line a framework and model."""
    print("; ".join(f"{name} {value}" for name, value in describe(tuple(registry.FRAMEWORKS)).items()))
    for module, name in registry.MODULES.items():
        if not installed(module):
            print(f"{name:11} not installed here")
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the framework's own, while it is imported
            backend = registry.import_framework(name)
        device = backend.find_devices()[0]
        print(f"{name:11} watch and finish a cell: {_median(partial(_cell, backend)):5.0f} us")
        for size, layers in LAYERS.items():
            values = {"model": _MODELS[name](layers)}
            look = _median(partial(backend.misplaced_note, values, device))
            print(f"{name:11} look at a {size} model of {2 * layers} weights: {look:5.0f} us")
    return 0


def _median(call: Callable[[], Any]) -> float:
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter_ns()
        call()
        times.append((time.perf_counter_ns() - begun) / 1e3)
    return statistics.median(times)


def _cell(backend: Backend) -> None:
    backend.observe().finish()


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


def _mlx(layers: int) -> Any:
    return None


_MODELS: dict[str, Callable[[int], Any]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "mlx": _mlx,
}

if __name__ == "__main__":
    sys.exit(main())
