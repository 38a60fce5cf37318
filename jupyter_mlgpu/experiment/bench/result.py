"""The result of one case: plain frozen data and what is derived from it, to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from msgspec import Meta

from jupyter_mlgpu.experiment.bench.case import label
from jupyter_mlgpu.experiment.bench.quantity import Amount, Quantity, unknown
from jupyter_mlgpu.explain.statistics import interval_name, interval_or_range, median
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.decoding import Count
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Sentence, say

#: ok; interrupted or failed, with what was measured until then; skipped, if it was not begun. `why` has the
#: reason.
Status = Literal["ok", "interrupted", "failed", "skipped"]

#: A spread above this share of the median is flagged, and the result says what is known of the cause.
WIDE = 0.10

NOT_MEASURED = say("Nothing was measured.")

# Dividing by a number nearer to 0 than this, and not 0, gives infinity.
_SMALLEST = 1e-15

Seconds = Annotated[float, Meta(ge=_SMALLEST, le=1e30)]


@dataclass(frozen=True)
class Burn:
    """The course of a burn: an entry per sample of its result, None where a sensor did not respond.

    `ended` is when the sample ended, in seconds since the burn began. The sensors were read meanwhile:
    `watts`, `celsius` and `megahertz`. `missing` says why readings are not known.
    """

    ended: tuple[Amount, ...]
    watts: tuple[Amount | None, ...]
    celsius: tuple[Amount | None, ...]
    megahertz: tuple[Amount | None, ...]
    missing: Mapping[Literal["power", "temperature", "clock"], Sentence]

    def __post_init__(self) -> None:
        if len({len(one) for one in (self.ended, self.watts, self.celsius, self.megahertz)}) > 1:
            raise RecordError("a burn should have as many readings of each kind as samples")


Share = Annotated[float, Meta(ge=0, le=1)]


@dataclass(frozen=True)
class KernelShare:
    """A kernel and its share of the time of all kernels and copies on the device."""

    name: str
    share: Share


@dataclass(frozen=True)
class Profiled:
    """Some more `steps` of a case under a profiler, which are not part of its samples.

    `busy` is the share of their time in which the device ran a kernel or a copy, `kernels` are those with the
    longest times, the longest first.
    """

    steps: Count
    busy: Share
    kernels: tuple[KernelShare, ...]


@dataclass(frozen=True)
class CaseResult:
    """One case on one device.

    `samples` are seconds per step, in the order in which they were measured, each over `steps` steps, without
    warm-up. `items` of `unit` and `flops` (None with a reason) are what one step does. `type_ran` is the type
    in which it ran, `ran_on` the devices that worked, as far as the framework reports them. `energy` is that
    of all samples together. `flags` are sentences on what speaks against the figures, `notes` on how to read
    them. `measured_s` is how long the case took in all, in seconds. `burn` is the course of a burn, None for
    other cases. `profiled` is what a profiler showed of some more steps, None for most cases.
    """

    case: str
    framework: str
    device: str
    hardware: str | None
    parameters: Mapping[str, Any]
    options: tuple[str, ...]
    type_asked: str
    type_ran: str | None
    peak_type: str | None
    ran_on: tuple[str, ...]
    status: Status
    why: Sentence | None
    samples: tuple[Seconds, ...]
    steps: Count
    warmups: Count
    steady: bool
    items: Amount
    unit: str
    flops: Amount | None
    why_no_flops: Sentence | None
    formula: str
    moved: Amount | None
    chart: str | None
    peak_memory: Quantity
    energy: Quantity
    watts: Quantity
    gemm_share: Quantity
    flags: tuple[Sentence, ...] = ()
    notes: tuple[Sentence, ...] = ()
    measured_s: Amount = 0.0
    burn: Burn | None = None
    profiled: Profiled | None = None

    def __post_init__(self) -> None:
        if self.samples and not self.steps:
            raise RecordError("samples should be of one step or more each, found steps 0")
        if self.energy.value is not None and not self.samples:
            raise RecordError("there should be samples where there is energy")
        if self.burn is not None and len(self.burn.ended) != len(self.samples):
            raise RecordError("a burn should have as many readings as samples")
        if self.burn is not None and not self.flops:
            raise RecordError("a burn should have flops")
        if self.flops is None and not self.why_no_flops:
            raise RecordError("flops is null, and why_no_flops does not say why")
        figures = (self.peak_memory.value, self.energy.value, self.watts.value, self.gemm_share.value)
        for amount in (self.items, self.flops, self.moved, *figures):
            if amount and amount < _SMALLEST:
                raise RecordError(f"a figure should be 0 or at least {_SMALLEST}, found {amount!r}")

    @property
    def label(self) -> str:
        """The case in a few words, like `Case.label`."""
        return label(self.case, self.parameters, self.type_asked, self.options)

    @property
    def key(self) -> tuple[Any, ...]:
        """The identity of an experiment: case, parameters, type and options, but not where it ran."""
        return (self.case, tuple(sorted(self.parameters.items())), self.type_asked, self.options)

    @property
    def median(self) -> Quantity:
        """The median of the samples, in seconds per step."""
        if not self.samples:
            return unknown("s", self.why or NOT_MEASURED)
        return Quantity(median(self.samples), "s")

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval in seconds per step (see `interval_or_range`); None for fewer than two samples."""
        return interval_or_range(self.samples)

    @property
    def spread_name(self) -> str:
        """The name of `interval`."""
        return interval_name(len(self.samples))

    @property
    def spread(self) -> Quantity:
        """The width of `interval` divided by the median."""
        between = self.interval
        if between is None:
            return unknown("1", say("A spread needs at least two samples."))
        return Quantity((between[1] - between[0]) / median(self.samples), "1")

    @property
    def throughput(self) -> Quantity:
        """Items per second, at the median."""
        unit = f"{self.unit}/s"
        step = self.median
        if step.value is None:
            return unknown(unit, step.why_missing or NOT_MEASURED)
        return Quantity(self.items / step.value, unit)

    @property
    def tflops(self) -> Quantity:
        """10^12 floating-point operations per second, at the median."""
        step = self.median
        if step.value is None:
            return unknown("TFLOP/s", step.why_missing or NOT_MEASURED)
        if self.flops is None:
            return unknown("TFLOP/s", self.why_no_flops or NOT_MEASURED)
        return Quantity(self.flops / step.value / 1e12, "TFLOP/s")

    @property
    def items_per_joule(self) -> Quantity:
        """Items of all samples divided by their energy."""
        unit = f"{self.unit}/J"
        if self.energy.value is None:
            return unknown(unit, self.energy.why_missing or NOT_MEASURED)
        if self.energy.value <= 0:
            return unknown(unit, say("The counter measured no energy."))
        return Quantity(self.items * self.steps * len(self.samples) / self.energy.value, unit)

    @property
    def step_joules(self) -> Quantity:
        """Joules of one step, the mean over all samples."""
        if self.energy.value is None:
            return self.energy
        return Quantity(self.energy.value / (self.steps * len(self.samples)), "J")

    def to_json(self) -> dict[str, Any]:
        """Return JSON-ready data, with what is derived from the samples for readers of the file."""
        data: dict[str, Any] = decoding.to_json(self)
        between = self.interval
        derived = {
            "label": self.label,
            "interval": None if between is None else list(between),
            "spread_name": self.spread_name,
            **{name: decoding.to_json(getattr(self, name)) for name in DERIVED},
        }
        return data | {"derived": derived}


#: Derived figures: names of properties, each a Quantity.
DERIVED = ("median", "spread", "throughput", "tflops", "items_per_joule", "step_joules")
