"""Records of schema 1 (until 2026-11), as schema 2 has them: the one place where their texts are read.

There a reading's `source` was a text for people that also said which device it was of. What was wrong with a
record is left as it is, and refused where records are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

#: How the text of a source began -> its kind in schema 2; after "replayed from FILE: ".
SOURCES: Mapping[str, str] = {
    "time.p": "clock",
    "TensorFlow's profiler": "profiler",
    "PyTorch's profiler": "profiler",
    "JAX's profiler": "profiler",
    "VmHWM of /proc/self/status": "operating system",
    "/proc/self/": "operating system",
    "psutil": "operating system",
    "looks from outside": "operating system",
    "tf.config.experimental.get_memory_info": "allocator",
    "torch.": "allocator",
    "Device.memory_stats": "allocator",
    "mlx.core.get_": "allocator",
    "NVML": "NVML",
    "RAPL": "RAPL",
    "Apple's energy model": "Apple's energy model",
    "fake": "simulated",
    "none": "none",
}
_REPLAYED = re.compile(r"replayed from .*?: ")
_DEVICES = (
    re.compile(r"\b(GPU \d+ \([^)]*\))"),
    re.compile(r"get_memory_info\('([A-Z]+:\d+)'\)"),
    re.compile(r"\b([a-z_]+:\d+)$"),
    re.compile(r"Apple's energy model of the ([A-Za-z ]+):"),
)


def upgraded(data: Mapping[str, Any]) -> dict[str, Any]:
    """A record of schema 1 as one of schema 2."""
    readings = data.get("readings")
    if isinstance(readings, list):
        readings = [_reading(one) if isinstance(one, dict) else one for one in readings]
    return {**data, "schema": 2, "readings": readings}


def _reading(old: dict[str, Any]) -> dict[str, Any]:
    text = old.get("source")
    if not isinstance(text, str):
        return old
    bare = _REPLAYED.sub("", text, count=1)
    source = next((kind for begin, kind in SOURCES.items() if bare.startswith(begin)), "other")
    device = next((found[1] for pattern in _DEVICES if (found := pattern.search(bare))), None)
    return {
        **old,
        "source": source,
        "detail": None if text == source else text,
        "device": device.lower() if device and bare.startswith("tf.") else device,
    }
