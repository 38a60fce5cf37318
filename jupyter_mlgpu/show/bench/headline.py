"""The headline of a benchmark: its most important figures and the main caveat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce

from jupyter_mlgpu.experiment.bench.bench_sentences import quantity
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.models import MODELS
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, say, say_count, with_commas
from jupyter_mlgpu.show.bench import burn
from jupyter_mlgpu.show.bench.kernels import fastest_trainings

#: Most figures per device, not counting those of models, and most devices in the headline.
_FIGURES, _PLACES = 3, 3

#: A figure in words, and the case that reached it.
_Figure = tuple[str, CaseResult]


def headline(run: BenchRun) -> Sentence:
    """Return the best figure of each kind, and how far it can be trusted, as one sentence.

    It begins with what a burn has shown.
    """
    measured = [one for one in run.results if one.samples]
    burns = [burn.sentence(one, one.burn) for one in measured if one.burn is not None]
    others = [one for one in measured if one.burn is None]
    places = _places(others)
    behind = [one for best in places.values() for _, one in best]
    clauses = [*burns, *([_figures(places)] if others else [])]
    clauses += _disturbed([*(one for one in measured if one.burn is not None), *behind])
    if not measured:
        clauses = [_nothing(run.results)]
    if failed := sum(one.status == "failed" for one in run.results):
        clauses.append(say_count("{count} case failed", "{count} cases failed", failed))
    if run.outcome != "ok":
        clauses.append(say("interrupted, so incomplete"))
    whole = say(
        "{clauses}.", clauses=reduce(lambda one, other: say("{one}; {other}", one=one, other=other), clauses)
    )
    return say("Replayed, not measured here: {rest}", rest=whole) if run.origin == "replayed" else whole


def _nothing(results: Sequence[CaseResult]) -> Sentence:
    whys = list(dict.fromkeys(str(one.why).rstrip(".") for one in results if one.why))
    return say("Nothing was measured: {why}", why=whys[0]) if len(whys) == 1 else say("Nothing was measured")


def _places(measured: Sequence[CaseResult]) -> dict[tuple[str, str], list[_Figure]]:
    """Return the best figures of each framework and device, with the cases that reached them."""
    found: dict[tuple[str, str], list[_Figure]] = {}
    for place in dict.fromkeys((one.framework, one.device) for one in measured):
        mine = [one for one in measured if (one.framework, one.device) == place]
        found[place] = [*_of_models(mine), *list(_of_place(mine))[:_FIGURES]]
    return found


def _figures(places: Mapping[tuple[str, str], Sequence[_Figure]]) -> Sentence:
    """Return the figures of each framework and device, with their names if there are several."""
    found = []
    for (framework, device), best in list(places.items())[:_PLACES]:
        figures = with_commas([figure for figure, _ in best])
        if len(places) > 1:
            figures = say(
                "{framework} on {device}: {figures}",
                framework=registry.title(framework),
                device=device,
                figures=figures,
            )
        found.append(figures)
    whole = reduce(lambda one, other: say("{one}; {other}", one=one, other=other), found)
    if len(places) > _PLACES:
        whole = say("{named} and {more} more", named=whole, more=len(places) - _PLACES)
    return whole


def _of_models(mine: Sequence[CaseResult]) -> Iterator[_Figure]:
    """Yield the rate at which each model trains, with its share of the measured matrix products' rate.

    Without the share if it is above 1: then something slowed the products down, and they are no peak.
    """
    for one in fastest_trainings(mine):
        # Plain text: in a list of sentences, these would be nested too deeply to be read from a page.
        found = one.gemm_share.value
        share = "" if found is None or found > 1 else f", {quantity(one.gemm_share)} of gemm"
        batch = one.parameters.get("batch", "")
        yield f"{quantity(one.throughput)} training {MODELS[one.case].title} (batch {batch}{share})", one


def _of_place(mine: Sequence[CaseResult]) -> Iterator[_Figure]:
    """Yield the arithmetic rate of each type, float32 first, then the bandwidth and other cases' rates."""
    best: dict[str, CaseResult] = {}
    for one in mine:
        if one.case == "gemm" and one.tflops.value:
            type_ = one.type_ran or one.type_asked
            best[type_] = max(best.get(type_, one), one, key=_flops)
    ordered = sorted(best, key=lambda type_: (type_ != "float32", -_flops(best[type_])))
    for type_ in ordered[:2]:
        rate = units.decimal(_flops(best[type_]), "FLOP/s")
        yield say("{rate} in {type}", rate=rate, type=type_), best[type_]
    trained = {one.case for one in fastest_trainings(mine)}
    for case in dict.fromkeys(one.case for one in mine if one.case != "gemm" and one.case not in trained):
        fastest = max((one for one in mine if one.case == case), key=lambda one: one.throughput.value or 0.0)
        rate = quantity(fastest.throughput)
        # A rate in bytes per second needs no name: it is the memory bandwidth.
        yield rate if case == "bandwidth" else f"{rate} {case}", fastest


def _flops(one: CaseResult) -> float:
    return (one.tflops.value or 0.0) * 1e12


def _disturbed(shown: Sequence[CaseResult]) -> list[Sentence]:
    """Return, in a list, the clause on what disturbed a case whose figure is in the headline.

    The caveats below the table name all cases that were disturbed.
    """
    fields = [flag.fields for one in shown for flag in one.flags if isinstance(flag, Sentence)]
    for name, clause in _CLAUSES.items():
        for one in fields:
            if name in one:
                return [clause(str(one[name]))]
    if any(one.flags for one in shown):
        return [say("the warm-up had not stabilized, so this is a lower bound")]
    return []


#: Fields of a flag (experiment/bench/judging.py), each with what it says about the figures.
_CLAUSES: dict[str, Callable[[str], Sentence]] = {
    "places": lambda value: say("work ran on {places}", places=value),
    "programs": lambda _: say("other programs were busy, so this is a lower bound"),
    "rise": lambda value: say("the times rose by {rise}, so this is a lower bound", rise=value),
    "spread": lambda value: say("the times varied by {spread}, so this is a lower bound", spread=value),
}
