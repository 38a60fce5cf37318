"""Names in TensorFlow's and JAX's profiles, which are both XSpaces: devices, streams, kernels, copies."""

from __future__ import annotations

import re

from jupyter_mlgpu.measure.ops.events import Kind

HOST_PLANE = "/host:CPU"
ENVIRONMENT_PLANE = "Task Environment"
START_STAT = "profile_start_time"

_DEVICE = re.compile(r"^/device:(GPU):(\d+)")
_COPIED = re.compile(r"\bsize:(\d+)")


def device_of(plane: str) -> str | None:
    """`gpu:0` for the plane `/device:GPU:0`; None for a plane that is no GPU's."""
    found = _DEVICE.match(plane)
    return f"gpu:{found[2]}" if found else None


def is_stream(line: str) -> bool:
    """Whether a line of a device's plane is a stream: `Stream #13(Compute)`.

    Others (XLA Ops, Steps, ...) are made from the streams and would count their time again.
    """
    return line.startswith("Stream #")


def kind_of(name: str) -> Kind:
    """What a device event is, by the name it has: `MemcpyH2D`, `Memset`, or a kernel's own name."""
    lowered = name.lower()
    if lowered.startswith("memcpy"):
        return "copy"
    return "memset" if lowered.startswith("memset") else "kernel"


def copied(details: str) -> int | None:
    """The bytes in a copy's `memcpy_details`: `kind_src:device kind_dst:host size:4096 ...`."""
    found = _COPIED.search(details)
    return int(found[1]) if found else None


def rounded(start_ps: int, duration_ps: int) -> tuple[int, int]:
    """Start and duration in nanoseconds; both ends are rounded, so what was nested stays nested."""
    start = (start_ps + 500) // 1000
    return start, (start_ps + duration_ps + 500) // 1000 - start
