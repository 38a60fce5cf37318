"""Correct the sampled shares of a cell with the recorded work of its own GPU.

The GPU limits a cell while its host waits for it. The GPU's time is recorded exactly, the host's waits are
sampled. So waits count for the GPU as long as it worked, and for something else beyond that.
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

#: The share of the time from which on the GPU alone is the limit, whatever the host did.
FULL = 0.8
#: Bytes per second between host and GPU from which on waits count as copies. Copies of pageable memory pass
#: through the driver's buffers: the GPU may copy for a sixth of the time that the host takes (JAX, H100).
_COPIED = 0.5e9
#: The most seconds of host time that one launch may account for: slow hosts need 0.1 ms.
_A_LAUNCH = 0.0005
_BETWEEN_HOST_AND_GPU = ("host-to-device", "device-to-host")

THE_GPU = say("The GPU")


class OwnWork(NamedTuple):
    """The work that a cell launched on its busiest GPU. Shares are fractions of `seconds`.

    Attributes:
        device: its name in a sentence, and its name.
        seconds: the cell's time until all of its GPU work was done.
        busy: the share in which the GPU did anything.
        computing: the share in which kernels, sets or copies within the GPU ran.
        copied: bytes per second between host and GPU.
        launches: the number of launches.
        earlier: the share in which the GPU still worked on earlier cells.
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
        """The share of the time in which only copies between host and GPU ran."""
        return self.busy - self.computing

    def readings(self) -> Iterator[Reading]:
        """Yield the readings that support an answer."""
        name, count = self.device[1], self.launches
        yield new_reading("device_busy", round(self.busy, 4), "device", "CUPTI", count, device=name)
        if self.copied:
            share, rate = round(self.copying, 4), round(self.copied)
            yield new_reading("device_copies", share, "device", "CUPTI", count, device=name)
            yield new_reading("host_device_rate", rate, "device", "CUPTI", count, device=name)


def of(record: Record) -> OwnWork | None:
    """Return the work of the record's busiest GPU, or None if it is not known exactly."""
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
    """Count the host's waits for the GPU as long as it worked, and for other causes beyond that."""
    found.seconds /= max(1 - own.tail, 1e-3)  # no samples were taken after the code had ended
    whole = found.seconds
    computes = max(0.0, own.computing - own.tail) * whole
    found.move("transfer", "device", _any, guessed=False)
    # Where much was copied, this includes the host's own copy into a buffer.
    found.grant("device", "transfer", calls.asks, whole if own.copied >= _COPIED else own.copying * whole)
    launched = own.launches * _A_LAUNCH
    launched -= found.grant("device", "launch", lambda part: part.state == "short calls", launched)
    queued: list[tuple[Cause, Callable[[Part], bool]]] = [
        ("device", calls.asks),
        ("device", _waits_for_others),
        ("waiting", calls.is_unnamed_wait),
        ("device", _any),
    ]
    for cause, which in queued:
        computes -= found.grant(cause, "gpu", which, computes)
    earlier = own.earlier * whole
    for cause, which in queued[:3]:
        earlier -= found.grant(cause, "earlier", which, earlier)
    for which in (calls.asks, _waits_for_others):
        launched -= found.grant("device", "launch", which, launched)
    found.grant("device", "unknown", calls.asks, whole)
    found.move("device", "native", _any, guessed=False)
    found.move("gpu", "device", _any, guessed=False)
    found.by_kind["device"] += own.tail * whole
    if own.computing >= FULL:
        found.fix("device", own.computing * whole)
    elif own.copying >= FULL:
        found.fix("transfer", own.copying * whole)


def _any(part: Part) -> bool:
    return True


def _waits_for_others(part: Part) -> bool:
    return part.state == "idle beside others"
