"""What the records of a cell's own GPU work say of its time; the samples of the host's code give way to them.

The GPU limits a cell while its host waits for it. How long it worked is known exactly, and whether the host
waited is sampled, so a wait counts for the GPU as long as that worked, and for something else beyond that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from jupyter_mlgpu.explain.limits import calls
from jupyter_mlgpu.explain.limits.shares import Cause, Shares
from jupyter_mlgpu.measure.activity.activity import Part
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.reading import Reading, new_reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say

#: The part of the time from which on all that the host did was done in advance, or did not matter.
FULL = 0.8
#: Bytes a second between host and GPU from which on data was copied. Copies of pageable memory pass through
#: buffers of the driver's: the GPU may copy for a sixth of the time that the host takes (JAX, H100).
_COPIED = 0.5e9
#: The most seconds of the host that one launch may account for: slow hosts need 0.1 ms.
_A_LAUNCH = 0.0005
_BETWEEN_HOST_AND_GPU = ("host-to-device", "device-to-host")

THE_GPU = say("The GPU")


class OwnWork(NamedTuple):
    """What the busiest GPU did of the work that a cell launched; shares are parts of `seconds`.

    Attributes:
        device: what it is called in a sentence, and its name.
        seconds: the cell's, until all was done.
        busy: the share in which it did anything.
        computing: the share in which kernels ran, or sets, or copies within the GPU.
        copied: bytes a second between host and GPU.
        earlier: the share in which it still was at work on earlier cells.
        tail: the share after the cell's code had ended.
    """

    device: tuple[Sentence, str]
    seconds: float
    busy: float
    computing: float
    copied: float
    launches: int
    earlier: float
    tail: float

    @property
    def copying(self) -> float:
        """The share in which only copies between host and GPU ran."""
        return self.busy - self.computing

    def readings(self) -> Iterator[Reading]:
        """What an answer rests on."""
        name, count = self.device[1], self.launches
        yield new_reading("device_busy", round(self.busy, 4), "device", "CUPTI", count, device=name)
        if self.copied:
            share, rate = round(self.copying, 4), round(self.copied)
            yield new_reading("device_copies", share, "device", "CUPTI", count, device=name)
            yield new_reading("host_device_rate", rate, "device", "CUPTI", count, device=name)


def of(record: Record) -> OwnWork | None:
    """What the record says of its GPUs' work; None where that is not known exactly."""
    seconds = record.duration
    times = [one for one in record.readings if one.quantity == "device_time"]
    if not seconds or not times or record.mode != "light":
        return None
    if any(one.value is None or one.source != "CUPTI" for one in times):
        return None
    busiest = max(times, key=lambda one: one.value or 0.0)
    name = busiest.device or ""
    work = next((one for one in record.gpu_work if one.device == name), GpuWork(name, 0, 0.0))
    between = [one for one in work.copies if one.direction in _BETWEEN_HOST_AND_GPU]
    within = sum(one.seconds for one in work.copies if one.direction == "device-to-device")
    busy = min(busiest.value or 0.0, seconds)
    computing = min(busy, max(work.kernel_seconds + within, busy - sum(one.seconds for one in between)))
    return OwnWork(
        device=(THE_GPU if len(times) == 1 else Sentence(name), name),
        seconds=seconds,
        busy=busy / seconds,
        computing=computing / seconds,
        copied=sum(one.bytes for one in between) / seconds,
        launches=work.launches,
        earlier=min(1.0, max((one.earlier for one in record.gpu_work), default=0.0) / seconds),
        tail=work.went_on / seconds if record.asynchronous else 0.0,
    )


def share_out(found: Shares, own: OwnWork) -> None:
    """Count the host's waits for what the GPU did meanwhile, and for something else beyond that."""
    found.seconds /= max(1 - own.tail, 1e-3)  # the time after the code had nothing to sample
    whole = found.seconds
    computes = max(0.0, own.computing - own.tail) * whole
    found.move("transfer", "device", _any, guessed=False)
    # Where much was copied, also while the copy is not the GPU's, but the host's into a buffer.
    found.grant("device", "transfer", _asks, whole if own.copied >= _COPIED else own.copying * whole)
    launched = own.launches * _A_LAUNCH
    launched -= found.grant("device", "launch", lambda part: part.state == "short calls", launched)
    queued: list[tuple[Cause, Callable[[Part], bool]]] = [
        ("device", _asks),
        ("device", _waits_for_others),
        ("waiting", _unnamed),
        ("device", _any),
    ]
    for cause, which in queued:
        computes -= found.grant(cause, "gpu", which, computes)
    earlier = own.earlier * whole
    for cause, which in queued[:3]:
        earlier -= found.grant(cause, "earlier", which, earlier)
    for which in (_asks, _waits_for_others):
        launched -= found.grant("device", "launch", which, launched)
    found.grant("device", "unknown", _asks, whole)
    found.move("device", "native", _any, guessed=False)
    found.move("gpu", "device", _any, guessed=False)
    found.by_kind["device"] += own.tail * whole
    if own.computing >= FULL:
        found.fix("device", own.computing * whole)
    elif own.copying >= FULL:
        found.fix("transfer", own.copying * whole)


def _any(part: Part) -> bool:
    return True


def _asks(part: Part) -> bool:
    if part.state != "short calls" and calls.converts(part.call):
        return True
    return part.doing in ("values", "copy") or calls.brings_values(part.call) or calls.copies(part.call)


def _waits_for_others(part: Part) -> bool:
    return part.state == "idle beside others"


def _unnamed(part: Part) -> bool:
    return part.doing is None and not calls.sleeps(part.call)
