"""Records of schema 1, as later ones have them: the one place where their texts are read as data.

What was wrong with a record is left as it is, and refused where records are read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.devicewords import EVERY

#: What began the names of the facts that told of a device what share of a profiled cell it was idle.
_IDLE = "idle_share_of_"


def upgraded(data: Mapping[str, Any]) -> dict[str, Any]:
    """A record of schema 1 with the devices asked for as a mapping, and devices' idle shares as readings."""
    data = dict(data)
    device, readings, facts = (data.get(name) for name in ("device", "readings", "facts"))
    if isinstance(device, dict):
        data["device"] = {**device, "requested": requested(device.get("requested"))}
    if isinstance(readings, list) and isinstance(facts, dict):
        idle = {name: fact for name, fact in facts.items() if name.startswith(_IDLE) and _is_share(fact)}
        data["readings"] = [*readings, *(_idle(name, fact, readings) for name, fact in idle.items())]
        data["facts"] = {name: fact for name, fact in facts.items() if name not in idle}
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
