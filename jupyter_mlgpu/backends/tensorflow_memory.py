"""What TensorFlow's allocators tell: bytes in use, and their peak since it was last reset.

On 2.19.1 `tf.config.experimental.get_memory_info` answers for CPUs too, and all CPU devices of a process
have one allocator together: what is made on one shows on each (seen).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.backends.held import held, unknown
from jupyter_mlgpu.backends.peaks import Peaks
from jupyter_mlgpu.record import Reading, Scope, missing

_CPUS = "cpu:0"


def allocator_of(device: str) -> str:
    """The device that speaks for the allocator of `device`: the first CPU for all of them."""
    return _CPUS if device.startswith("cpu:") else device


def in_use(name: str) -> tuple[Reading, ...]:
    """What tensors hold; TensorFlow does not tell what it has reserved."""
    try:
        return held(_source(name), int(_info(name)["current"]), scope=_scope(name))
    except (ValueError, RuntimeError):
        return unknown(_no_statistics(name))


def peaks_of(name: str) -> Peaks:
    """A counter for an allocator's peak. Raises ValueError or RuntimeError where there are no statistics."""
    _info(name)
    return Peaks(lambda: int(_info(name)["peak"]), lambda: _memory().reset_memory_stats(name.upper()))


def peak(name: str, reached: int | None) -> Reading:
    """The peak that a cell has reached; None for an allocator first used in it, whose peak is this cell's."""
    try:
        value = _info(name)["peak"] if reached is None else reached
    except (ValueError, RuntimeError):
        why = _no_statistics(name)
        return missing("peak_memory_allocator", why, scope=_scope(name), source=_source(name))
    return Reading("peak_memory_allocator", value, "bytes", _scope(name), _source(name), 1)


def _memory() -> Any:
    return sys.modules["tensorflow"].config.experimental


def _info(name: str) -> Mapping[str, int]:
    info: Mapping[str, int] = _memory().get_memory_info(name.upper())
    return info


def _scope(name: str) -> Scope:
    return "process" if name == _CPUS else "device"


def _source(name: str) -> str:
    return f"tf.config.experimental.get_memory_info({name.upper()!r})"


def _no_statistics(name: str) -> str:
    return f"TensorFlow keeps no allocator statistics for {name}."
