"""Pure judgement: why a case is not begun, what went wrong, what speaks against its figures."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.bench.case import Case
from jupyter_mlgpu.bench.monitor import MachineMonitor
from jupyter_mlgpu.bench.result import WIDE, Result
from jupyter_mlgpu.frameworks.base import Device
from jupyter_mlgpu.redact import beginning
from jupyter_mlgpu.render import words
from jupyter_mlgpu.statistics import mann_kendall, median, theil_sen

#: Times rise, as on a device that grows hot and lowers its clock, where chance does that in at most this part
#: of cases, and where it is by this part at least: less is no throttling that matters.
RISE_BY_CHANCE, SMALLEST_RISE = 0.01, 0.03


def flags(result: Result, others: Sequence[str]) -> list[str]:
    """What speaks against the figures of a result, each a sentence."""
    found: list[str] = []
    elsewhere = [one for one in result.ran_on if one != result.device]
    if elsewhere:
        found.append(f"Work ran on {', '.join(elsewhere)}, where {result.device} was asked for.")
    if others:
        found.append(f"Something else used {result.device} at the same time: {', '.join(others)}.")
    rose = rise(result.samples)
    if rose is not None:
        found.append(
            f"The times rose by {rose:.0%} over the repeats, as on a device that grows hot and lowers its "
            "clock (thermal throttling); let it cool, and run this case alone."
        )
    if not result.steady:
        found.append("The warm-up had not become steady when its time was over.")
    spread = result.spread.value
    if spread is not None and spread > WIDE:
        if not found:
            found.append(_unexplained(result))
        # With a decimal: 10.2 % in whole percents would read "10%, more than 10%".
        found.insert(0, f"The spread is {spread:.1%} of the median, more than {WIDE:.0%}.")
    return found


def rise(samples: Sequence[float]) -> float | None:
    """By what part of the first time the times rise from the first to the last; None where they do not.

    It counts where chance alone would hardly bring so many pairs in rising order. The rise is Theil and Sen's
    slope times the length, over where the line begins: the median of what the slope leaves of each sample.
    """
    count = len(samples)
    if mann_kendall(samples) > RISE_BY_CHANCE:
        return None
    slope = theil_sen(range(count), samples)
    start = median([samples[i] - slope * i for i in range(count)])
    if start <= 0:
        return None
    found = slope * (count - 1) / start
    return found if found >= SMALLEST_RISE else None


def _unexplained(result: Result) -> str:
    if result.device.startswith("cpu"):
        return "Nothing of ours explains the spread: what else runs on these cores takes part of the time."
    return "Nothing that was seen explains the spread; run the case again without --quick."


def why_not(case: Case, device: Device, monitor: MachineMonitor) -> str | None:
    """Why a case is not begun on a device, in a sentence."""
    if case.needs.kinds and device.kind not in case.needs.kinds:
        return f"It needs {' or '.join(case.needs.kinds)}, and {device.name} is {device.kind}."
    free = monitor.free_memory(device)
    if free.value is not None and case.needs.bytes > free.value:
        need, there = words.size(case.needs.bytes), words.size(free.value)
        return f"It needs {need} of memory on {device.name}, and {there} are free."
    return None


def too_long(seconds: float, longest: float) -> str:
    """Why a case is given up after its first steps."""
    took, most = words.seconds(seconds), words.seconds(longest)
    return f"One step takes {took}, and no more than {most} are given to it."


def failure(error: Exception) -> str:
    """What went wrong, in one line: out of memory in plain words, anything else as the framework says it."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError) or any(one in text.lower() for one in _NO_MEMORY):
        return "The memory ran out: what it needs was estimated too low, or another program took some."
    return beginning(" ".join(text.split()))


_NO_MEMORY = ("outofmemory", "out of memory", "resource_exhausted", "resourceexhausted")
