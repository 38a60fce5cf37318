"""Judge cases, as pure functions: why one is not begun, what went wrong, what speaks against its figures."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.experiment.bench.case import Case
from jupyter_mlgpu.experiment.bench.monitor import MachineMonitor
from jupyter_mlgpu.experiment.bench.result import WIDE, CaseResult
from jupyter_mlgpu.explain.statistics import mann_kendall, median, theil_sen
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import Sentence, say

#: Times rise, as on a hot device that lowers its clock, if the probability of such a rise by chance is at
#: most the first, and if the relative rise is at least the second: a smaller throttling does not matter.
RISE_BY_CHANCE, SMALLEST_RISE = 0.01, 0.03


def flags(result: CaseResult, others: Sequence[str]) -> list[Sentence]:
    """Return the caveats of a result's figures, each as a sentence."""
    found: list[Sentence] = []
    elsewhere = [one for one in result.ran_on if one != result.device]
    if elsewhere:
        places = ", ".join(elsewhere)
        found.append(
            say("Work ran on {places} although {device} was requested.", places=places, device=result.device)
        )
    if others:
        programs = ", ".join(others)
        found.append(
            say(
                "Something else used {device} at the same time: {programs}.",
                device=result.device,
                programs=programs,
            )
        )
    if result.burn is not None:  # its course is what it measures, and `burning.py` judges that
        return found
    relative_rise = rise(result.samples)
    if relative_rise is not None:
        found.append(
            say(
                "The times rose by {rise} over the repeats, as when a hot device lowers its "
                "clock (thermal throttling); let it cool and run this case alone.",
                rise=f"{relative_rise:.0%}",
            )
        )
    if not result.steady:
        found.append(say("The warm-up was not yet steady when its time ran out."))
    spread = result.spread.value
    if spread is not None and spread > WIDE:
        if not found:
            found.append(_unexplained(result))
        # With a decimal: 10.2 % in whole percents would read "10%, more than 10%".
        wide = {"spread": f"{spread:.1%}", "limit": f"{WIDE:.0%}"}
        found.insert(0, say("The spread is {spread} of the median, more than {limit}.", **wide))
    return found


def rise(samples: Sequence[float]) -> float | None:
    """Return the relative rise of the times from the first to the last, or None if they do not rise.

    It counts if chance alone would hardly bring so many pairs in rising order. The rise is the Theil-Sen
    slope times the length, divided by the start of the line: the median of the samples without the slope.
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


def _unexplained(result: CaseResult) -> Sentence:
    if result.device.startswith("cpu"):
        return say(
            "Nothing in the benchmark explains the spread: other work on these cores takes part of the time."
        )
    return say("Nothing observed explains the spread; run the case again without --quick.")


def why_not(case: Case, device: Device, monitor: MachineMonitor) -> Sentence | None:
    """Return a sentence on why a case is not begun on a device, or None."""
    if case.needs.kinds and device.kind not in case.needs.kinds:
        kinds = " or ".join(case.needs.kinds)
        return say(
            "It needs {kinds}, but {device} is {kind}.", kinds=kinds, device=device.name, kind=device.kind
        )
    free = monitor.free_memory(device)
    if free.value is not None and case.needs.bytes > free.value:
        need, free_size = units.size(case.needs.bytes), units.size(free.value)
        return say(
            "It needs {need} of memory on {device}, but only {free} is available.",
            need=need,
            device=device.name,
            free=free_size,
        )
    return None


def too_long(seconds: float, longest: float) -> Sentence:
    """Return a sentence on why a case is ended after its first steps."""
    took, most = units.seconds(seconds), units.seconds(longest)
    return say("One step takes {time}; the limit is {most}.", time=took, most=most)


def failure(error: Exception) -> Sentence:
    """Return an error in one line: out of memory in plain words, others in the framework's own words."""
    text = f"{type(error).__name__}: {error}"
    if isinstance(error, MemoryError) or any(one in text.lower() for one in _NO_MEMORY):
        return say("Out of memory: the estimate was too low, or another program took some.")
    return Sentence(beginning(" ".join(text.split())))


_NO_MEMORY = ("outofmemory", "out of memory", "resource_exhausted", "resourceexhausted")
