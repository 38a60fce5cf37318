"""Save the roofs that a benchmark has measured; cells' receipts use them (`record/roofs.py`)."""

from __future__ import annotations

from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.record import roofs
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.roofs import MEMORY, Roof
from jupyter_mlgpu.record.sentence import Sentence, say


def of(run: BenchRun, machine: str) -> tuple[Roof, ...]:
    """Return the best product of each type and the best bandwidth, for each framework and device.

    `machine` is the digest of this host's name. Interrupted cases, and runs that were not measured here now,
    are left out.
    """
    best: dict[tuple[str | None, ...], Roof] = {}
    for one in run.results if run.origin == "live" else ():
        roof = _roof(one, run, machine)
        if roof is not None and (roof.key not in best or best[roof.key].rate < roof.rate):
            best[roof.key] = roof
    return tuple(best.values())


def _roof(one: CaseResult, run: BenchRun, machine: str) -> Roof | None:
    if one.status != "ok" or not one.samples or one.options:
        return None
    if one.case == "gemm" and one.type_ran:
        type_, rate = one.type_ran, (one.tflops.value or 0.0) * 1e12
    elif one.case == "bandwidth":
        type_, rate = MEMORY, one.throughput.value or 0.0
    else:
        return None
    if rate <= 0:
        return None
    version = run.versions.get(one.framework, "")
    count = len(one.samples)
    return Roof(
        machine,
        one.framework,
        one.device,
        one.hardware,
        type_,
        rate,
        count,
        run.started_at,
        version,
        one.label,
        bool(one.flags),
    )


def keep(run: BenchRun, machine: str) -> Sentence | None:
    """Save the roofs of the run. Return a sentence if they cannot be saved, which does not fail the run."""
    try:
        roofs.keep(of(run, machine))
    except RecordError as error:
        return say("This machine's roof could not be saved for receipts: {error}", error=error)
    return None
