"""CUPTI's activity API through ctypes: selects the records to make and the buffers to put them in.

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

#: Kinds of records in CUpti_ActivityKind: kernels (CONCURRENT_KERNEL), copies, sets, copies
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
    """The library at a path. Raises OSError if it cannot be loaded."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._library = ctypes.CDLL(path)  # releases the GIL: a flush may wait
        # Reading a record takes a fraction of a microsecond, so it keeps the GIL.
        self._next_record = ctypes.PyDLL(path).cuptiActivityGetNextRecord
        self._next_record.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)]

    def hand_over(self, buffers: ActivityBuffers) -> None:
        """Have CUPTI put records into these buffers from now on."""
        self._call(
            "cuptiActivityRegisterCallbacks",
            ctypes.c_void_p(buffers.request),
            ctypes.c_void_p(buffers.complete),
        )

    def enable(self, kind: int) -> None:
        """Enable records of a kind."""
        self._call("cuptiActivityEnable", kind)

    def disable(self, kind: int) -> None:
        """Disable records of a kind."""
        self._call("cuptiActivityDisable", kind)

    def flush(self, *, forced: bool = False) -> None:
        """Have CUPTI return buffers whose records are complete; with `forced`, all buffers."""
        self._call("cuptiActivityFlushAll", _FLUSH_FORCED if forced else 0)

    def clock(self) -> tuple[int, int]:
        """Return CUPTI's clock, and ours (`monotonic_ns`) at the same moment.

        CUPTI counts nanoseconds until PyTorch's profiler has run, and ticks of the CPU after that.
        """
        value = ctypes.c_uint64()
        before = real_time.monotonic_ns()
        self._call("cuptiGetTimestamp", ctypes.byref(value))
        return value.value, (before + real_time.monotonic_ns()) // 2

    def dropped(self) -> int:
        """Return how many records CUPTI has lost since the last call."""
        value = ctypes.c_size_t()
        self._call("cuptiActivityGetNumDroppedRecords", None, 0, ctypes.byref(value))
        return value.value

    def records(self, buffer: int, size: int) -> Iterator[int]:
        """Yield the address of each record in a buffer."""
        record = ctypes.c_void_p()
        while self._next_record(buffer, size, ctypes.byref(record)) == 0 and record.value is not None:
            yield record.value

    def _call(self, name: str, *arguments: object) -> None:
        code = getattr(self._library, name)(*arguments)
        if code != 0:
            raise CuptiError(name, code)


def find() -> str | None:
    """Return the path of the libcupti that this process has loaded, else of that in NVIDIA's packages."""
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
