"""CUDA's driver: finds the GPUs that this process uses, and puts marks behind its work.

Nothing here starts CUDA. A context exists once the user's code has used a GPU. Then a mark can be put behind
its work: a set of four bytes, on a stream and in memory of our own.

Sources: cuda.h of CUDA 13.0 (functions named _v2 are those that its macros name).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass

#: RTLD_NOLOAD of <dlfcn.h>: opens only a library that is loaded already.
_NO_LOAD = getattr(os, "RTLD_NOLOAD", 4)
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: it does not wait for the default stream
_RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED
#: The upper half of the value that a mark sets; the lower half is its number. CUPTI's record has the value.
MARK = 0x4D4C


class DriverError(Exception):
    """The driver refused a call; `code` is its CUresult."""

    def __init__(self, call: str, code: int) -> None:
        super().__init__(f"{call} answered {code}")
        self.code = code


@dataclass(slots=True)
class _Place:
    """A stream and four bytes in the context of one GPU."""

    context: int
    stream: int
    bytes: int


class Driver:
    """The libcuda that this process has loaded. Raises OSError if it has none."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libcuda.so.1", mode=_NO_LOAD | os.RTLD_LAZY)
        self._places: dict[int, _Place] = {}

    def active(self) -> list[int]:
        """Return the GPUs with a primary context of this process, numbered as CUDA does here."""
        count, flags, is_active = ctypes.c_int(), ctypes.c_uint(), ctypes.c_int()
        if self._library.cuDeviceGetCount(ctypes.byref(count)) != 0:  # CUDA has not been started
            return []
        found = []
        for device in range(count.value):
            code = self._library.cuDevicePrimaryCtxGetState(
                device, ctypes.byref(flags), ctypes.byref(is_active)
            )
            if code == 0 and is_active.value:
                found.append(device)
        return found

    def synchronize(self, device: int) -> None:
        """Wait for this process's work on a GPU. Raises DriverError, for example after a kernel's error."""
        with self._current(device):
            self._call("cuCtxSynchronize")

    def mark(self, device: int, number: int) -> None:
        """Put a mark behind the work launched on a GPU, without waiting for it. Raises DriverError.

        `number` has 16 bits. A graph capture of the user's stays valid: no call concerns its stream.
        """
        place, current = self._places.get(device), ctypes.c_void_p()
        self._call("cuCtxGetCurrent", ctypes.byref(current))
        if place is not None and place.context == current.value:  # mostly, on a thread that uses this GPU
            self._mark(place, number)
        else:
            with self._current(device) as context:
                self._mark(self._place(device, context), number)

    def _mark(self, place: _Place, number: int) -> None:
        self._call(
            "cuMemsetD32Async",
            ctypes.c_uint64(place.bytes),
            ctypes.c_uint32(MARK << 16 | number),
            ctypes.c_size_t(1),
            ctypes.c_void_p(place.stream),
        )

    @contextlib.contextmanager
    def _current(self, device: int) -> Iterator[int]:
        """Make a GPU's primary context current on this thread."""
        context = ctypes.c_void_p()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        try:
            self._call("cuCtxPushCurrent_v2", context)
            try:
                yield context.value or 0
            finally:
                self._library.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
        finally:
            self._library.cuDevicePrimaryCtxRelease_v2(device)

    def _place(self, device: int, context: int) -> _Place:
        place = self._places.get(device)
        if place is None or place.context != context:  # a reset creates another context
            with self._relaxed():
                stream, memory = ctypes.c_void_p(), ctypes.c_uint64()
                self._call("cuStreamCreate", ctypes.byref(stream), _NON_BLOCKING)
                self._call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(4))
            place = self._places[device] = _Place(context, stream.value or 0, memory.value)
        return place

    @contextlib.contextmanager
    def _relaxed(self) -> Iterator[None]:
        """Allow calls that would otherwise invalidate a capture in another thread of the user's."""
        mode = ctypes.c_int(_RELAXED)
        self._call("cuThreadExchangeStreamCaptureMode", ctypes.byref(mode))
        try:
            yield
        finally:
            self._library.cuThreadExchangeStreamCaptureMode(ctypes.byref(mode))

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise DriverError(name, code)
