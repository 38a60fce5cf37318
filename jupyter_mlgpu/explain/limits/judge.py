"""Judge what limited a cell: the cause that took most of its time.

The time of each cause comes from samples of the cell's stack, from counters, and from records of GPU work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import (
    calls,
    evidence,
    limit_sentences,
    measured,
    own_work,
    remedies,
    shares,
)
from jupyter_mlgpu.explain.limits.confidence import LIKELY, OPEN, OTHERS, confidence, others
from jupyter_mlgpu.explain.limits.lines import hot_lines
from jupyter_mlgpu.explain.limits.most import mostly
from jupyter_mlgpu.explain.limits.own_work import OwnWork
from jupyter_mlgpu.explain.limits.shares import Cause, Shares, kind_of
from jupyter_mlgpu.measure.activity.activity import Activity, Line, Part
from jupyter_mlgpu.record.limit import Confidence, Limit
from jupyter_mlgpu.record.reading import Reading, new_reading
from jupyter_mlgpu.record.record import COMPUTED_FOR, Record
from jupyter_mlgpu.record.sentence import say, say_count

#: The least number of samples from which a limit is judged.
FEWEST = 3
#: Time lost to other programs or to a memory shortage is ignored up to this share of the cell's time.
_LOST = 0.05
#: Major page faults per second below which the process itself was not short of memory. At 8 ms each on a
#: rotating disk, five of them take 4 % of the time, a little less than `_LOST`.
_FAULTS = 5
#: An allocator's retries show a memory shortage if there were at least this many in the cell, and at least
#: this many per second.
_RETRIES = 2

#: The part of the host's waits for a GPU below which the driver's count of the GPU's work is low.
_AT_WORK = 0.25

PROFILED = say("A profiler or debugger was active in this cell, so its times do not show what limits it.")


def with_limit(record: Record, activity: Activity) -> Record:
    """Return the record with its limit and hot lines, or with the reason why the limit is not known."""
    if shares.is_profiled(activity):
        return replace(record, why_no_limit=PROFILED)
    gpu_work = own_work.of(record)
    # Three shares of the time are known without samples: the time in which no sample could be taken, measured
    # compile time, and recorded GPU work.
    known_share = max(activity.unsampled, activity.compile_time or 0.0) / max(activity.seconds, 1e-9)
    if gpu_work is not None:
        known_share = max(known_share, gpu_work.computing, gpu_work.copying)
    if activity.samples < FEWEST and known_share < LIKELY:
        why = say_count(
            "The cell was sampled only once, which is not enough to judge.",
            "The cell was sampled {count} times, which is not enough to judge.",
            activity.samples,
        )
        return replace(record, limit=None, why_no_limit=why)
    activity = _in_the_cell(activity, record.cell.execution_count)
    on_gpu = _ran_on_gpu(record, gpu_work)
    # Waits for what a lazy framework had to compute for earlier cells are no waits for small operations.
    computed_late = COMPUTED_FOR in record.facts
    framework_worked = bool(record.device.ran_on) or computed_late
    cell_shares = shares.of(activity, framework_worked=framework_worked, on_gpu=on_gpu or computed_late)
    # Each of the following calls corrects the sampled shares in place.
    busy_gpu = None
    counted: dict[str, float] = {}
    if on_gpu and gpu_work is None:
        counted = _driver_count(activity, record)
        on_metal = any(device.kind == "metal" for device in record.device.ran_on or ())
        gauged = replace(activity, gpus={**activity.gpus, **{one: (counted[one], 1) for one in counted}})
        busy_gpu = measured.gpu(cell_shares, gauged, shares_memory=on_metal)
    _count_preparation(cell_shares, activity)
    if gpu_work is not None:
        own_work.share_out(cell_shares, gpu_work)
    measured.compiling(cell_shares, activity)
    _count_disturbances(cell_shares, activity)
    if busy_gpu in counted:  # the headline has this count, too
        cell_shares.fix("device", counted[busy_gpu] * cell_shares.seconds)
    cell_time = _CellTime(record, cell_shares, activity, gpu_work, on_gpu)
    seconds = gpu_work.seconds if gpu_work is not None else float(record.reading("wall_time").value or 0)
    limit = cell_time.limit(busy_gpu, seconds)
    return replace(record, limit=limit, why_no_limit=None, lines=hot_lines(activity))


def _in_the_cell(activity: Activity, number: int | None) -> Activity:
    """Return the activity with lines that keep their number, and name a cell only if it is another one.

    `number` is this cell's execution count. The lines of the result have no file.
    """

    def without_this_cell(part: Part) -> Part:
        if part.line is None:
            return part
        cell = None if part.line.cell == number else part.line.cell
        return replace(part, line=Line(part.line.number, cell))

    return replace(
        activity,
        parts=tuple(map(without_this_cell, activity.parts)),
        unsampled_in=tuple(map(without_this_cell, activity.unsampled_in)),
    )


@dataclass(frozen=True, slots=True)
class _CellTime:
    """The time of a cell, divided by cause, with everything needed to state its limit.

    `gpu_work` is the recorded GPU work of the cell, None if it was not recorded.
    """

    record: Record
    shares: Shares
    activity: Activity
    gpu_work: OwnWork | None
    on_gpu: bool

    def limit(self, busy_gpu: str | None, seconds: float) -> Limit:
        """Return the limit: the cause that took most of the time.

        `busy_gpu` is the GPU that worked most of the time according to the driver, None if there is none or
        if GPU work was recorded. `seconds` is the time of the cell.
        """
        cell_shares, activity, gpu_work = self.shares, self.activity, self.gpu_work
        cause: Cause = max(
            cell_shares.by_kind, key=lambda cause: cell_shares.by_kind[cause], default="unknown"
        )
        if cell_shares.share(cause) < OPEN:
            cause = "unknown"
        share, parts = cell_shares.share(cause), cell_shares.parts[cause]
        supporting = tuple(evidence.readings(cause, share, parts, cell_shares, activity, gpu_work))
        if (memory_limit := _memory_limit(activity, supporting, self.record)) is not None:
            return memory_limit
        if cause == "device" and activity.gpus and gpu_work is None and _may_work_for_others(activity):
            gpu_share = min(1.0, share + cell_shares.share("contention"))
            sentence = limit_sentences.shared_gpu(
                busy_gpu or next(iter(activity.gpus)), gpu_share, cell_shares.samples, parts
            )
            return Limit("unknown", "open", sentence, None, supporting, remedies.WITHOUT_NEIGHBOURS)
        may_be_native = cause == "python" and _may_be_native(
            parts, has_samples=bool(activity.parts), framework_worked=bool(self.record.device.ran_on)
        )
        # The confidence "open" means that the cause is not certain.
        level: Confidence = "open"
        if not may_be_native:
            level = confidence(cause, cell_shares, activity, gpu_work, on_gpu=self.on_gpu)
        is_mixed = (
            cause == "unknown"
            or share < LIKELY
            or (level == "open" and _others_took_much(cell_shares, cause))
        )
        mixture = evidence.mixture(cell_shares) if level == "open" else {}
        samples = None if cell_shares.exact == cause else cell_shares.samples
        # If the share was sampled although the GPU's work was recorded, it is the host's waiting for the GPU.
        # So it is if the host asked for values of a GPU that is not known to have been busy.
        asked = gpu_work is None and busy_gpu is None and self._may_have_waited_for_gpu(share)
        asked = asked and mostly(parts, calls.asks)
        waited_for_gpu = cause == "device" and samples is not None and (gpu_work is not None or asked)
        told: Cause = "gpu" if waited_for_gpu else cause
        if asked and waited_for_gpu:
            share_of_waits = new_reading(
                "gpu_wait_share", round(share, 4), "cell", "samples", cell_shares.samples
            )
            supporting = (share_of_waits, *supporting)
        name = busy_gpu if gpu_work is None else gpu_work.device[0]
        sentence = limit_sentences.sentence(told, share, samples, parts, name, certain=level == "sure")
        limit = Limit(
            kind=kind_of(cause),
            confidence=level,
            said=limit_sentences.mixed(mixture, cell_shares.samples) if is_mixed else sentence,
            share=None if cause == "unknown" else round(share, 4),
            evidence=supporting,
            next=remedies.WITHOUT_NEIGHBOURS
            if activity.gpu_neighbours and level == "open" and cause == "device"
            else remedies.remedy("unknown" if may_be_native else told, self.record, parts),
            parts=evidence.by_kind(mixture) or None,
        )
        remaining = evidence.at_least(cause, share, cell_shares, gpu_work, seconds)
        # A driver's count may be too low, and then more would remain than is true.
        by_driver = cell_shares.exact == cause and gpu_work is None
        if remaining is None or level == "open" or by_driver:
            return limit
        time_without = new_reading(
            "time_without", round(remaining, 6), "cell", "samples", cell_shares.samples
        )
        bound = limit_sentences.bound(seconds, remaining)
        return replace(limit, bound=bound, evidence=(*supporting, time_without))

    def _may_have_waited_for_gpu(self, share: float) -> bool:
        """Return False if no GPU was used, or if the processor worked instead.

        The driver's count of a GPU may be too low, or may not move. So a low count means something only if
        the process took processor time meanwhile.
        """
        waited = share * self.activity.seconds
        counted = [one.value for one in self.record.readings if one.quantity == "device_time" and one.value]
        idle = sum(counted) < _AT_WORK * waited
        computed = (self.activity.process_time or 0.0) >= LIKELY * waited
        return self.on_gpu and not (idle and computed)


def _others_took_much(cell_shares: Shares, cause: Cause) -> bool:
    """Return True if other programs used the processors or the GPU for at least about a third of the time."""
    return cause != "contention" and cell_shares.share("contention") >= OPEN


def _may_work_for_others(activity: Activity) -> bool:
    """Return True if the GPU may have worked for other programs as well as for this cell.

    Either the driver does not report who used the GPU, and other programs may compute on it. Or other
    programs used much of it; how much is known from only a few of the driver's samples.
    """
    if activity.gpu_others is None:
        return bool(activity.gpu_neighbours)
    return activity.gpu_others >= OTHERS


def _ran_on_gpu(record: Record, gpu_work: OwnWork | None) -> bool:
    if gpu_work is not None and (gpu_work.launches or gpu_work.earlier):
        return True
    used_gpu = any(device.kind != "cpu" for device in record.device.ran_on or ())
    return used_gpu or any(operation.plane == "device" for operation in record.ops)


def _driver_count(activity: Activity, record: Record) -> dict[str, float]:
    """Return the GPU that, by the driver's count for this process, worked most of the time, with its share.

    A Mac's count is coarse, and was seen to be too low, never too high: a low one says nothing. Empty if the
    GPU's utilization was sampled.
    """
    duration = record.duration
    if activity.gpus or not duration:
        return {}
    counted = {
        one.device: min(1.0, one.value / duration)
        for one in record.readings
        if one.quantity == "device_time" and one.scope == "process" and one.value and one.device
    }
    return {device: share for device, share in counted.items() if share >= measured.BUSY}


def _count_preparation(cell_shares: Shares, activity: Activity) -> None:
    """Move time to `compiling` that no stack shows: a compiler in a child process, and first runs.

    XLA compiles a graph when the graph first runs, and compiling takes longer than one run. Other graphs are
    optimized when they first run, and their GPU kernels are generated then. This takes about as long as
    tracing the graph. The framework's own clock measures the tracing better than samples do.
    """
    waits: tuple[tuple[Cause, Callable[[Part], bool]], ...] = (
        ("waiting", lambda part: calls.brings_values(part.call)),
        ("device", calls.computes_lazily),
    )
    for cause, which in waits:
        waited = sum(part.seconds for part in cell_shares.parts[cause] if which(part))
        if waited and activity.compiled != 0 and (activity.children_time or 0.0) > 0.5 * waited:
            cell_shares.move(cause, "compiling", which)
    if activity.first_runs and cell_shares.by_kind["device"]:
        compiled = min(
            1.0, activity.first_runs / activity.seconds * cell_shares.seconds / cell_shares.by_kind["device"]
        )
        cell_shares.move("device", "compiling", lambda part: part.doing is None, compiled)
        return
    traced = [part for part in cell_shares.parts["compiling"] if part.doing == "compiling"]
    seconds = max(sum(part.seconds for part in traced), activity.compile_time or 0.0)
    if traced and seconds >= 0.5 * cell_shares.by_kind["device"] > 0:
        lines = {part.line for part in traced}
        cell_shares.move("device", "compiling", lambda part: part.line in lines)


def _may_be_native(parts: Sequence[Part], *, has_samples: bool, framework_worked: bool) -> bool:
    """Return True if what looks like Python may be native code of an array library.

    Such code may hold the GIL, or release it for so short a time that no other thread gets it. Samples cannot
    tell it from Python; a profile could. It is assumed if the samples were mostly at array operations, or if
    there are no samples and a framework worked.
    """
    if not has_samples:
        return framework_worked
    at_arrays = sum(part.seconds for part in parts if calls.of_arrays(part))
    return at_arrays > 0.5 * sum(part.seconds for part in parts)


def _count_disturbances(cell_shares: Shares, activity: Activity) -> None:
    """Count the time lost to other programs or to a memory shortage.

    It is subtracted from all other causes except `waiting`.
    """
    if others(activity) >= OTHERS:
        lost_share = (activity.processor_wait or 0.0) / activity.seconds
        # While the cell's thread waits for other threads of its process, it waits for no processor itself.
        # But these threads may, and the share of their time in which they did is lost, too.
        at_threads = sum(
            part.seconds for part in cell_shares.parts["device"] if part.state == "idle beside others"
        )
        cpu_wait, cpu_time = activity.processor_waits or 0.0, activity.process_time or 0.0
        if cpu_wait:
            lost_share += at_threads / cell_shares.seconds * (cpu_wait / (cpu_wait + cpu_time))
        if lost_share > _LOST:
            cell_shares.take("contention", min(lost_share, 1.0), but="waiting")
    if (activity.gpu_others or 0.0) >= OTHERS and cell_shares.by_kind["device"] > 0:
        cell_shares.take(
            "contention", cell_shares.share("device") * (activity.gpu_others or 0.0), but="waiting"
        )
    # Linux counts the stalls of all programs together, and it may be another program that was swapping. The
    # process's own page faults show if it was this one.
    may_be_own = activity.major_faults is None or activity.major_faults >= _FAULTS * activity.seconds
    if activity.swapped and may_be_own:
        stalled_share = (activity.memory_stall or 0.0) / activity.seconds
        if stalled_share > _LOST:
            cell_shares.take("memory", min(stalled_share, 1.0), but="waiting")


def _memory_limit(activity: Activity, supporting: tuple[Reading, ...], record: Record) -> Limit | None:
    """Return a memory limit if the allocator retried often, else None.

    The time lost to retries is not measured.
    """
    retries = activity.allocator_retries or 0
    if retries < max(_RETRIES, _RETRIES * activity.seconds):
        return None
    retried = new_reading("allocator_retries", retries, "device", "allocator", 1)
    sentence = say_count(
        "The allocator freed its cached memory and retried once.",
        "The allocator freed its cached memory and retried {count} times.",
        retries,
    )
    return Limit(
        "memory", "likely", sentence, None, (retried, *supporting), remedies.remedy("memory", record)
    )
