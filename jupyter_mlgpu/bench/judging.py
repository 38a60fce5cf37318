"""Pure judgement: why a case is not begun, what went wrong, what speaks against its figures."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.bench.around import Around
from jupyter_mlgpu.bench.case import Case
from jupyter_mlgpu.bench.result import WIDE, Result
from jupyter_mlgpu.bench.trend import rise
from jupyter_mlgpu.frameworks.base import Device
from jupyter_mlgpu.redact import beginning
from jupyter_mlgpu.render import words


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


def _unexplained(result: Result) -> str:
    if result.device.startswith("cpu"):
        return "Nothing of ours explains the spread: what else runs on these cores takes part of the time."
    return "Nothing that was seen explains the spread; run the case again without --quick."


def why_not(case: Case, device: Device, around: Around) -> str | None:
    """Why a case is not begun on a device, in a sentence."""
    if case.needs.kinds and device.kind not in case.needs.kinds:
        return f"It needs {' or '.join(case.needs.kinds)}, and {device.name} is {device.kind}."
    free = around.free_memory(device)
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
