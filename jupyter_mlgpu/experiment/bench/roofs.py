"""Save the roofs that a benchmark has measured; cells' receipts use them (`record/roofs.py`)."""

from __future__ import annotations

from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.record import roofs
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.roofs import MEMORY, Roof
from jupyter_mlgpu.record.sentence import Sentence, listed, say


def of(run: BenchRun, machine: str) -> tuple[Roof, ...]:
    """Return the best product of each type and the best bandwidth, for each framework and device.

    `machine` is the digest of this host's name. Interrupted and disturbed cases, and runs that were not
    measured here now, are left out.
    """
    return tuple(_roof(one, run, machine) for one in _best(run) if not one.flags)


def keep(run: BenchRun, machine: str) -> Sentence | None:
    """Save the roofs of the run. Return a sentence on those not saved, which does not fail the run."""
    try:
        roofs.keep(of(run, machine))
    except RecordError as error:
        return say("This machine's roof could not be saved for receipts: {error}", error=error)
    disturbed = [one for one in _best(run) if one.flags]
    if not disturbed:
        return None
    names = [say("memory bandwidth") if one.case == "bandwidth" else one.type_ran or "" for one in disturbed]
    return say(
        "Not saved as this machine's roof, because something disturbed the benchmark: {figures}; "
        "repeat it when the machine is idle.",
        figures=listed(list(dict.fromkeys(names))),
    )


def _best(run: BenchRun) -> list[CaseResult]:
    """Return the case with the highest rate for each roof."""
    best: dict[tuple[str | None, ...], CaseResult] = {}
    for one in run.results if run.origin == "live" else ():
        if one.status == "ok" and one.samples and not one.options and _rate(one) > 0:
            best[_key(one)] = max(best.get(_key(one), one), one, key=_rate)
    return list(best.values())


def _key(one: CaseResult) -> tuple[str, str, str | None, str]:
    return one.framework, one.device, one.hardware, MEMORY if one.case == "bandwidth" else one.type_ran or ""


def _rate(one: CaseResult) -> float:
    """Return a product's FLOP/s or the bandwidth's bytes/s; 0 if the case is no roof."""
    if one.case == "gemm" and one.type_ran:
        return (one.tflops.value or 0.0) * 1e12
    return (one.throughput.value or 0.0) if one.case == "bandwidth" else 0.0


def _roof(one: CaseResult, run: BenchRun, machine: str) -> Roof:
    version = run.versions.get(one.framework, "")
    return Roof(machine, *_key(one), _rate(one), len(one.samples), run.started_at, version, one.label)
