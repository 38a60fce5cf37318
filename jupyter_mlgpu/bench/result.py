"""What one case measured: plain frozen data with what follows from it, to JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from jupyter_mlgpu import decoding, plain
from jupyter_mlgpu.bench import quantity
from jupyter_mlgpu.bench.case import label
from jupyter_mlgpu.bench.quantity import Quantity, unknown
from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.statistics import interval_name, interval_or_range, median

#: ok; interrupted or failed: what was measured until then is there; skipped: not begun. `why` says why.
Status = Literal["ok", "interrupted", "failed", "skipped"]

#: A spread above this part of the median is flagged, and the result says what is known of the cause.
WIDE = 0.10

NOT_MEASURED = "Nothing was measured."


@dataclass(frozen=True)
class Result:
    """One case on one device.

    `samples` are seconds a step, in the order in which they were measured, each over `steps` steps; warm-up
    is left out. `items` of `unit` and `flops` (None with a reason) are what one step does. `type_ran` is the
    type in which it ran, `ran_on` the devices that worked, as far as the framework tells. `energy` is that of
    all samples together. `flags` are sentences on what speaks against the figures, `notes` on how to read
    them. `measured_s` is how long the case took in all, in seconds.
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
    why: str | None
    samples: tuple[float, ...]
    steps: int
    warmups: int
    steady: bool
    items: float
    unit: str
    flops: float | None
    why_no_flops: str | None
    formula: str
    moved: float | None
    chart: str | None
    peak_memory: Quantity
    energy: Quantity
    watts: Quantity
    gemm_share: Quantity
    flags: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    measured_s: float = field(default=0.0)

    @property
    def label(self) -> str:
        """The case in a few words, as `Case.label`."""
        return label(self.case, self.parameters, self.type_asked, self.options)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two results the same experiment: case, parameters, type, options; not where it ran."""
        return (self.case, tuple(sorted(self.parameters.items())), self.type_asked, self.options)

    @property
    def median(self) -> Quantity:
        """The middle of the samples, in seconds a step."""
        if not self.samples:
            return unknown("s", self.why or NOT_MEASURED)
        return Quantity(median(self.samples), "s")

    @property
    def interval(self) -> tuple[float, float] | None:
        """Seconds a step, from and to (see `interval_or_range`); None for fewer than two samples."""
        return interval_or_range(self.samples)

    @property
    def spread_name(self) -> str:
        """What `interval` is, in words."""
        return interval_name(len(self.samples))

    @property
    def spread(self) -> Quantity:
        """The width of `interval` as a part of the median."""
        between = self.interval
        if between is None:
            return unknown("1", "A spread needs at least two samples.")
        return Quantity((between[1] - between[0]) / median(self.samples), "1")

    @property
    def throughput(self) -> Quantity:
        """Items a second, at the median."""
        unit = f"{self.unit}/s"
        step = self.median
        if step.value is None:
            return unknown(unit, str(step.why_missing))
        return Quantity(self.items / step.value, unit)

    @property
    def tflops(self) -> Quantity:
        """10^12 floating-point operations a second, at the median."""
        step = self.median
        if step.value is None:
            return unknown("TFLOP/s", str(step.why_missing))
        if self.flops is None:
            return unknown("TFLOP/s", str(self.why_no_flops))
        return Quantity(self.flops / step.value / 1e12, "TFLOP/s")

    @property
    def items_per_joule(self) -> Quantity:
        """Items of all samples over their energy."""
        unit = f"{self.unit}/J"
        if self.energy.value is None:
            return unknown(unit, str(self.energy.why_missing))
        if self.energy.value <= 0:
            return unknown(unit, "The counter counted no energy.")
        return Quantity(self.items * self.steps * len(self.samples) / self.energy.value, unit)

    @property
    def step_joules(self) -> Quantity:
        """Joules of one step, in the mean over all samples."""
        if self.energy.value is None:
            return self.energy
        return Quantity(self.energy.value / (self.steps * len(self.samples)), "J")

    def to_json(self) -> dict[str, Any]:
        """JSON-ready data, with what follows from the samples for who reads the file."""
        data: dict[str, Any] = decoding.to_json(self)
        between = self.interval
        derived = {
            "label": self.label,
            "interval": None if between is None else list(between),
            "spread_name": self.spread_name,
            **{name: decoding.to_json(getattr(self, name)) for name in DERIVED},
        }
        return data | {"derived": derived}

    @classmethod
    def from_json(cls, data: object, where: str = "a result") -> Result:
        """A result from `to_json`'s data; what follows from the samples is worked out anew."""
        table = plain.table_of(data, where)
        samples = plain.field_of(table, "samples", list, where)
        if not all(_amount(one) and one > 0 for one in samples):
            raise RecordError(f"{where} should have samples that are numbers of seconds above 0")
        amounts = {name: table.get(name) for name in ("items", "flops", "moved", "measured_s")}
        flops, moved, took = amounts["flops"], amounts["moved"], amounts["measured_s"]
        for name, amount in amounts.items():
            if not (_amount(amount) or (amount is None and name != "items")):
                raise RecordError(
                    f"{where} should have {name!r} as a number that can be one, found {amount!r:.40}"
                )
        if flops is None and not table.get("why_no_flops"):
            raise RecordError(f"{where} has no flops, and does not say why")
        fields: dict[str, Any] = {name: plain.field_of(table, name, str, where) for name in _TEXTS}
        fields |= {name: plain.optional_of(table, name, str, where) for name in _MAYBE_TEXTS}
        fields |= {name: plain.field_of(table, name, int, where) for name in ("steps", "warmups")}
        fields |= {name: _figure(table.get(name), f"{where}'s {name}") for name in _QUANTITIES}
        fields |= {name: tuple(map(str, plain.field_of(table, name, list, where))) for name in _LISTS}
        if fields["warmups"] < 0 or fields["steps"] < bool(samples):
            raise RecordError(f"{where} should have counts of steps, found {fields['steps']}")
        if fields["energy"].value is not None and not samples:
            raise RecordError(f"{where} should have samples, for it has energy")
        return cls(
            **fields,
            parameters=plain.table_of(table.get("parameters"), f"{where}'s parameters"),
            status=plain.choice_of(table, "status", get_args(Status)),
            samples=tuple(map(float, samples)),
            steady=bool(table.get("steady")),
            items=float(table["items"]),
            flops=None if flops is None else float(flops),
            moved=None if moved is None else float(moved),
            measured_s=0.0 if took is None else float(took),
        )


#: Figures that follow from the samples: names of properties, each a Quantity.
DERIVED = ("median", "spread", "throughput", "tflops", "items_per_joule", "step_joules")
_TEXTS = ("case", "framework", "device", "type_asked", "unit", "formula")
_MAYBE_TEXTS = ("hardware", "type_ran", "peak_type", "why", "why_no_flops", "chart")
_QUANTITIES = ("peak_memory", "energy", "watts", "gemm_share")
_LISTS = ("options", "ran_on", "flags", "notes")


def _figure(data: object, where: str) -> Quantity:
    found = quantity.from_json(data, where)
    if found.value is not None and not _amount(found.value):
        raise RecordError(f"{where} should be a number that can be one, found {found.value!r:.40}")
    return found


def _amount(value: object) -> bool:
    """Whether it is a number of which all that follows from it is one, too: 0, or far from a float's ends."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and (value == 0 or 1e-15 <= value <= 1e30)  # type: ignore[operator]
