"""PyTorch's array programs: plain loops over functions that write to an existing array (`out=`).

On CUDA, several small products are launched as one CUDA graph. float32 is multiplied in full precision, and
tf32 with `allow_tf32`, whatever the user's program has set. The user's setting is restored when the case
ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
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


class TorchPrograms(Programs):
    """PyTorch's implementation of each case."""

    def gemm(self, device: Device, n: int, type_: str) -> Loop:
        """Compute the same product again and again."""
        import torch

        refuse_type(device, type_)
        where, number = device.native_name, _dtype(type_)
        undo = _set_tf32(device, type_ == "tf32")
        a, b = (torch.randn(n, n, dtype=number, device=where) for _ in range(2))
        out = torch.empty_like(a)

        def product() -> None:
            torch.mm(a, b, out=out)

        if device.kind != "cuda" or n > SMALL_PRODUCT:
            return Loop(repeated(product), _wait(device), type_, _note(device, type_), undo)
        step, free = _graph(product, device)

        def undo_both() -> None:
            free()
            undo()

        return Loop(step, _wait(device), type_, _note(device, type_), undo_both)

    def stream(self, device: Device, operation: Operation, count: int) -> Loop:
        """Run one function per operation, which writes to its first input."""
        import torch

        x, c = (torch.randn(count, device=device.native_name) for _ in range(2))
        b = torch.randn(count, device=device.native_name).sign_()
        operations: dict[str, Callable[[], Any]] = {
            "add": lambda: torch.add(x, b, out=x),
            "mult": lambda: torch.mul(x, b, out=x),
            "mult-add": lambda: torch.addcmul(c, x, b, out=x),
        }
        return Loop(repeated(operations[operation]), _wait(device))

    def transfer(self, device: Device, direction: Direction, count: int) -> Loop:
        """Copy from and to pinned host memory, if the device has it."""
        import torch

        refuse_transfer_on_cpu(device)
        host = torch.zeros(count, pin_memory=device.kind in ("cuda", "rocm"))
        on_device = torch.zeros(count, device=device.native_name)
        wait = _wait(device)

        def ping_pong() -> None:
            on_device.copy_(host, non_blocking=True)
            on_device.add_(1)
            host.copy_(on_device, non_blocking=True)
            wait()
            host.add_(1)

        operations: dict[str, Callable[[], Any]] = {
            "to-device": lambda: on_device.copy_(host, non_blocking=True),
            "from-device": lambda: host.copy_(on_device, non_blocking=True),
            "ping-pong": ping_pong,
        }
        return Loop(repeated(operations[direction]), wait)

    def conv(self, device: Device, shape: ConvolutionCase) -> Loop:
        """Convolve in the channels-last memory format."""
        import torch

        number, last = _dtype(shape.type_), torch.channels_last
        undo = _set_tf32(device, False)
        options = {"dtype": number, "device": device.native_name}
        channels = shape.channels
        x = torch.randn(shape.batch, channels, shape.size, shape.size, **options).to(memory_format=last)
        conv2d = torch.nn.functional.conv2d
        if shape.separable:
            depthwise = torch.randn(channels, 1, 3, 3, **options).to(memory_format=last)
            pointwise = torch.randn(channels, channels, 1, 1, **options).to(memory_format=last)

            def step() -> None:
                conv2d(conv2d(x, depthwise, padding=1, groups=channels), pointwise)
        else:
            weights = torch.randn(channels, channels, 3, 3, **options).to(memory_format=last)

            def step() -> None:
                conv2d(x, weights, padding=1)

        run = repeated(step)

        def without_gradients(steps: int) -> None:
            with torch.inference_mode():
                run(steps)

        return Loop(without_gradients, _wait(device), shape.type_, _note(device, shape.type_), undo)

    def dispatch(self, device: Device, synchronised: bool) -> Loop:
        import torch

        x = torch.zeros(1, device=device.native_name)
        wait = _wait(device)

        def add_and_wait() -> None:
            x.add_(1)
            wait()

        return Loop(repeated(add_and_wait if synchronised else lambda: x.add_(1)), wait)


def _graph(product: Callable[[], None], device: Device) -> tuple[Callable[[int], None], Callable[[], None]]:
    """Capture several products as one CUDA graph.

    PyTorch's manual asks for a warm-up on a side stream. Returns a function that runs steps, and one that
    frees the graph and its memory, which counts as in use until then.
    """
    import torch

    with torch.cuda.device(device.native_name):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            product()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(AT_ONCE):
                product()

    def run(steps: int) -> None:
        many, single = divmod(steps, AT_ONCE)
        for _ in range(many):
            graph.replay()
        for _ in range(single):
            product()

    def free() -> None:
        graph.reset()
        torch.cuda.empty_cache()

    return run, free


def _wait(device: Device) -> Callable[[], None]:
    import torch

    if device.kind in ("cuda", "rocm"):
        return lambda: torch.cuda.synchronize(device.native_name)
    if device.kind == "metal":
        return lambda: torch.mps.synchronize()
    return lambda: None  # a CPU has finished when a call returns


def _dtype(type_: str) -> Any:
    import torch

    return getattr(torch, "float32" if type_ == "tf32" else type_)


def _note(device: Device, type_: str) -> str | None:
    import torch

    return emulated(device, type_, lambda: torch.cuda.get_device_capability(device.native_name))


def _set_tf32(device: Device, allowed: bool) -> Callable[[], None]:
    """Allow or forbid tf32 in products and convolutions; return a function that restores the setting."""
    import torch

    if device.kind != "cuda":
        return lambda: None
    settings = (torch.backends.cuda.matmul, torch.backends.cudnn)
    with warnings.catch_warnings():  # newer versions have a second name of this setting, and warn
        warnings.simplefilter("ignore")
        before = [one.allow_tf32 for one in settings]
        for one in settings:
            one.allow_tf32 = allowed

    def undo() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for one, was in zip(settings, before, strict=True):
                one.allow_tf32 = was

    return undo
