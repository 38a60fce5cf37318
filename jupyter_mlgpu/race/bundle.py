"""The race as a notebook stores it for our own view: medians, spreads and crossovers, bounded.

The browser's side of the same contract is labextension/src/race.ts. The samples themselves are in the
result, and in its file; what is left out of a long race is counted in `cut`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.race import page

if TYPE_CHECKING:
    from jupyter_mlgpu.race.result import Lane, RaceResult, Timing

MIME_TYPE = "application/vnd.jupyter-mlgpu.race+json"

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1

#: Devices and sizes that are drawn, notes, and characters of a sentence and of a name.
LANES, SIZES, NOTES = 8, 100, 20
_SENTENCE, _NAME = 600, 120


def data(result: RaceResult) -> dict[str, Any]:
    """The race as JSON-ready data for the browser; times in seconds, None for what was not measured."""
    lanes, sizes = result.lanes[:LANES], result.sizes[:SIZES]
    notes = page.notes(result)
    cut = {
        "lanes": len(result.lanes) - LANES,
        "sizes": len(result.sizes) - SIZES,
        "notes": len(notes) - NOTES,
    }
    return {
        "schema": SCHEMA,
        "cell": _short(result.cell, _NAME),
        "head": _short(page.head(result)),
        "sentences": [_short(one) for one in page.sentences(result)[: LANES * 2]],
        "outcome": result.outcome,
        "variable": None if result.variable is None else _short(result.variable, _NAME),
        "sizes": list(sizes),
        "lanes": [
            {
                "device": _short(lane.device, _NAME),
                "kind": _short(lane.kind, _NAME),
                "hardware": None if lane.hardware is None else _short(lane.hardware, _NAME),
                "problem": None if lane.problem is None else _short(lane.problem),
                # One a size, in the order of `sizes`.
                "timings": [_timing(lane.at(size)) for size in sizes],
            }
            for lane in lanes
        ],
        # The lane that is certainly faster at each size, and how many times as fast as the next.
        "fastest": [_fastest(lanes, size) for size in sizes],
        "crossovers": [
            {
                "small": _short(one.small, _NAME),
                "large": _short(one.large, _NAME),
                "size": None if one.size is None else page.estimate(one.size),
                "low": one.low,
                "high": one.high,
            }
            for one in result.crossovers[:LANES]
        ],
        "notes": [_short(one) for one in notes[:NOTES]],
        "cut": {part: count for part, count in cut.items() if count > 0},
    }


def _timing(one: Timing | None) -> dict[str, Any] | None:
    if one is None:
        return None
    low, high = one.interval or (None, None)
    return {"median": one.median, "low": low, "high": high, "samples": len(one.samples), "steady": one.steady}


def _fastest(lanes: tuple[Lane, ...], size: float | None) -> list[float] | None:
    found = page.fastest(lanes, [lane.at(size) for lane in lanes])
    return None if found is None else [lanes.index(found[0]), found[1]]


def _short(text: str, most: int = _SENTENCE) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
