"""The page of a benchmark: where it was measured, its table, what the figures mean, its charts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jupyter_mlgpu.experiment.bench.against import Against, Row
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.experiment.bench.words import head, quantity, three
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.show.bench import charts
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.shown import page_of

#: The columns: title, and the text of a result in it. A column that is empty for all is left out.
COLUMNS: tuple[tuple[Sentence, Callable[[CaseResult], str]], ...] = (
    (say("case"), lambda one: one.label),
    (say("framework"), lambda one: registry.title(one.framework)),
    (say("device"), lambda one: one.device),
    (say("ran as"), lambda one: one.type_ran if one.type_ran and one.type_ran != one.type_asked else ""),
    (say("step"), lambda one: quantity(one.median)),
    (say("spread"), lambda one: quantity(one.spread)),
    (say("throughput"), lambda one: quantity(one.throughput)),
    (say("TFLOP/s"), lambda one: "" if one.tflops.value is None else three(one.tflops.value)),
    (say("of gemm"), lambda one: quantity(one.gemm_share)),
    (say("peak memory"), lambda one: quantity(one.peak_memory)),
    (say("power"), lambda one: quantity(one.watts)),
    (say("per joule"), lambda one: quantity(one.items_per_joule)),
    (say("see"), lambda one: "*" if one.flags or one.notes or one.status != "ok" else ""),
)

SPREAD = say(
    "A step's time is the median; the spread is the width of its 95 % interval, with fewer than six repeats "
    "that of all repeats, as a part of the median."
)


@page_of.register
def page(run: BenchRun) -> Page:
    """Its head and its table, with a chart of speed against size and the roofline beside them."""
    told = head(run)
    lines = charts.sizes(run.results, told, replayed=run.origin == "replayed")
    drawn = (lines, charts.roofline(run.results, told))
    return Page(
        (told, table(run)),
        tuple(notes(run)),
        drawn,
        title=say("Benchmark: {cases}", cases=", ".join(dict.fromkeys(one.case for one in run.results))),
        kind="bench",
        told_below=True,
    )


def notes(run: BenchRun) -> list[str]:
    """What stands below the table: what speaks against figures first, then how to read them."""
    flagged = [
        say("{cases}: {sentence}", cases=one.label, sentence=joined(*one.flags))
        for one in run.results
        if one.flags
    ]
    ended = grouped([(_ended(one), one.label) for one in run.results if one.status != "ok"])
    own = grouped([(note, one.label) for one in run.results for note in one.notes])
    missing = grouped([(one.why_missing or "", name) for name, one in _missing(run)])
    return [*flagged, *ended, *own, *missing, SPREAD, *run.notes]


def _ended(one: CaseResult) -> Sentence:
    why = one.why or ""
    if one.status == "skipped":
        return say("Skipped. {why}", why=why)
    if one.status == "failed":
        return say("Failed. {why}", why=why)
    return say("Not complete. {why}", why=why)


def _missing(run: BenchRun) -> list[tuple[str, Quantity]]:
    """Figures that no result has, though it was measured: each reason is told once."""
    measured = [one for one in run.results if one.samples]
    found: list[tuple[str, Quantity]] = []
    for name, attribute in ((say("energy"), "energy"), (say("peak memory"), "peak_memory")):
        found += [(name, value) for one in measured if (value := getattr(one, attribute)).value is None]
    # What moves data has no share, and nobody misses it.
    shares = [one.gemm_share for one in measured if one.peak_type and one.gemm_share.value is None]
    return [*found, *((say("share"), one) for one in shares)]


def grouped(said: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences, each once, with what they are about in front of them."""
    about: dict[str, dict[str, None]] = {}
    for sentence, name in said:
        about.setdefault(sentence, {})[name] = None
    return [
        say("{cases}: {sentence}", cases=_some(list(names)), sentence=sentence)
        for sentence, names in about.items()
    ]


def _some(names: Sequence[str]) -> str:
    """At most three names, and how many more."""
    if len(names) == 1:
        return names[0]
    shown = ", ".join(names[:3])
    return say("{names} and {more} more", names=shown, more=len(names) - 3) if len(names) > 3 else shown


def table(run: BenchRun) -> Table:
    """A row for each result that was measured, without columns that nothing stands in."""
    measured = [one for one in run.results if one.samples]
    kept = [(title, of) for title, of in COLUMNS if any(of(one) for one in measured)]
    rows = (tuple(of(one) for _, of in kept) for one in measured)
    return Table(tuple(title for title, _ in kept), tuple(rows), figures=("TFLOP/s",))


@page_of.register
def _against(shown: Against) -> Page:
    rows = (
        (
            one.label,
            quantity(one.ours),
            quantity(one.theirs),
            _times(one),
            one.what,
            "; ".join(one.differs) or say("nothing that is told"),
        )
        for one in shown.rows
    )
    columns = (
        say("case"),
        say("here"),
        say("there"),
        say("times as fast"),
        say("there was"),
        say("what differs"),
    )
    return Page((shown.head, Table(columns, tuple(rows))), shown.notes)


def _times(one: Row) -> str:
    times = f"{one.ratio:.3g}"
    return say("{times} (not certain)", times=times) if one.certain is False else times
