"""PyTorch's array programs: plain loops over functions that write into an array made before (`out=`).

On CUDA small products go as a CUDA graph of several. float32 is multiplied in full precision and tf32 with
`allow_tf32`, whatever the user's program has set; what it had set is put back when the case ends.
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
    host_is_device,
    portions,
    refuse_type,
    repeated,
)


class TorchPrograms(Programs):
    """PyTorch's steps of each case."""

    def gemm(self, device: Device, n: int, type_: str) -> Loop:
        """The same product again and again, as PyTorch works each one out."""
        import torch

        refuse_type(device, type_)
        where, number = device.native_name, _dtype(type_)
        undo = _tf32(device, type_ == "tf32")
        a, b = (torch.randn(n, n, dtype=number, device=where) for _ in range(2))
        out = torch.empty_like(a)

        def product() -> None:
            torch.mm(a, b, out=out)

        if device.kind != "cuda" or n > SMALL_PRODUCT:
            return Loop(repeated(product), _waiting(device), type_, _note(device, type_), undo)
        step, let_go = _graph(product, device)

        def undo_both() -> None:
            let_go()
            undo()

        return Loop(step, _waiting(device), type_, _note(device, type_), undo_both)

    def stream(self, device: Device, operation: Operation, count: int) -> Loop:
        """One function each, that writes where it reads."""
        import torch

        x, c = (torch.randn(count, device=device.native_name) for _ in range(2))
        b = torch.randn(count, device=device.native_name).sign_()
        doing: dict[str, Callable[[], Any]] = {
            "add": lambda: torch.add(x, b, out=x),
            "mult": lambda: torch.mul(x, b, out=x),
            "mult-add": lambda: torch.addcmul(c, x, b, out=x),
        }
        return Loop(repeated(doing[operation]), _waiting(device))

    def transfer(self, device: Device, direction: Direction, count: int) -> Loop:
        """The host's side lies in pinned memory where there is such."""
        import torch

        host_is_device(device)
        host = torch.zeros(count, pin_memory=device.kind in ("cuda", "rocm"))
        there = torch.zeros(count, device=device.native_name)
        wait = _waiting(device)

        def ping_pong() -> None:
            there.copy_(host, non_blocking=True)
            there.add_(1)
            host.copy_(there, non_blocking=True)
            wait()
            host.add_(1)

        doing: dict[str, Callable[[], Any]] = {
            "to-device": lambda: there.copy_(host, non_blocking=True),
            "from-device": lambda: host.copy_(there, non_blocking=True),
            "ping-pong": ping_pong,
        }
        return Loop(repeated(doing[direction]), wait)

    def conv(self, device: Device, shape: ConvolutionCase) -> Loop:
        """Images and weights lie channels last."""
        import torch

        number, last = _dtype(shape.type_), torch.channels_last
        undo = _tf32(device, False)
        made = {"dtype": number, "device": device.native_name}
        channels = shape.channels
        x = torch.randn(shape.batch, channels, shape.size, shape.size, **made).to(memory_format=last)
        conv2d = torch.nn.functional.conv2d
        if shape.separable:
            each = torch.randn(channels, 1, 3, 3, **made).to(memory_format=last)
            points = torch.randn(channels, channels, 1, 1, **made).to(memory_format=last)

            def step() -> None:
                conv2d(conv2d(x, each, padding=1, groups=channels), points)
        else:
            weights = torch.randn(channels, channels, 3, 3, **made).to(memory_format=last)

            def step() -> None:
                conv2d(x, weights, padding=1)

        run = repeated(step)

        def without_gradients(steps: int) -> None:
            with torch.inference_mode():
                run(steps)

        return Loop(without_gradients, _waiting(device), shape.type_, _note(device, shape.type_), undo)

    def dispatch(self, device: Device, synchronised: bool) -> Loop:
        import torch

        x = torch.zeros(1, device=device.native_name)
        wait = _waiting(device)

        def waited() -> None:
            x.add_(1)
            wait()

        return Loop(repeated(waited if synchronised else lambda: x.add_(1)), wait)


def _graph(product: Callable[[], None], device: Device) -> tuple[Callable[[int], None], Callable[[], None]]:
    """Several products captured as one CUDA graph, as PyTorch's manual has it: warmed up on a side stream.

    Beside what runs them, what lets go of the graph and its memory, which counts as in use until then.
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
        many, single = portions(steps, AT_ONCE)
        for _ in range(many):
            graph.replay()
        for _ in range(single):
            product()

    def let_go() -> None:
        graph.reset()
        torch.cuda.empty_cache()

    return run, let_go


def _waiting(device: Device) -> Callable[[], None]:
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


def _tf32(device: Device, allowed: bool) -> Callable[[], None]:
    """Have matrices and convolutions of float32 worked out in tf32, or not; returns what puts it back."""
    import torch

    if device.kind != "cuda":
        return lambda: None
    settings = (torch.backends.cuda.matmul, torch.backends.cudnn)
    with warnings.catch_warnings():  # newer versions have another name beside this one
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
