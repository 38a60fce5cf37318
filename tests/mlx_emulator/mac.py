"""MLX as it looks on a Mac. Its GPU is a second name for the CPU, whose time is counted as the GPU's.

MLX's wheel for Linux has no GPU. `install` replaces functions of `mlx.core`, so that a program finds Metal,
one GPU that is the default device, and streams on it. Everything is computed on the CPU. What the functions
return on a Mac was read in MLX's source: mlx/device.cpp, mlx/utils.h, mlx/linalg.cpp, and device_info.cpp in
mlx/backend/metal, of version 0.32.2.

GPU time is that in which arrays were evaluated which were made while the GPU was the default device. Arrays
made on the CPU inside an expression of the GPU count as well. Not emulated: Metal's kernels, the sizes of its
memory blocks, and types that Metal lacks.
"""

from __future__ import annotations

import functools
import inspect
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from types import TracebackType
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
CPU_ONLY = (
    "cholesky",
    "cholesky_inv",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lu",
    "pinv",
    "qr",
    "svd",
)
#: Operators of arrays, which take no stream.
OPERATORS = [
    f"__{kind}{name}__"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "matmul", "pow", "and", "or", "xor")
    for kind in ("", "r", "i")
] + [
    "__abs__",
    "__eq__",
    "__ge__",
    "__getitem__",
    "__gt__",
    "__invert__",
    "__le__",
    "__lt__",
    "__ne__",
    "__neg__",
]
#: Methods of arrays that evaluate them.
FORCING = ("item", "tolist", "__array__", "__bool__", "__float__", "__format__", "__int__", "__repr__")


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
    """What `mx.stream` returns: it sets device and stream, and restores the device's default ones."""

    def __init__(self, mac: Mac, where: Any) -> None:
        self._mac, self._where, self._before, self._real = mac, where, mac.default, None

    def __enter__(self) -> None:
        self._before = self._mac.default
        self._real = self._mac.real["stream"](self._mac.to_real(self._where))
        self._real.__enter__()
        self._mac.default = self._mac.device_of(self._where)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._mac.default = self._before
        self._real.__exit__(kind, error, at)


class Mac:
    """The emulated GPU. `work` is called with the seconds that it has computed, each time that it did."""

    def __init__(self, work: Callable[[float], None] = lambda seconds: None) -> None:
        import mlx.core as mx

        self._mx = mx
        self._work = work
        self._cpu, self._gpu = mx.Device(mx.cpu, 0), mx.Device(mx.gpu, 0)
        self._depth = threading.local()
        #: Arrays that were made on the CPU, by their id, for as long as they exist.
        self._of_cpu: dict[int, weakref.ref[Any]] = {}
        #: MLX's own functions by name.
        self.real: dict[str, Any] = {
            name: getattr(mx, name)
            for name in (
                "default_stream",
                "device_info",
                "new_stream",
                "set_default_stream",
                "stream",
                "synchronize",
            )
        }
        #: The default device.
        self.default: Any = self._gpu
        #: Seconds that the GPU has computed so far.
        self.seconds = 0.0
        self._streams = [Stream(self._gpu, self.real["default_stream"](mx.cpu), 1)]

    def device_of(self, where: Any) -> Any:
        """Return the device of a device, a type of devices, or a stream; None is the default device."""
        if where is None:
            return self.default
        device = getattr(where, "device", where)
        return self._gpu if device == self._gpu else self._cpu

    def to_real(self, where: Any) -> Any:
        """Return what MLX on a CPU takes in place of a device or a stream."""
        if isinstance(where, Stream):
            return where.real
        return self._mx.cpu if where is None or where == self._gpu else where

    def set_default_device(self, device: Any) -> None:
        """Set the default device."""
        self.default = self.device_of(device)

    def default_stream(self, device: Any) -> Any:
        """Return a device's default stream."""
        return self._streams[0] if device == self._gpu else self.real["default_stream"](device)

    def new_stream(self, device: Any) -> Any:
        """Return a new stream on a device."""
        made = self.real["new_stream"](self._cpu)
        if device != self._gpu:
            return made
        self._streams.append(Stream(self._gpu, made, len(self._streams) + 1))
        return self._streams[-1]

    def set_default_stream(self, stream: Any) -> None:
        """Set the default stream of a stream's device."""
        if isinstance(stream, Stream):
            self._streams[0] = stream
        else:
            self.real["set_default_stream"](stream)

    def device_info(self, device: Any = None) -> dict[str, Any]:
        """Return what MLX reports of a device."""
        if self.device_of(device) == self._gpu:
            return dict(INFO)
        return dict(self.real["device_info"](self._cpu))

    def synchronize(self, where: Any = None) -> None:
        """Wait for a stream, or for a device's default one."""
        self.real["synchronize"](self.to_real(where))

    def with_stream(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that takes streams and devices of the GPU."""

        @functools.wraps(function)
        def operation(*arguments: Any, **named: Any) -> Any:
            if "stream" not in named:
                return self._noted(function(*arguments, **named), self.default)
            where = named.pop("stream")
            made = function(*arguments, stream=self.to_real(where), **named)
            return self._noted(made, self.device_of(where))

        return operation

    def only_on_cpu(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return an operation that raises MLX's error for the GPU."""

        @functools.wraps(function)
        def operation(*arguments: Any, **named: Any) -> Any:
            if self.device_of(named.get("stream")) == self._gpu:
                raise ValueError(
                    f"[linalg::{name}] This op is not yet supported on the GPU. "
                    "Explicitly pass a CPU stream to run it."
                )
            return function(*arguments, **named)

        return operation

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that evaluates arrays, and count its time if some of them are the GPU's."""

        @functools.wraps(function)
        def evaluate(*arguments: Any, **named: Any) -> Any:
            if getattr(self._depth, "inside", False) or not self._has_work(arguments):
                return function(*arguments, **named)
            self._depth.inside = True
            begun = time.perf_counter()
            try:
                return function(*arguments, **named)
            finally:
                self._depth.inside = False
                seconds = time.perf_counter() - begun
                self.seconds += seconds
                self._work(seconds)

        return evaluate

    def _noted(self, made: Any, device: Any) -> Any:
        if device == self._cpu:
            for array in self._arrays((made,)):
                number = id(array)
                self._of_cpu[number] = weakref.ref(array, lambda _, number=number: self._of_cpu.pop(number))
        return made

    def _has_work(self, values: Any) -> bool:
        """Return True if an array among these is still to be evaluated, and on the GPU."""
        waiting = [array for array in self._arrays(values) if not self._is_evaluated(array)]
        return any(id(array) not in self._of_cpu for array in waiting)

    def _is_evaluated(self, array: Any) -> bool:
        try:
            self._mx.get_array_buffer_size(array)
        except ValueError:
            return False
        return True

    def _arrays(self, values: Any) -> Iterator[Any]:
        for value in values:
            if isinstance(value, self._mx.array):
                yield value
            elif isinstance(value, list | tuple):
                yield from self._arrays(value)
            elif isinstance(value, dict):
                yield from self._arrays(value.values())


def install(work: Callable[[float], None] = lambda seconds: None) -> Mac:
    """Make this process's MLX look as on a Mac. `work` is called with the seconds that its GPU computed."""
    import mlx.core as mx

    mac = Mac(work)
    for module in (mx, mx.fast, mx.fft, mx.linalg, mx.random):
        for name, function in list(vars(module).items()):
            if not callable(function) or inspect.isclass(function) or name in mac.real or name[0] == "_":
                continue
            if "stream: " in (function.__doc__ or "") or (name in CPU_ONLY and module is mx.linalg):
                function = mac.with_stream(function)
                if module is mx.linalg and name in CPU_ONLY:
                    function = mac.only_on_cpu(name, function)
                setattr(module, name, function)
    for name in ("eval", "async_eval"):
        setattr(mx, name, mac.timed(getattr(mx, name)))
    for name, method in list(vars(mx.array).items()):
        if name in FORCING:
            setattr(mx.array, name, mac.timed(method))
        elif name in OPERATORS or "stream: " in (method.__doc__ or ""):
            setattr(mx.array, name, mac.with_stream(method))
    for name in mac.real:
        if name != "stream":
            setattr(mx, name, getattr(mac, name))
    mx.metal.is_available = lambda: True
    mx.is_available = lambda device: True
    mx.device_count = lambda kind: 1
    mx.default_device = lambda: mac.default
    mx.set_default_device = mac.set_default_device
    mx.stream = lambda where: Context(mac, where)
    return mac
