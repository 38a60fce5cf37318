"""MLX as it looks on a Mac: its GPU is a stream of the CPU, whose time is counted as the GPU's.

MLX's wheel for Linux has no GPU. `install` replaces functions of `mlx.core`, so that a program finds Metal,
one GPU that is the default device, and streams on it. Each stream of the CPU has a thread of its own that
computes (mlx/scheduler.cpp), so the GPU's time is what the processor spent on the threads of its streams.
What the functions return on a Mac was read in MLX's source: mlx/device.cpp, mlx/utils.h, mlx/linalg.cpp, and
device_info.cpp in mlx/backend/metal, of version 0.32.2.

Not emulated: Metal's kernels, the sizes of its memory blocks, types that Metal lacks, and a GPU as the
default device of other threads than the first.
"""

from __future__ import annotations

import functools
import inspect
import os
import time
from collections.abc import Callable
from typing import Any

#: The keys that MLX reports of a Mac's GPU, with figures of no real one.
INFO: dict[str, str | int] = {
    "device_name": "Apple M0 (emulated)",
    "architecture": "applegpu_g00e",
    "max_buffer_length": 8 * 1024**3,
    "max_recommended_working_set_size": 11_453_251_584,
    "memory_size": 16 * 1024**3,
    "resource_limit": 499_000,
}
#: Functions of mlx.core.linalg that MLX has for the CPU alone.
CPU_ONLY = {
    *("cholesky", "cholesky_inv", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lu", "pinv", "qr", "svd")
}
#: Functions that `Mac` has, too.
OWN = ("default_stream", "device_info", "new_stream", "set_default_stream", "stream", "synchronize")


class Stream:
    """A stream of the emulated GPU; `real` is the CPU's stream that computes for it."""

    def __init__(self, device: Any, real: Any, index: int) -> None:
        self.device, self.real, self.index = device, real, index

    def __repr__(self) -> str:
        return f"Stream({self.device}, {self.index})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and other.real == self.real

    __hash__ = None  # type: ignore[assignment]


class Context:
    """What `mx.stream` returns: it sets the default device and stream, and restores them."""

    def __init__(self, mac: Mac, where: Any) -> None:
        self._mac, self._where, self._before = mac, where, mac.default

    def __enter__(self) -> None:
        self._before = self._mac.default
        self._mac.use(self._mac.device_of(self._where), self._mac.to_real(self._where))

    def __exit__(self, *raised: object) -> None:
        self._mac.set_default_device(self._before)


class Mac:
    """The emulated GPU."""

    def __init__(self) -> None:
        import mlx.core as mx

        self._mx = mx
        self._real: dict[str, Any] = {name: getattr(mx, name) for name in OWN}
        self._cpu, self._gpu = mx.Device(mx.cpu, 0), mx.Device(mx.gpu, 0)
        self._of_cpu = self._real["default_stream"](self._cpu)
        self._threads: list[int] = []
        self._streams: list[Stream] = []
        #: The default device.
        self.default: Any = self._cpu
        self.new_stream(self._gpu)
        self.set_default_device(self._gpu)

    def nanoseconds(self) -> int:
        """Return how long the GPU has computed so far."""
        # The clock of a thread by its number, as the C library makes it (clock_getcpuclockid).
        return sum(time.clock_gettime_ns((~thread << 3) | 6) for thread in self._threads)

    def device_of(self, where: Any) -> Any:
        """Return the device of a device, a type of devices, or a stream."""
        return self._gpu if getattr(where, "device", where) == self._gpu else self._cpu

    def to_real(self, where: Any) -> Any:
        """Return the CPU's stream that computes for a device or a stream; None stays None."""
        if where is None or isinstance(where, Stream):
            return where and where.real
        if where == self._gpu:
            return self._streams[0].real
        return self._of_cpu if where == self._cpu else where

    def use(self, device: Any, stream: Any) -> None:
        """Set the default device, and the CPU's stream that computes for it."""
        self.default = device
        self._real["set_default_stream"](stream)

    def set_default_device(self, device: Any) -> None:
        """Set the default device."""
        self.use(self.device_of(device), self.to_real(device))

    def default_stream(self, device: Any) -> Any:
        """Return a device's default stream."""
        return self._streams[0] if device == self._gpu else self._of_cpu

    def set_default_stream(self, stream: Any) -> None:
        """Set the default stream of a stream's device."""
        if isinstance(stream, Stream):
            self._streams = [stream, *(one for one in self._streams if one is not stream)]
        else:
            self._of_cpu = stream
        self.set_default_device(self.default)

    def new_stream(self, device: Any) -> Any:
        """Return a new stream on a device."""
        made = self._real["new_stream"](self._cpu)
        if device != self._gpu:
            return made
        before = set(os.listdir("/proc/self/task"))
        self._mx.eval(self._mx.add(self._mx.array(1), 1, stream=made))  # starts the stream's thread
        (thread,) = set(os.listdir("/proc/self/task")) - before
        self._threads.append(int(thread))
        self._streams.append(Stream(self._gpu, made, len(self._streams) + 1))
        return self._streams[-1]

    def stream(self, where: Any) -> Context:
        """Return a context in which a device or a stream is the default."""
        return Context(self, where)

    def device_info(self, device: Any = None) -> dict[str, Any]:
        """Return what MLX reports of a device."""
        if self.device_of(self.default if device is None else device) == self._gpu:
            return dict(INFO)
        return dict(self._real["device_info"](self._cpu))

    def synchronize(self, where: Any = None) -> None:
        """Wait for a stream, or for a device's default one."""
        self._real["synchronize"](self.to_real(self.default if where is None else where))

    def with_stream(self, function: Callable[..., Any], cpu_only: str = "") -> Callable[..., Any]:
        """Return an operation that takes streams of the GPU; `cpu_only` is its name if the GPU has it not."""

        @functools.wraps(function)
        def operation(*arguments: Any, **named: Any) -> Any:
            where = named.get("stream")
            if cpu_only and self.device_of(self.default if where is None else where) == self._gpu:
                raise ValueError(
                    f"[linalg::{cpu_only}] This op is not yet supported on the GPU. "
                    "Explicitly pass a CPU stream to run it."
                )
            if where is not None:
                named["stream"] = self.to_real(where)
            return function(*arguments, **named)

        return operation


def install() -> Mac:
    """Make this process's MLX look as on a Mac."""
    import mlx.core as mx

    mac = Mac()
    for module in (mx, mx.fast, mx.fft, mx.linalg, mx.random, mx.array):
        for name, function in list(vars(module).items()):
            takes_stream = callable(function) and "stream: " in (function.__doc__ or "")
            if takes_stream and not inspect.isclass(function) and name not in OWN:
                lacking = name if module is mx.linalg and name in CPU_ONLY else ""
                setattr(module, name, mac.with_stream(function, lacking))
    for name in (*OWN, "set_default_device"):
        setattr(mx, name, getattr(mac, name))
    mx.metal.is_available = lambda: True
    mx.is_available = lambda device: True
    mx.device_count = lambda kind: 1
    mx.default_device = lambda: mac.default
    return mac
