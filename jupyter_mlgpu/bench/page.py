"""A benchmark as a text table, an HTML table and sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.bench.quantity import Quantity
from jupyter_mlgpu.markup import bullets, element, joined
from jupyter_mlgpu.markup import table as html_table
from jupyter_mlgpu.race.page import duration
from jupyter_mlgpu.render import words

if TYPE_CHECKING:
    from jupyter_mlgpu.bench.result import Result
    from jupyter_mlgpu.bench.run import BenchRun
    from jupyter_mlgpu.bench.session import Progress

#: Units in which a second's items are written in powers of ten.
_SCALED = ("bytes/s", "bytes/J")
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def quantity(one: Quantity) -> str:
    """A figure with its unit; empty where there is none, for the reason stands below the table."""
    if one.value is None:
        return ""
    value = one.value
    if one.unit == "s":
        return duration(value)
    if one.unit == "1":
        return f"{value:.0%}" if value >= 0.0995 else f"{value:.1%}"
    if one.unit == "bytes":
        return words.size(value)
    if one.unit in _SCALED:
        scale, prefix = next(((scale, name) for scale, name in _PREFIXES if value >= scale), (1.0, ""))
        return f"{three(value / scale)} {prefix}B{one.unit.removeprefix('bytes')}"
    return f"{three(value)} {one.unit}"


def three(value: float) -> str:
    """Three figures, with a comma between thousands."""
    return f"{value:,.0f}" if value >= 999.5 else f"{value:.3g}"


#: The columns: title, and the text of a result in it. A column that is empty for all is left out.
COLUMNS: tuple[tuple[str, Callable[[Result], str]], ...] = (
    ("case", lambda one: one.label),
    ("framework", lambda one: words.framework(one.framework)),
    ("device", lambda one: one.device),
    ("ran as", lambda one: one.type_ran if one.type_ran and one.type_ran != one.type_asked else ""),
    ("step", lambda one: quantity(one.median)),
    ("spread", lambda one: quantity(one.spread)),
    ("throughput", lambda one: quantity(one.throughput)),
    ("TFLOP/s", lambda one: "" if one.tflops.value is None else three(one.tflops.value)),
    ("of gemm", lambda one: quantity(one.gemm_share)),
    ("peak memory", lambda one: quantity(one.peak_memory)),
    ("power", lambda one: quantity(one.watts)),
    ("per joule", lambda one: quantity(one.items_per_joule)),
    ("see", lambda one: "*" if one.flags or one.notes or one.status != "ok" else ""),
)

SPREAD = (
    "A step's time is the median; the spread is the width of its 95 % interval, with fewer than six repeats "
    "that of all repeats, as a part of the median."
)


def head(run: BenchRun) -> str:
    """Where and how it was measured, in a line."""
    label = {"live": "", "loaded": "Read from a file: ", "replayed": "Replayed, not measured here: "}
    ended = "" if run.outcome == "ok" else " It was interrupted, and is not complete."
    how = ", quick" if run.quick else ""
    return f"{label[run.origin]}{hardware(run)}, {run.started_at[:10]}{how}.{ended}"


def hardware(run: BenchRun) -> str:
    """The devices by name, each once; the processor where no device tells one."""
    told = [str(one.hardware) for one in run.results if one.hardware]
    return ", ".join(dict.fromkeys(told)) or str(run.machine.get("processor") or "unknown hardware")


def notes(run: BenchRun) -> list[str]:
    """What stands below the table: what speaks against figures first, then how to read them."""
    flagged = [f"{one.label}: {' '.join(one.flags)}" for one in run.results if one.flags]
    ended = grouped(
        [(f"{_STATUS[one.status]} {one.why}", one.label) for one in run.results if one.status != "ok"]
    )
    own = grouped([(note, one.label) for one in run.results for note in one.notes])
    missing = grouped([(str(one.why_missing), name) for name, one in _missing(run)])
    return [*flagged, *ended, *own, *missing, SPREAD, *run.notes]


_STATUS = {"skipped": "Skipped.", "failed": "Failed.", "interrupted": "Not complete."}


def _missing(run: BenchRun) -> list[tuple[str, Quantity]]:
    """Figures that no result has, though it was measured: each reason is told once."""
    measured = [one for one in run.results if one.samples]
    found = []
    for name, attribute in (("energy", "energy"), ("peak memory", "peak_memory")):
        found += [(name, value) for one in measured if (value := getattr(one, attribute)).value is None]
    # What moves data has no share, and nobody misses it.
    found += [("share", one.gemm_share) for one in measured if one.peak_type and one.gemm_share.value is None]
    return found


def grouped(said: Sequence[tuple[str, str]]) -> list[str]:
    """Sentences, each once, with what they are about in front of them."""
    about: dict[str, dict[str, None]] = {}
    for sentence, name in said:
        about.setdefault(sentence, {})[name] = None
    return [f"{_some(list(names))}: {sentence}" for sentence, names in about.items()]


def _some(names: Sequence[str]) -> str:
    """At most three names, and how many more."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def rows(run: BenchRun) -> tuple[list[str], list[list[str]]]:
    """Titles and cells of the table, without columns that nothing stands in."""
    measured = [one for one in run.results if one.samples]
    kept = [(title, of) for title, of in COLUMNS if any(of(one) for one in measured)]
    return [title for title, _ in kept], [[of(one) for _, of in kept] for one in measured]


def text(run: BenchRun) -> str:
    """The table and what is to be said of it, in plain text."""
    titles, cells = rows(run)
    return "\n".join([head(run), *table(titles, cells), *notes(run)])


def table(titles: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a text table; empty where there are no rows."""
    if not cells:
        return []
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    return [
        "  ".join(one.ljust(width) for one, width in zip(line, widths, strict=True)).rstrip()
        for line in (titles, *cells)
    ]


def html(run: BenchRun) -> str:
    """The same as HTML."""
    titles, cells = rows(run)
    return str(joined(element("p", head(run)), html_table(titles, cells), bullets(notes(run))))


def progress(now: Progress) -> str:
    """What runs now, for the line that tells of it."""
    return f"Benchmark {now.number} of {now.total}: {doing(now)}"


def doing(now: Progress) -> str:
    """The case that runs, what it is at, and how long all of them will still take."""
    step = now.step
    repeat = f" {step.number} of {step.repeats}" if step.repeats else ""
    what = f"{step.case.label}, {step.doing}{repeat}"
    return what if now.left_s is None else f"about {words.seconds(now.left_s)} left: {what}"
