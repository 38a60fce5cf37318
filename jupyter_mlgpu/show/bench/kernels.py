"""The fastest training of each model: how busy the device was, and its longest kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.measure.frameworks.models import MODELS
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.page.model import FIGURES, Table

HEAD = say(
    "Kernels of the fastest training, from a run of its own under a profiler, as a share of the time of all "
    "kernels and copies."
)


def fastest_trainings(results: Sequence[CaseResult]) -> Iterator[CaseResult]:
    """Yield the fastest training of each model, framework and device, in the order of the results."""
    best: dict[tuple[str, str, str], CaseResult] = {}
    for one in results:
        if one.case in MODELS and one.parameters.get("mode") == "train" and one.samples:
            key = (one.case, one.framework, one.device)
            if key not in best or (one.throughput.value or 0.0) > (best[key].throughput.value or 0.0):
                best[key] = one
    yield from best.values()


def parts(results: Sequence[CaseResult]) -> tuple[Sentence | Table, ...]:
    """Return the table of kernels with the sentence that says what it shows, or nothing."""
    rows = [
        (one.label, f"{one.profiled.busy:.0%}", *_named(one))
        for one in fastest_trainings(results)
        if one.profiled is not None
    ]
    if not rows:
        return ()
    columns = (say("case"), say("GPU busy"), *(say("kernel {number}", number=number) for number in (1, 2, 3)))
    return HEAD, Table(columns, tuple(rows), summary=FIGURES)


def _named(one: CaseResult) -> list[str]:
    kernels = one.profiled.kernels if one.profiled is not None else ()
    named = [f"{kernel.name} {kernel.share:.0%}" for kernel in kernels[:3]]
    return named + [""] * (3 - len(named))
