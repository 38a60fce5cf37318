"""Readings of TensorFlow's allocators: bytes in use, and their peak since the last reset.

On Metal there are none: tensorflow-metal 1.2.0 has no BFC allocator (`use_bfc_allocator` is 0, read in its
library), so TensorFlow's simple allocator returns zeros and cannot be reset (seen on an emulated device).

On a CPU there are none either: TensorFlow 2.19.1 keeps statistics there only with oneDNN's allocator, which
counts no tensor below 256 KiB (seen), and TensorFlow's error takes longer than everything else here.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.measure.frameworks import allocator
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.tensorflow.context import eager_context
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of
from jupyter_mlgpu.measure.frameworks.users_peaks import join_peaks, users_peaks
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say


def no_statistics(name: str) -> Sentence:
    """Return why a device's allocator has no readings."""
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
    """Return the bytes in use by tensors on a device; TensorFlow does not report what it has reserved."""
    info = _info(name)
    if info is None:
        return allocator.no_allocator_readings(no_statistics(name))
    return allocator.allocator_readings(_detail(name), int(info["current"]), device=name)


def peaks_of(name: str) -> Peaks | None:
    """Return a counter of an allocator's peak; None if there are no statistics."""
    if _info(name) is None:
        return None
    # The functions of tf.config.experimental call the context, also if the user imported them earlier.
    counter = users_peaks(
        type(eager_context()),
        "get_memory_info",
        "reset_memory_stats",
        join_peaks,
        lambda arguments: _device(arguments[-1]),
    )
    peaks = Peaks(
        lambda: int(counter.read(eager_context(), name.upper())["peak"]),
        lambda: counter.reset(eager_context(), name.upper()),
    )
    counter.before_reset[name] = peaks.note
    return peaks


def peak(name: str, reached: int | None) -> Reading:
    """Return the peak of a cell; if `reached` is None, the allocator was first used in this cell."""
    info = _info(name)
    if info is None:
        return allocator.no_peak_reading(no_statistics(name), _detail(name), name)
    return allocator.peak_reading(info["peak"] if reached is None else reached, _detail(name), device=name)


def _device(name: object) -> str:
    """Return `GPU:0` of `/GPU:0`, `gpu:0` or a full name."""
    return str(name).upper().removeprefix("/").rpartition("DEVICE:")[2]


def _info(name: str) -> Mapping[str, int] | None:
    if name.startswith("cpu:") or kind_of("GPU") == "metal":
        return None
    try:
        info: Mapping[str, int] = module("tensorflow").config.experimental.get_memory_info(name.upper())
    except (ValueError, RuntimeError):  # this device keeps no statistics
        return None
    return info


def _detail(name: str) -> Sentence:
    return Sentence(f"tf.config.experimental.get_memory_info({name.upper()!r})")
