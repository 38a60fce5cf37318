"""An unfinished result: if a case ends early, what is known until then is kept."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from jupyter_mlgpu.experiment.bench import judging
from jupyter_mlgpu.experiment.bench.case import Case
from jupyter_mlgpu.experiment.bench.monitor import SensorReadings
from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.experiment.bench.result import NOT_MEASURED, Burn, CaseResult, Profiled, Status
from jupyter_mlgpu.experiment.timing import Timings
from jupyter_mlgpu.measure.frameworks.base import Device, Observed
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner
from jupyter_mlgpu.record.sentence import Sentence, joined, say


@dataclass
class UnfinishedResult:
    """A result that `measuring.py` fills in while the case runs; `finish` turns it into a `CaseResult`.

    `timings` are those of blocks of `steps`; `energy` is that of all samples together, in joules.
    """

    case: Case
    device: Device
    hardware: str | None
    type_ran: str | None = None
    ran_on: tuple[str, ...] = ()
    steps: int = 1
    timings: Timings = field(default_factory=Timings)
    peak_memory: Quantity | None = None
    energy: Quantity | None = None
    measured_s: float = 0.0
    notes: list[Sentence] = field(default_factory=list)
    others: tuple[str, ...] = ()
    #: When each sample of a burn ended, in seconds since it began, and what the sensors read meanwhile.
    moments: list[tuple[float, SensorReadings]] = field(default_factory=list)
    profiled: Profiled | None = None

    def note_prepared(self, runner: CaseRunner) -> None:
        """Note the type in which the prepared case runs."""
        self.type_ran = runner.type_ran
        if runner.note is not None:
            self.notes.append(joined(runner.note))

    def note_observed(self, device: Device, observed: Observed, process: Quantity) -> None:
        """Note what an observed step showed; `process` is the process's peak, which is used for a CPU."""
        if observed.ran_on is not None:
            self.ran_on = tuple(sorted({one.device for one in observed.ran_on}))
        peaks = [one for one in observed.readings if one.quantity == "peak_memory_allocator"]
        known = next((one.value for one in peaks if one.value), None)
        if known is not None:
            self.peak_memory = Quantity(known, "bytes")
        elif device.kind == "cpu":
            self.peak_memory = process
        else:
            why = next((one.why_missing for one in peaks if one.why_missing), None)
            self.peak_memory = unknown("bytes", why or say("The framework does not report its peak memory."))

    def note_profiled(self, found: Profiled | Sentence) -> None:
        """Note what a profiler showed, or why it showed nothing."""
        if isinstance(found, Profiled):
            self.profiled = found
        else:
            self.notes.append(say("Its kernels are not known. {why}", why=found))

    def finish(self, status: Status, why: Sentence | None) -> CaseResult:
        """Return the result of what is known; figures that were not measured have a reason."""
        case = self.case
        reason = why or NOT_MEASURED
        blocks = self.timings
        energy = self.energy or unknown("J", reason)
        result = CaseResult(
            case=case.name,
            framework=case.framework,
            device=self.device.name,
            hardware=self.hardware,
            parameters=dict(case.parameters),
            options=case.options,
            type_asked=case.type_asked,
            type_ran=self.type_ran,
            peak_type=case.peak_type,
            ran_on=self.ran_on,
            status=status,
            why=why,
            samples=tuple(seconds / self.steps for seconds in blocks.samples),
            steps=self.steps,
            warmups=blocks.warmups,
            steady=blocks.steady,
            items=case.work.items,
            unit=case.work.unit,
            flops=case.work.flops,
            why_no_flops=case.work.why_no_flops,
            formula=case.work.formula,
            moved=case.work.moved,
            chart=case.chart,
            peak_memory=self.peak_memory or unknown("bytes", reason),
            energy=energy,
            watts=unknown("W", energy.why_missing or reason)
            if energy.value is None
            else Quantity(energy.value / sum(blocks.samples), "W"),
            gemm_share=unknown("1", reason if not blocks.samples else say("The GEMM peak is not known yet.")),
            notes=tuple(self.notes),
            measured_s=self.measured_s,
            burn=None if case.burn_s is None else self._burn(),
            profiled=self.profiled,
        )
        if not blocks.samples:
            return result
        return replace(result, flags=tuple(judging.flags(result, self.others)))

    def _burn(self) -> Burn:
        # An interrupt may have come after a sample's readings and before its time was noted.
        moments = self.moments[: len(self.timings.samples)]
        missing: dict[Literal["power", "temperature", "clock"], Sentence] = {}
        for _, now in moments:
            readings: dict[Literal["power", "temperature", "clock"], Quantity] = {
                "power": now.power,
                "temperature": now.temperature,
                "clock": now.clock,
            }
            missing |= {name: one.why_missing for name, one in readings.items() if one.why_missing}
        return Burn(
            tuple(ended for ended, _ in moments),
            tuple(now.power.value for _, now in moments),
            tuple(now.temperature.value for _, now in moments),
            tuple(now.clock.value for _, now in moments),
            missing,
        )
