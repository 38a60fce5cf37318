"""TensorFlow's array programs: functions compiled by tf.function, with XLA if it fuses what is measured.

float32 is multiplied in full precision. tf32 is allowed only for the type tf32, and the user's setting is
restored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.frameworks import registry
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
)


class TensorFlowPrograms(Programs):
    """TensorFlow's implementation of each case."""

    def gemm(self, device: Device, n: int, type_: str) -> Loop:
        """Compile several small products as one graph, in which each is the left factor of the next."""
        import tensorflow as tf

        refuse_type(device, type_)
        undo = _set_tf32(type_ == "tf32")
        with tf.device(device.native_name):
            a = tf.random.normal((n, n), dtype=_dtype(type_))
            # With this scale, products of products keep their magnitude.
            b = tf.random.normal((n, n), stddev=n**-0.5, dtype=_dtype(type_))
        at_once = AT_ONCE if n <= SMALL_PRODUCT else 1

        def products(count: int) -> Any:
            def multiply(a: Any, b: Any) -> Any:
                for _ in range(count):
                    a = tf.matmul(a, b)
                return a

            return tf.function(multiply)

        many, one = products(at_once), products(1)
        last = a

        def run(steps: int) -> None:
            nonlocal last
            whole, single = divmod(steps, at_once)
            with tf.device(device.native_name):
                for _ in range(whole):
                    last = many(a, b)
                for _ in range(single):
                    last = one(a, b)

        return Loop(run, _wait, type_, _note(device, type_), undo)

    def stream(self, device: Device, operation: Operation, count: int) -> Loop:
        """Compile with XLA, except on Metal, which has none: a product with a sum then takes two passes."""
        import tensorflow as tf

        fused = device.kind != "metal"
        with tf.device(device.native_name):
            x, c = (tf.random.normal((count,)) for _ in range(2))
            b = tf.sign(tf.random.normal((count,)))
        operations: dict[str, Callable[..., Any]] = {
            "add": lambda x, b, c: x + b,
            "mult": lambda x, b, c: x * b,
            "mult-add": lambda x, b, c: x * b + c,
        }
        program = tf.function(operations[operation], jit_compile=fused)
        note = None
        if operation == "mult-add" and not fused:
            note = "Without XLA this runs as two operations, which move half as much again as is counted."
        return _loop(device, lambda x: program(x, b, c), x, note)

    def transfer(self, device: Device, direction: Direction, count: int) -> Loop:
        import tensorflow as tf

        refuse_transfer_on_cpu(device)
        with tf.device("/device:CPU:0"):
            at_host = tf.zeros((count,))
        with tf.device(device.native_name):
            on_device = tf.zeros((count,))

        def copied(value: Any, where: str) -> Any:
            with tf.device(where):
                return tf.identity(value)

        def ping_pong(value: Any) -> Any:
            with tf.device(device.native_name):
                back = tf.identity(value) + 1
            with tf.device("/device:CPU:0"):
                return tf.identity(back) + 1

        operations: dict[str, Callable[[Any], Any]] = {
            "to-device": lambda last: copied(at_host, device.native_name),
            "from-device": lambda last: copied(on_device, "/device:CPU:0"),
            "ping-pong": ping_pong,
        }
        last = at_host

        def run(steps: int) -> None:
            nonlocal last
            for _ in range(steps):
                last = operations[direction](last)

        return Loop(run, _wait)

    def conv(self, device: Device, shape: ConvolutionCase) -> Loop:
        """Convolve images with channels last."""
        import tensorflow as tf

        channels, number = shape.channels, _dtype(shape.type_)
        undo = _set_tf32(False)
        with tf.device(device.native_name):
            x = tf.random.normal((shape.batch, shape.size, shape.size, channels), dtype=number)
            weights = tf.random.normal((3, 3, channels, 1 if shape.separable else channels), dtype=number)
            pointwise = tf.random.normal((1, 1, channels, channels), dtype=number)

        def step(x: Any) -> Any:
            if shape.separable:
                depthwise = tf.nn.depthwise_conv2d(x, weights, (1, 1, 1, 1), "SAME")
                return tf.nn.conv2d(depthwise, pointwise, 1, "SAME")
            return tf.nn.conv2d(x, weights, 1, "SAME")

        program = tf.function(step)
        last = x

        def run(steps: int) -> None:
            nonlocal last
            with tf.device(device.native_name):
                for _ in range(steps):
                    last = program(x)

        return Loop(run, _wait, shape.type_, _note(device, shape.type_), undo)

    def dispatch(self, device: Device, synchronised: bool) -> Loop:
        """Run an eager operation."""
        import tensorflow as tf

        with tf.device(device.native_name):
            x, one = tf.zeros((1,)), tf.ones((1,))

        def step(x: Any) -> Any:
            x = tf.add(x, one)
            if synchronised:
                _wait()
            return x

        return _loop(device, step, x, None)


def _loop(device: Device, step: Callable[[Any], Any], x: Any, note: str | None) -> Loop:
    """Return a loop in which each step's result is the next one's argument."""
    import tensorflow as tf

    def run(steps: int) -> None:
        nonlocal x
        with tf.device(device.native_name):
            for _ in range(steps):
                x = step(x)

    return Loop(run, _wait, note=note)


def _wait() -> None:
    registry.backend("tensorflow").synchronize()


def _dtype(type_: str) -> Any:
    import tensorflow as tf

    return getattr(tf, "float32" if type_ == "tf32" else type_)


def _set_tf32(allowed: bool) -> Callable[[], None]:
    """Allow or forbid tf32 in products of float32; return a function that restores the setting."""
    import tensorflow as tf

    before = tf.config.experimental.tensor_float_32_execution_enabled()
    tf.config.experimental.enable_tensor_float_32_execution(allowed)
    return lambda: tf.config.experimental.enable_tensor_float_32_execution(before)


def _note(device: Device, type_: str) -> str | None:
    import tensorflow as tf

    def capability() -> tuple[int, int] | None:
        gpu = tf.config.list_physical_devices("GPU")[device.number]
        details: dict[str, Any] = tf.config.experimental.get_device_details(gpu)
        return details.get("compute_capability")

    return emulated(device, type_, capability)
