"""Records of schema 1 (until 2026-11), as schema 2 has them: the one place where their texts are read.

There a reading's `source` was a text for people that also said which device it was of, and so was the device
asked for. What was wrong with a
record is left as it is, and refused where records are read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.record.device_request import EVERY

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
#: What began the names of the facts that told of a device what share of a profiled cell it was idle.
_IDLE = "idle_share_of_"
_REPLAYED = re.compile(r"replayed from .*?: ")
_DEVICES = (
    re.compile(r"\b(GPU \d+ \([^)]*\))"),
    re.compile(r"get_memory_info\('([A-Z]+:\d+)'\)"),
    re.compile(r"\b([a-z_]+:\d+)$"),
    re.compile(r"Apple's energy model of the ([A-Za-z ]+):"),
)


def upgraded(data: Mapping[str, Any]) -> dict[str, Any]:
    """A record of schema 1 as one of schema 2."""
    data = {**data, "schema": 2}
    device, readings, facts = (data.get(name) for name in ("device", "readings", "facts"))
    if isinstance(device, dict):
        data["device"] = {**device, "requested": requested(device.get("requested"))}
    if isinstance(readings, list) and isinstance(facts, dict):
        idle = {name: fact for name, fact in facts.items() if name.startswith(_IDLE) and _is_share(fact)}
        readings = [*readings, *(_idle(name, fact, readings) for name, fact in idle.items())]
        data["facts"] = {name: fact for name, fact in facts.items() if name not in idle}
    if isinstance(readings, list):
        data["readings"] = [_reading(one) if isinstance(one, dict) else one for one in readings]
    return data


def requested(text: object) -> object:
    """`gpu:0`, `torch gpu:0, jax cpu:0`, `cpu, torch gpu` or null as a mapping framework -> device."""
    if text is None:
        return {}
    if not isinstance(text, str):
        return text
    parts = [part.strip().rpartition(" ") for part in text.split(",")]
    return {framework or EVERY: device for framework, _, device in parts if device}


def _is_share(fact: object) -> bool:
    value = fact.get("value") if isinstance(fact, dict) else None
    return isinstance(value, float) and 0 <= value <= 1


def _idle(name: str, fact: Mapping[str, Any], readings: list[Any]) -> dict[str, Any]:
    device = name.removeprefix(_IDLE)
    # It rests on the same kernels and copies as the time of the device, whose source ended in its name.
    times = [one for one in readings if isinstance(one, dict) and one.get("quantity") == "device_time"]
    same = [one.get("samples") for one in times if str(one.get("source")).endswith(f" of {device}")]
    reading = {"quantity": "device_idle", "value": fact["value"], "unit": "share", "scope": "device"}
    return {**reading, "source": fact.get("source"), "samples": same[0] if same else 1, "device": device}


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
        "device": old.get("device") or (device.lower() if device and bare.startswith("tf.") else device),
    }
