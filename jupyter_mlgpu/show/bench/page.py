"""The page of a benchmark: machine, table, notes on the figures, and charts."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.experiment.bench.against import Against, Row
from jupyter_mlgpu.experiment.bench.bench_sentences import head, quantity, three
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show import markup
from jupyter_mlgpu.show.bench import burn, caveats, charts, kernels
from jupyter_mlgpu.show.bench.headline import headline
from jupyter_mlgpu.show.page import html
from jupyter_mlgpu.show.page.model import FIGURES, Page, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: The columns: title, and function for the text of a result. Columns that are empty for all are left out.
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

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
body { max-width: 60rem; margin: 1.5rem auto; padding: 0 1rem; font: 15px/1.5 system-ui, sans-serif; }
img { max-width: 100%; } table { border-collapse: collapse; }
th, td { padding: .2rem .75rem .2rem 0; border-bottom: 1px solid #d1d9e0; }
"""

SPREAD = say(
    "A step's time is the median; the spread is the width of its 95 % interval (with fewer "
    "than six repeats, of all repeats) as a fraction of the median."
)


@page_of.register
def page(run: BenchRun) -> Page:
    """Return the page of a run: best figures, machine, burn, speed against size, roofline and tables."""
    subtitle = head(run)
    lines = charts.sizes(run.results, subtitle, replayed=run.origin == "replayed")
    courses = burn.charts(run.results, subtitle, replayed=run.origin == "replayed")
    drawn = (*courses, lines, charts.roofline(run.results, subtitle))
    return Page(
        (subtitle, table(run), *kernels.parts(run.results), *burn.tables(run.results)),
        tuple(notes(run)),
        drawn,
        title=say("Benchmark: {cases}", cases=", ".join(dict.fromkeys(one.case for one in run.results))),
        kind="bench",
        headline=headline(run),
    )


def document(run: BenchRun) -> str:
    """Return the page of a run with its charts as one HTML file, which loads nothing."""
    made = page(run)
    whole = html.page(made, charted=True)
    return markup.document(made.title, _STYLE, whole, policy=_POLICY, wide=True)


def notes(run: BenchRun) -> list[str]:
    """Return the notes below the table: caveats first, then how to read the figures."""
    total = len(run.results)
    flagged = caveats.merged_sentences(
        [(flag, one.label) for one in run.results for flag in one.flags], total
    )
    ended = caveats.merged_sentences(
        [(_ended(one), one.label) for one in run.results if one.status != "ok"], total
    )
    own = caveats.merged_sentences([(note, one.label) for one in run.results for note in one.notes], total)
    unknown = [(one.why_missing or "", name) for name, one in _missing(run)]
    unknown += [reason for one in run.results for reason in burn.missing(one)]
    missing = caveats.merged_sentences(unknown, total)
    return [*flagged, *ended, *own, *missing, SPREAD, *run.notes]


def _ended(one: CaseResult) -> Sentence:
    why = one.why or ""
    if one.status == "skipped":
        return say("Skipped. {why}", why=why)
    if one.status == "failed":
        return say("Failed. {why}", why=why)
    return say("Incomplete. {why}", why=why)


def _missing(run: BenchRun) -> list[tuple[str, Quantity]]:
    """Return figures that no measured result has. Each reason is given once."""
    measured = [one for one in run.results if one.samples]
    found: list[tuple[str, Quantity]] = []
    for name, attribute in ((say("energy"), "energy"), (say("peak memory"), "peak_memory")):
        found += [(name, value) for one in measured if (value := getattr(one, attribute)).value is None]
    # A bandwidth case has no share of gemm, so its share is not reported as missing.
    shares = [one.gemm_share for one in measured if one.peak_type and one.gemm_share.value is None]
    return [*found, *((say("share"), one) for one in shares)]


def table(run: BenchRun) -> Table:
    """Return a table with a row per measured result, without columns that are empty."""
    measured = [one for one in run.results if one.samples]
    kept = [(title, of) for title, of in COLUMNS if any(of(one) for one in measured)]
    rows = (tuple(of(one) for _, of in kept) for one in measured)
    return Table(tuple(title for title, _ in kept), tuple(rows), figures=("TFLOP/s",), summary=FIGURES)


@page_of.register
def _against(shown: Against) -> Page:
    rows = (
        (
            one.label,
            quantity(one.ours),
            quantity(one.theirs),
            _times(one),
            one.what,
            "; ".join(one.differs) or say("nothing reported"),
        )
        for one in shown.rows
    )
    columns = (
        say("case"),
        say("here"),
        say("there"),
        say("times as fast"),
        say("setup there"),
        say("what differs"),
    )
    return Page((shown.head, Table(columns, tuple(rows))), shown.notes)


def _times(one: Row) -> str:
    times = f"{one.ratio:.3g}"
    return say("{times} (not certain)", times=times) if one.certain is False else times
