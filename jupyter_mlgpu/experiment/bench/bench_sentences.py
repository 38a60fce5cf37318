"""The figures and the progress of a benchmark in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, joined, say

if TYPE_CHECKING:
    from jupyter_mlgpu.experiment.bench.quantity import Quantity
    from jupyter_mlgpu.experiment.bench.run import BenchRun
    from jupyter_mlgpu.experiment.bench.session import BenchProgress

#: Units whose figures are written with a metric prefix.
_SCALED = ("bytes/s", "bytes/J")
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def quantity(one: Quantity) -> str:
    """Return a figure with its unit; empty if there is none, because the reason is below the table."""
    if one.value is None:
        return ""
    value = one.value
    if one.unit == "s":
        return units.duration(value)
    if one.unit == "1":
        return f"{value:.0%}" if value >= 0.0995 else f"{value:.1%}"
    if one.unit == "bytes":
        return units.size(value)
    if one.unit in _SCALED:
        scale, prefix = next(((scale, name) for scale, name in _PREFIXES if value >= scale), (1.0, ""))
        return f"{three(value / scale)} {prefix}B{one.unit.removeprefix('bytes')}"
    return f"{three(value)} {one.unit}"


def three(value: float) -> str:
    """Return a number with three digits, and a comma between thousands."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


def progress(now: BenchProgress) -> Sentence:
    """Return the sentence of the progress line on what runs now."""
    return say("Benchmark {number} of {total}: {doing}", number=now.number, total=now.total, doing=doing(now))


def doing(now: BenchProgress) -> Sentence:
    """Return the running case, its step, and how long all cases will still take."""
    step = now.step
    at: str = step.doing
    if step.repeats:
        at = say("{doing} {number} of {repeats}", doing=step.doing, number=step.number, repeats=step.repeats)
    # A burn's figures need the room.
    case = step.case.label if step.case.burn_s is None else step.case.name
    what = say("{case}, {doing}", case=case, doing=at)
    if now.left_s is None:
        return what
    return say("about {time} left: {doing}", time=units.seconds(now.left_s), doing=what)


def head(run: BenchRun) -> Sentence:
    """Return in a line where and how it was measured."""
    where = {"hardware": hardware(run), "date": run.started_at[:10]}
    sentence = (
        say("{hardware}, {date}, quick.", **where) if run.quick else say("{hardware}, {date}.", **where)
    )
    if run.outcome != "ok":
        sentence = joined(sentence, say("It was interrupted and is not complete."))
    if run.origin == "live":
        return sentence
    if run.origin == "loaded":
        return say("Read from a file: {rest}", rest=sentence)
    return say("Replayed, not measured here: {rest}", rest=sentence)


def hardware(run: BenchRun) -> str:
    """Return the names of the devices, each once, or of the processor if no device has a name."""
    names = [str(one.hardware) for one in run.results if one.hardware]
    return ", ".join(dict.fromkeys(names)) or str(run.machine.get("processor") or say("unknown hardware"))
