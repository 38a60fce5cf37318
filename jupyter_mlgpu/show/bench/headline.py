"""The headline of a benchmark: its most important figures and the main caveat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce

from jupyter_mlgpu.experiment.bench.bench_sentences import quantity
from jupyter_mlgpu.experiment.bench.case import label
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


def headline(run: BenchRun) -> Sentence:
    """Return the best figure of each kind, and how far it can be trusted, as one sentence.

    It begins with what a burn has shown.
    """
    measured = [one for one in run.results if one.samples]
    burns = [burn.sentence(one, one.burn) for one in measured if one.burn is not None]
    others = [one for one in measured if one.burn is None]
    clauses = [*burns, *([_figures(others)] if others else []), *_noise(measured)]
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


def _figures(measured: Sequence[CaseResult]) -> Sentence:
    """Return the figures of each framework and device, with their names if there are several."""
    places = list(dict.fromkeys((one.framework, one.device) for one in measured))
    found = []
    for framework, device in places[:_PLACES]:
        mine = [one for one in measured if (one.framework, one.device) == (framework, device)]
        figures = with_commas([*_of_models(mine), *list(_of_place(mine))[:_FIGURES]])
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


def _of_models(mine: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the rate at which each model trains, with its share of the measured matrix products' rate.

    Without the share if it is above 1: then something slowed the products down, and they are no peak.
    """
    for one in fastest_trainings(mine):
        # Plain text: in a list of sentences, these would be nested too deeply to be read from a page.
        found = one.gemm_share.value
        share = "" if found is None or found > 1 else f", {quantity(one.gemm_share)} of gemm"
        batch = one.parameters.get("batch", "")
        yield f"{quantity(one.throughput)} training {MODELS[one.case].title} (batch {batch}{share})"


def _of_place(mine: Sequence[CaseResult]) -> Iterator[str]:
    """Yield the arithmetic rate of each type, float32 first, then the bandwidth and other cases' rates."""
    rates: dict[str, float] = {}
    for one in mine:
        if one.case == "gemm" and one.tflops.value:
            type_ = one.type_ran or one.type_asked
            rates[type_] = max(rates.get(type_, 0.0), one.tflops.value * 1e12)
    ordered = sorted(rates, key=lambda type_: (type_ != "float32", -rates[type_]))
    for type_ in ordered[:2]:
        yield f"{units.decimal(rates[type_], 'FLOP/s')} {type_}"
    trained = {one.case for one in fastest_trainings(mine)}
    for case in dict.fromkeys(one.case for one in mine if one.case != "gemm" and one.case not in trained):
        best = max((one for one in mine if one.case == case), key=lambda one: one.throughput.value or 0.0)
        rate = quantity(best.throughput)
        # A rate in bytes per second needs no name: it is the memory bandwidth.
        yield rate if case == "bandwidth" else f"{rate} {case}"


def _noise(measured: Sequence[CaseResult]) -> list[Sentence]:
    """Return a clause with the number of noisy cases, and the first with its reason, in a list."""
    flagged = [one for one in measured if one.flags]
    if not flagged:
        return []
    if len(measured) == 1:
        return [say("noisy: {why}", why=_why_noisy(flagged[0]))]
    # The first flagged case with its reason; the table marks the others.
    why, case = _why_noisy(flagged[0]), _brief(flagged[0])
    count, total = len(flagged), len(measured)
    return [
        say("noisy in {count} of {total} cases: {why} ({case})", count=count, total=total, why=why, case=case)
    ]


def _brief(one: CaseResult) -> str:
    """Return the label of a case without its options."""
    return label(one.case, one.parameters, one.type_asked, ())


def _why_noisy(one: CaseResult) -> str:
    fields = [flag.fields for flag in one.flags if isinstance(flag, Sentence)]
    return next(
        (said(str(one[name])) for name, said in _REASONS.items() for one in fields if name in one),
        say("the warm-up had not stabilized"),
    )


#: Fields of a flag (experiment/bench/judging.py), each with the short form of its reason.
_REASONS: dict[str, Callable[[str], str]] = {
    "places": lambda value: say("work ran on {places}", places=value),
    "programs": str,
    "rise": lambda value: say("the times rose by {rise}", rise=value),
    "spread": lambda value: say("the spread is {spread}", spread=value),
}
