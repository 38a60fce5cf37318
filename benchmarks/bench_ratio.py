"""How two programs compare that took turns, and the report of `bench_against_torch`: functions of numbers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

#: Quantile 0.975 of Student's t by degrees of freedom, 1 to 19 (any table has it).
_T = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093),
)
MOST_REPEATS = len(_T) + 1
METHOD = "geometric mean of the ratios within repeats; 95 % interval of Student's t on their logarithms"

TIE, BEYOND = 0.98, 1.0

#: Where the project began, on an H200 with torch.compile: the batch, and items a second.
BEGAN = {"resnet50": (128, 6296), "mobilenetv2": (128, 9496), "distilbert": (64, 6578)}


@dataclass(frozen=True, slots=True)
class Ratio:
    """How many times as fast, from `low` to `high`."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.low:.3f} to {self.high:.3f})"


def ratio(reference: Sequence[float], ours: Sequence[float]) -> Ratio:
    """Speed of ours over the reference's, from seconds measured in turns; both have as many, 2 to 20."""
    logs = [math.log(one / other) for one, other in zip(reference, ours, strict=True)]
    if not 2 <= len(logs) <= MOST_REPEATS:
        raise ValueError(f"A ratio needs 2 to {MOST_REPEATS} repeats, found {len(logs)}.")
    middle = statistics.fmean(logs)
    half = _T[len(logs) - 2] * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def turns(reference: Sequence[float], ours: Sequence[float], items: int) -> dict[str, Any]:
    """What two programs measured in turns, for the file: seconds a step, items a second, and the ratio."""
    return {
        "reference_s": list(reference),
        "ours_s": list(ours),
        "reference_items_per_s": items / statistics.median(reference),
        "items_per_s": items / statistics.median(ours),
        "ratio": asdict(ratio(reference, ours)),
    }


def alone(samples: Sequence[float], items: int) -> dict[str, Any]:
    """What one program measured by itself."""
    return {"ours_s": list(samples), "items_per_s": items / statistics.median(samples)}


def markdown(results: Mapping[str, Any]) -> str:
    """The report: a tie and what beats it, the options, Keras on JAX."""
    steps: Mapping[str, Any] = results["steps"]
    models = list(dict.fromkeys(key.split("/")[0] for key in steps))
    parts = ["# Training against torch.compile", "", *_machine(results["machine"]), ""]
    parts += ["| model | batch | path | items/s | reference | ratio (95 %) | verdict |"]
    parts += ["| --- | --- | --- | --- | --- | --- | --- |"]
    for key, step in steps.items():
        if "ratio" in step:
            parts.append(_turn_row(key, step))
    parts += ["", f"Ratio: {METHOD}. The two take turns inside each repeat; which begins alternates.", ""]
    parts += [f"* {one}" for one in _began(models, steps)]
    for model in models:
        parts += ["", f"## {model}", "", "| path | items/s | of the reference | ms a step | loss | took |"]
        parts += ["| --- | --- | --- | --- | --- | --- |"]
        parts += [_row(key, step, steps) for key, step in steps.items() if key.startswith(f"{model}/")]
    return "\n".join(parts) + "\n"


def _machine(facts: Mapping[str, str]) -> list[str]:
    return [f"* {name}: {value}" for name, value in facts.items()]


def _turn_row(key: str, step: Mapping[str, Any]) -> str:
    model, _, path = key.split("/", 2)
    found = Ratio(**step["ratio"])
    if found.low > BEYOND:
        verdict = "beats it"
    elif found.low >= TIE:
        verdict = "ties"
    else:
        verdict = "behind" if found.high < TIE else "not settled"
    figures = f"{step['items_per_s']:,.0f} | {step['reference_items_per_s']:,.0f}"
    return f"| {model} | {step['batch']} | {path} | {figures} | {found} | {verdict} |"


def _row(key: str, step: Mapping[str, Any], steps: Mapping[str, Any]) -> str:
    model, stage, path = key.split("/", 2)
    took = f"{step['took_s']:.0f} s" if "took_s" in step else ""
    if "items_per_s" not in step:
        return f"| {stage}: {path} | {step.get('why', 'not measured')} | | | | {took} |"
    reference = _reference(model, step["batch"], steps)
    trains = stage != "inference"
    of = f"{step['items_per_s'] / reference:.3f}" if reference and trains else ""
    ms = 1e3 * statistics.median(step["ours_s"])
    told = f"{step['loss']:.3f}" if trains and "loss" in step else ""
    return f"| {stage}: {path} | {step['items_per_s']:,.0f} | {of} | {ms:.2f} | {told} | {took} |"


def _began(models: Sequence[str], steps: Mapping[str, Any]) -> list[str]:
    lines = []
    for model in models:
        batch, began = BEGAN.get(model, (0, 0))
        if (now := _reference(model, batch, steps)) is not None:
            lines.append(
                f"{model}: the reference reaches {now:,.0f}, and torch.compile had {began:,} before."
            )
    return lines


def _reference(model: str, batch: int, steps: Mapping[str, Any]) -> float | None:
    """Items a second of the reference in the first turns with it; one of another batch is no reference."""
    found = (step for key, step in steps.items() if key.startswith(f"{model}/tie/"))
    return next(
        (one["reference_items_per_s"] for one in found if "ratio" in one and one["batch"] == batch), None
    )
