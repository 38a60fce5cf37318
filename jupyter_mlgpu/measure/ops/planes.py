"""Names in the profiles of TensorFlow and JAX, which are both XSpaces: devices, streams, kernels, copies."""

from __future__ import annotations

import re

from jupyter_mlgpu.measure.ops.events import Kind

HOST_PLANE = "/host:CPU"
ENVIRONMENT_PLANE = "Task Environment"
START_STAT = "profile_start_time"

_DEVICE = re.compile(r"^/device:(GPU):(\d+)")
_COPIED = re.compile(r"\bsize:(\d+)")


def device_of(plane: str) -> str | None:
    """Return `gpu:0` for the plane `/device:GPU:0`, None for a plane that is no GPU's."""
    found = _DEVICE.match(plane)
    return f"gpu:{found[2]}" if found else None


def is_stream(line: str) -> bool:
    """Return True if a line of a device's plane is a stream: `Stream #13(Compute)`.

    Other lines (XLA Ops, Steps, ...) are derived from the streams and would count their time again.
    """
    return line.startswith("Stream #")


def kind_of(name: str) -> Kind:
    """Return the kind of a device event by its name: `MemcpyH2D`, `Memset`, or a kernel's own name."""
    lowered = name.lower()
    if lowered.startswith("memcpy"):
        return "copy"
    return "memset" if lowered.startswith("memset") else "kernel"


def copied_bytes(details: str) -> int | None:
    """Return the bytes in a copy's `memcpy_details`: `kind_src:device kind_dst:host size:4096 ...`."""
    found = _COPIED.search(details)
    return int(found[1]) if found else None


def rounded_ns(start_ps: int, duration_ps: int) -> tuple[int, int]:
    """Return start and duration in nanoseconds. Both ends are rounded, so nested events stay nested."""
    start = (start_ps + 500) // 1000
    return start, (start_ps + duration_ps + 500) // 1000 - start
