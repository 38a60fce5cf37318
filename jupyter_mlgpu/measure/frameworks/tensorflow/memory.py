"""What TensorFlow's allocators tell: bytes in use, and their peak since it was last reset.

On Metal there is nothing to tell: tensorflow-metal 1.2.0 has no BFC allocator (`use_bfc_allocator` is 0,
read in its library), so TensorFlow's simple one answers with zeros and cannot be reset (seen on an emulated
device).

Of a CPU nothing is told: TensorFlow 2.19.1 keeps statistics there only with oneDNN's allocator, which counts
no tensor below 256 KiB (seen), and refusing takes TensorFlow longer than all else here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks import allocator
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of
from jupyter_mlgpu.measure.frameworks.users_peaks import join_peaks, users_peaks
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say


def no_statistics(name: str) -> Sentence:
    """Why nothing is known of a device's allocator."""
    if name.startswith("cpu:"):
        return say(
            "TensorFlow's statistics for {device} omit small tensors, so any figure would be too low.",
            device=name,
        )
    if kind_of("GPU") == "metal":
        return say(
            "On Metal, TensorFlow's allocator counts nothing: it reports 0, no matter how much it allocates."
        )
    return say("TensorFlow keeps no allocator statistics for {device}.", device=name)


def in_use(name: str) -> tuple[Reading, ...]:
    """What tensors hold on a device; TensorFlow does not tell what it has reserved."""
    info = _info(name)
    if info is None:
        return allocator.unknown(no_statistics(name))
    return allocator.held(_detail(name), int(info["current"]), device=name)


def peaks_of(name: str) -> Peaks | None:
    """A counter for an allocator's peak; None where there are no statistics."""
    if _info(name) is None:
        return None
    # tf.config.experimental asks the context, and so does everybody who has its functions from before.
    counter = users_peaks(
        type(_context()), "get_memory_info", "reset_memory_stats", join_peaks, lambda of: _device(of[-1])
    )
    peaks = Peaks(
        lambda: int(counter.read(_context(), name.upper())["peak"]),
        lambda: counter.reset(_context(), name.upper()),
    )
    counter.before_reset[name] = peaks.note
    return peaks


def peak(name: str, reached: int | None) -> Reading:
    """The peak that a cell has reached; None for an allocator first used in it, whose peak is this cell's."""
    info = _info(name)
    if info is None:
        return allocator.unknown_peak(no_statistics(name), _detail(name), name)
    return allocator.peak(info["peak"] if reached is None else reached, _detail(name), device=name)


def _device(name: object) -> str:
    """`GPU:0` of `/GPU:0`, `gpu:0` or a full name."""
    return str(name).upper().removeprefix("/").rpartition("DEVICE:")[2]


def _context() -> Any:
    return module("tensorflow.python.eager.context").context()


def _memory() -> Any:
    return module("tensorflow").config.experimental


def _info(name: str) -> Mapping[str, int] | None:
    if name.startswith("cpu:") or kind_of("GPU") == "metal":
        return None
    try:
        info: Mapping[str, int] = _memory().get_memory_info(name.upper())
    except (ValueError, RuntimeError):  # this device keeps no statistics
        return None
    return info


def _detail(name: str) -> Sentence:
    return Sentence(f"tf.config.experimental.get_memory_info({name.upper()!r})")
