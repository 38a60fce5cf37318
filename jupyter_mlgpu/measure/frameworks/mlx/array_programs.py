"""MLX's array programs. MLX is lazy: a step creates an expression, and several are evaluated together.

Its arrays lie in memory that CPU and GPU share. So there is no transfer to measure except the ping-pong, in
which the CPU and the GPU work on the same numbers in turn.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import (
    ConvolutionCase,
    Direction,
    Loop,
    Operation,
    Programs,
    emulated,
    refuse_transfer_on_cpu,
    refuse_type,
)
from jupyter_mlgpu.measure.frameworks.mlx.backend import native
from jupyter_mlgpu.record.errors import BenchError

#: MLX's own setting, read when it starts (its manual, "Environment Variables" and "Precision"): on NVIDIA's
#: GPUs and from Apple's M5 on, products of float32 are computed with less precision unless it is 0.
IN_TF32 = "MLX multiplies float32 as tf32 on this GPU, unless MLX_ENABLE_TF32=0 is set before it starts."


class MlxPrograms(Programs):
    """MLX's implementation of each case."""

    def gemm(self, device: Device, n: int, type_: str) -> Loop:
        """Compute the same product again and again; MLX does not reuse the result."""
        import mlx.core as mx

        refuse_type(device, type_)
        if type_ == "tf32":
            raise BenchError("MLX chooses by itself between float32 and tf32, and cannot be told which.")
        if type_ == "float64" and device.kind != "cpu":
            raise BenchError("MLX has float64 on the CPU alone (its manual, Data Types).")
        where = native(device)
        number = getattr(mx, type_)
        with mx.stream(where):
            a, b = (mx.random.normal((n, n)).astype(number) for _ in range(2))
            mx.eval(a, b)
        return _independent(device, lambda: mx.matmul(a, b, stream=where), type_)

    def stream(self, device: Device, operation: Operation, count: int) -> Loop:
        """Run one function per operation; a product with a sum is one kernel through mx.compile."""
        import mlx.core as mx

        where = native(device)
        with mx.stream(where):
            x, c = (mx.random.normal((count,)) for _ in range(2))
            b = mx.sign(mx.random.normal((count,)))
            mx.eval(x, b, c)
        fused = mx.compile(lambda x, b, c: x * b + c)
        operations: dict[str, Callable[[Any], Any]] = {
            "add": lambda x: mx.add(x, b),
            "mult": lambda x: mx.multiply(x, b),
            "mult-add": lambda x: fused(x, b, c),
        }
        return _chained(device, operations[operation], x, at_once=1)

    def transfer(self, device: Device, direction: Direction, count: int) -> Loop:
        """Run the ping-pong; raise BenchError for the other directions."""
        import mlx.core as mx

        refuse_transfer_on_cpu(device)
        if direction != "ping-pong":
            raise BenchError(
                "MLX's arrays lie in memory that CPU and GPU share: there is nothing to transfer."
            )
        where = native(device)
        x = mx.zeros((count,))
        mx.eval(x)

        def step(x: Any) -> Any:
            return mx.add(mx.add(x, 1, stream=where), 1, stream=mx.cpu)

        return _chained(device, step, x, at_once=1)

    def conv(self, device: Device, shape: ConvolutionCase) -> Loop:
        """Convolve images with channels last."""
        import mlx.core as mx

        where, channels, number = native(device), shape.channels, getattr(mx, shape.type_)
        with mx.stream(where):
            x = mx.random.normal((shape.batch, shape.size, shape.size, channels)).astype(number)
            weights = mx.random.normal((channels, 3, 3, 1 if shape.separable else channels)).astype(number)
            pointwise = mx.random.normal((channels, 1, 1, channels)).astype(number)
            mx.eval(x, weights, pointwise)

        def step() -> Any:
            if shape.separable:
                depthwise = mx.conv2d(x, weights, padding=1, groups=channels, stream=where)
                return mx.conv2d(depthwise, pointwise, stream=where)
            return mx.conv2d(x, weights, padding=1, stream=where)

        return _independent(device, step, shape.type_)

    def dispatch(self, device: Device, synchronised: bool) -> Loop:
        """Add in a chain, of which 100 additions are evaluated together unless `synchronised`."""
        import mlx.core as mx

        x = mx.zeros((1,))
        mx.eval(x)
        return _chained(device, lambda x: mx.add(x, 1), x, at_once=1 if synchronised else 100)


def _independent(device: Device, step: Callable[[], Any], type_: str) -> Loop:
    """Return a loop of independent steps; each is launched, and its result is dropped."""
    import mlx.core as mx

    def run(steps: int) -> None:
        for _ in range(steps):
            mx.async_eval(step())

    if type_ == "float32" and _is_reduced(device):
        return Loop(run, _wait(device), "tf32", IN_TF32)
    return Loop(run, _wait(device), type_, emulated(device, type_, lambda: None))


def _chained(device: Device, step: Callable[[Any], Any], x: Any, *, at_once: int) -> Loop:
    """Return a loop in which each step's result is the next one's argument, evaluated `at_once` at a time."""
    import mlx.core as mx

    where = native(device)

    def run(steps: int) -> None:
        nonlocal x
        with mx.stream(where):
            for number in range(1, steps + 1):
                x = step(x)
                if number % at_once == 0:
                    mx.eval(x)
            mx.eval(x)

    return Loop(run, _wait(device))


def _wait(device: Device) -> Callable[[], None]:
    import mlx.core as mx

    stream = mx.default_stream(native(device))
    return lambda: mx.synchronize(stream)


def _is_reduced(device: Device) -> bool:
    """Return True if MLX multiplies float32 with less precision on a device."""
    import mlx.core as mx

    if device.kind == "cpu" or os.environ.get("MLX_ENABLE_TF32") == "0":
        return False
    chip = str(mx.device_info(native(device)).get("device_name", ""))
    early = any(chip.startswith(f"Apple M{number}") for number in (1, 2, 3, 4))
    return not (device.kind == "metal" and early)
