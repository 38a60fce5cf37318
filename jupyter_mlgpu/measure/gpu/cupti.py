"""CUPTI's activity API through ctypes: which records are made, and where they are put.

CUPTI is NVIDIA's profiling library, which PyTorch, JAX and TensorFlow bring. Nothing here starts CUDA: the
library is used once the user's code has made a CUDA context.

Sources: cupti_activity.h, cupti_result.h and cupti_callbacks.h of CUDA 13.0; the driver's cuda.h.
"""

from __future__ import annotations

import ctypes
import glob
import os
import sys
from collections.abc import Iterator

from jupyter_mlgpu.measure.gpu.activity_buffers import ActivityBuffers
from jupyter_mlgpu.record.clock import real_time

#: Kinds of records, as CUpti_ActivityKind numbers them: kernels (CONCURRENT_KERNEL), copies, sets, copies
#: between GPUs.
KERNEL, COPY, SET, PEER_COPY = 10, 1, 2, 22
KINDS = (KERNEL, COPY, SET, PEER_COPY)

_FLUSH_FORCED = 1


class CuptiError(Exception):
    """CUPTI refused a call; `code` is its CUptiResult."""

    def __init__(self, call: str, code: int) -> None:
        super().__init__(f"{call} answered {code}")
        self.code = code


class Cupti:
    """The library at a path. Raises OSError where it cannot be loaded."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._library = ctypes.CDLL(path)  # which gives the GIL up: a flush may wait
        # Reading a record takes a fraction of a microsecond.
        self._next_record = ctypes.PyDLL(path).cuptiActivityGetNextRecord
        self._next_record.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]

    def hand_over(self, buffers: ActivityBuffers) -> None:
        """Have records put into these buffers from now on."""
        self._call(
            "cuptiActivityRegisterCallbacks",
            ctypes.c_void_p(buffers.request),
            ctypes.c_void_p(buffers.complete),
        )

    def enable(self, kind: int) -> None:
        """Have records of a kind made."""
        self._call("cuptiActivityEnable", kind)

    def disable(self, kind: int) -> None:
        """Have them made no more."""
        self._call("cuptiActivityDisable", kind)

    def flush(self, *, forced: bool = False) -> None:
        """Have buffers returned whose records are complete; with `forced`, all of them."""
        self._call("cuptiActivityFlushAll", _FLUSH_FORCED if forced else 0)

    def clock(self) -> tuple[int, int]:
        """CUPTI's clock, and ours (`monotonic_ns`) at the same moment.

        CUPTI counts nanoseconds, until PyTorch's profiler has run: then it counts the processor's ticks.
        """
        value = ctypes.c_uint64()
        before = real_time.monotonic_ns()
        self._call("cuptiGetTimestamp", ctypes.byref(value))
        return value.value, (before + real_time.monotonic_ns()) // 2

    def dropped(self) -> int:
        """How many records CUPTI has lost since it was last asked."""
        value = ctypes.c_size_t()
        self._call("cuptiActivityGetNumDroppedRecords", None, 0, ctypes.byref(value))
        return value.value

    def records(self, buffer: int, size: int) -> Iterator[int]:
        """The address of each record in a buffer."""
        record = ctypes.c_void_p()
        while self._next_record(buffer, size, ctypes.byref(record)) == 0 and record.value is not None:
            yield record.value

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise CuptiError(name, code)


def find() -> str | None:
    """The path of libcupti: that which is loaded in this process, else that of NVIDIA's packages."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            if "libcupti.so" in line:
                return line.split(maxsplit=5)[-1].rstrip("\n")
    patterns = ("nvidia/cuda_cupti/lib/libcupti.so.*", "nvidia/cu*/lib/libcupti.so.*")
    for folder in sys.path:
        for pattern in patterns:
            for path in glob.glob(os.path.join(folder, pattern)):
                return path
    return None
