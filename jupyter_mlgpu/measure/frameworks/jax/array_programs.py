"""JAX's array programs: compiled once, with donated buffers, so a step's result replaces its input.

float32 is multiplied in full precision ("highest"): JAX's own default on NVIDIA's GPUs is tf32.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import (
    AT_ONCE,
    SMALL_PRODUCT,
    ConvolutionCase,
    Direction,
    Loop,
    Operation,
    Programs,
    emulated,
    refuse_transfer_on_cpu,
    refuse_type,
    repeated,
)
from jupyter_mlgpu.measure.frameworks.jax.backend import native_device
from jupyter_mlgpu.record.errors import BenchError


class JaxPrograms(Programs):
    """JAX's implementation of each case."""

    def gemm(self, device: Device, n: int, type_: str) -> Loop:
        """Compile several small products as one program, in which each is the left factor of the next."""
        import jax

        refuse_type(device, type_)
        with _doubles(type_):
            a, b = (_normal(device, (n, n), type_, seed) for seed in (0, 1))
            # With this scale, products of products keep their magnitude.
            b = b / n**0.5
            precision = _precision(type_)
            if a.dtype != _dtype(type_):
                raise BenchError(f"JAX makes {a.dtype} of {type_} here, so there is no {type_} to measure.")
            at_once = AT_ONCE if n <= SMALL_PRODUCT else 1

            def products(a: Any, b: Any) -> Any:
                for _ in range(at_once):
                    a = jax.numpy.matmul(a, b, precision=precision)
                return a

            def product(a: Any, b: Any) -> Any:
                return jax.numpy.matmul(a, b, precision=precision)

            many, one = (jax.jit(program).lower(a, b).compile() for program in (products, product))

        last = a

        def run(steps: int) -> None:
            nonlocal last
            whole, single = divmod(steps, at_once)
            for _ in range(whole):
                last = many(a, b)
            for _ in range(single):
                last = one(a, b)

        return Loop(run, lambda: _wait(last), type_, _note(device, type_))

    def stream(self, device: Device, operation: Operation, count: int) -> Loop:
        """Compile one program per operation, which reads and writes once."""
        import jax

        x, c = (_normal(device, (count,), "float32", seed) for seed in (0, 1))
        b = jax.numpy.sign(_normal(device, (count,), "float32", 2))
        operations: dict[str, Callable[..., Any]] = {
            "add": lambda x, b: x + b,
            "mult": lambda x, b: x * b,
            "mult-add": lambda x, b, c: x * b + c,
        }
        others = (b, c) if operation == "mult-add" else (b,)
        return _donating(jax.jit(operations[operation], donate_argnums=0), x, others)

    def transfer(self, device: Device, direction: Direction, count: int) -> Loop:
        import jax
        import numpy as np

        refuse_transfer_on_cpu(device)
        where = native(device)
        at_host = np.zeros(count, np.float32)
        add = jax.jit(lambda x: x + 1)
        current: list[Any] = [jax.device_put(at_host, where)]
        first = current[0]

        def to_device() -> None:
            current[0] = jax.device_put(at_host, where)

        def from_device() -> None:
            # A new array each time: JAX caches what it fetched of one, and would not fetch it again.
            current[0] = add(first)
            np.asarray(current[0])

        def ping_pong() -> None:
            back = np.asarray(add(current[0]))
            current[0] = jax.device_put(back + 1, where)

        operations = {"to-device": to_device, "from-device": from_device, "ping-pong": ping_pong}
        note = None
        if direction == "from-device":
            note = "Each step has an addition on the device in it: JAX does not fetch the same array twice."
        return Loop(repeated(operations[direction]), lambda: _wait(current[0]), note=note)

    def conv(self, device: Device, shape: ConvolutionCase) -> Loop:
        """Convolve images with channels last."""
        import jax

        channels, type_ = shape.channels, shape.type_
        x = _normal(device, (shape.batch, shape.size, shape.size, channels), type_, 0)
        weights = _normal(device, (3, 3, 1 if shape.separable else channels, channels), type_, 1)
        pointwise = _normal(device, (1, 1, channels, channels), type_, 2)
        precision = _precision(type_)

        def convolved(x: Any, weights: Any, groups: int) -> Any:
            return jax.lax.conv_general_dilated(
                x,
                weights,
                (1, 1),
                "SAME",
                dimension_numbers=("NHWC", "HWIO", "NHWC"),
                feature_group_count=groups,
                precision=precision if precision == "highest" else None,
            )

        def step(x: Any, weights: Any, pointwise: Any) -> Any:
            if shape.separable:
                return convolved(convolved(x, weights, channels), pointwise, 1)
            return convolved(x, weights, 1)

        compiled = jax.jit(step)
        last = x

        def run(steps: int) -> None:
            nonlocal last
            for _ in range(steps):
                last = compiled(x, weights, pointwise)

        return Loop(run, lambda: _wait(last), type_, _note(device, type_))

    def dispatch(self, device: Device, synchronised: bool) -> Loop:
        import jax

        x = _normal(device, (1,), "float32", 0)
        return _donating(jax.jit(lambda x: x + 1, donate_argnums=0), x, (), wait_each=synchronised)


def _donating(program: Any, x: Any, others: tuple[Any, ...], *, wait_each: bool = False) -> Loop:
    """Return a loop in which each step's result is the next one's first argument."""

    def run(steps: int) -> None:
        nonlocal x
        for _ in range(steps):
            x = program(x, *others)
            if wait_each:
                _wait(x)

    return Loop(run, lambda: _wait(x))


def _wait(value: Any) -> None:
    value.block_until_ready()


def _normal(device: Device, shape: tuple[int, ...], type_: str, seed: int) -> Any:
    import jax

    with jax.default_device(native(device)):
        return jax.random.normal(jax.random.key(seed), shape, _dtype(type_))


def native(device: Device) -> Any:
    """Return JAX's own object for a device, on whichever of JAX's platforms it is."""
    found = native_device(device)
    if found is None:
        raise BenchError(f"JAX has no device {device.name}.")
    return found


def _dtype(type_: str) -> Any:
    import jax

    return jax.numpy.dtype("float32" if type_ == "tf32" else type_)


def _doubles(type_: str) -> AbstractContextManager[Any]:
    """Enable float64, which JAX replaces by float32 by default."""
    import contextlib

    import jax

    if type_ != "float64":
        return contextlib.nullcontext()
    enabled: AbstractContextManager[Any] = jax.enable_x64(True)
    return enabled


def _precision(type_: str) -> Any:
    import jax

    if type_ == "float32":
        return "highest"
    return jax.lax.DotAlgorithmPreset.TF32_TF32_F32 if type_ == "tf32" else None


def _note(device: Device, type_: str) -> str | None:
    def capability() -> tuple[int, int]:
        major, _, minor = str(native(device).compute_capability).partition(".")
        return int(major), int(minor or 0)

    return emulated(device, type_, capability)
