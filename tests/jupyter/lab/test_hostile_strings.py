"""Whatever a stranger's record, race or notebook has in its texts, the pages we make of it show it as text.

Every page is opened in a browser that would run anything: no policy stops it but the page's own.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace
from playwright.sync_api import Browser, Page

from jupyter_mlgpu import compare
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.explain.comparing.expect import Judgement
from jupyter_mlgpu.explain.doctor.diagnose import CheckResult as Checked
from jupyter_mlgpu.explain.doctor.diagnose import Diagnosis
from jupyter_mlgpu.explain.engines.collection import Collection
from jupyter_mlgpu.explain.engines.offsets import Offset
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.graphs.planning.forecast import of_graph
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, Node, Operand
from jupyter_mlgpu.graphs.planning.graph import GivenTensor as Made
from jupyter_mlgpu.graphs.planning.placing import target
from jupyter_mlgpu.jupyter.notebook import engine
from jupyter_mlgpu.jupyter.notebook.magics import progress, restart
from jupyter_mlgpu.record.errors import RestartNeededError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import DeviceUse, Fact, LogLine, OpStat, Record
from jupyter_mlgpu.show.comparing import page as comparing_page
from jupyter_mlgpu.show.doctor.page import DiagnosisPage as DoctorPage
from jupyter_mlgpu.show.page import chart as drawn
from jupyter_mlgpu.show.page import plotly
from jupyter_mlgpu.show.page.chart import Axis, Point, Series
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.show.receipts.report import report
from jupyter_mlgpu.teach.commands import page as class_page
from jupyter_mlgpu.teach.commands.report import Entry
from jupyter_mlgpu.teach.lessons.charts import LessonChart
from jupyter_mlgpu.teach.lessons.checking import Verdict
from jupyter_mlgpu.teach.lessons.display import ShownValue
from jupyter_mlgpu.teach.lessons.graphs import Operation, drawing
from jupyter_mlgpu.teach.lessons.images import images
from jupyter_mlgpu.teach.lessons.tables import LessonTable
from jupyter_mlgpu.teach.lessons.wordmaps import word_map
from jupyter_mlgpu.teach.submissions.reading import SavedCell, SavedRecord, Submission
from jupyter_mlgpu.testing import example_record

MARK = (
    "ma<rk\"'><img src=x onerror='window.ran=1'></script><script>window.ran=2</script></title></textarea>"
    "</style><style id=planted>*{}</style>]]><svg onload='window.ran=3'></svg></svg>-->"
    "<a href=\"javascript:window.ran=4\">go</a><iframe srcdoc='<script>parent.ran=5</script>'></iframe>"
)

# Words of a closed list, which are refused when they are read.
KEPT = {"outcome", "mode", "origin", "status", "quantity", "state", "colour", "kind", "verdict"}


def planted(value: Any) -> Any:
    """The same with the mark in place of every text."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, Struct):
        return replace(value, **_planted_in(value, value.__struct_fields__))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(value, **_planted_in(value, value.__dataclass_fields__))
    if isinstance(value, tuple | list):
        return type(value)(map(planted, value))
    if isinstance(value, Mapping):
        return {f"{number}{MARK}": planted(one) for number, one in enumerate(value.values())}
    return value


def _planted_in(value: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: planted(getattr(value, name)) for name in names if name not in KEPT}


def record(sequence: int = 1, **changes: Any) -> Record:
    """A record that has the mark in every text of its own."""
    example = example_record(sequence)
    whole = replace(
        example,
        readings=(
            *example.readings,
            Reading("energy", 3.0, "J", "device", "simulated", 1, uncertainty=0.1, detail="x"),
        ),
        logs=(LogLine("a", "b", "fatal", "c", "d", {"e": "f"}, 2, "stderr", "g", True),),
        ops=(OpStat("MatMul", "t", "cpu:0", 3, 0.1, 0.2, "p", "host", 0.5, "[2]", 8, 1e9),),
        facts={"gpu": Fact("H200", "nvml"), "more": Fact({"a": ["b"]}, "x")},
        notes=("a note",),
    )
    marked: Record = planted(whole)
    # Two texts that are no words: they tell records apart.
    return replace(marked, run=replace(marked.run, id=f"{sequence}{MARK}"), started_at=MARK, **changes)


def race() -> RaceResult:
    times = tuple(Timing(size, (1e-3, 2e-3, 3e-3), 2, False) for size in (10.0, 100.0, 1000.0))
    slow = tuple(Timing(size, (2e-3, 2.5e-3, 3e-3), 2, True) for size in (10.0, 100.0, 1000.0))
    lanes = (
        Lane(MARK, "cpu", MARK, times, 1e-6, MARK, (MARK,)),
        Lane(f"2{MARK}", "cuda", MARK, slow, None, None, (MARK,)),
    )
    return RaceResult(MARK, MARK, MARK, 3, False, lanes, "ok", MARK, MARK, {MARK: MARK}, (MARK,))


def bench() -> BenchRun:
    from tests.experiment.test_bench_results import measured, run, trained

    results = [
        dataclasses.replace(planted(one), parameters=one.parameters) for one in (measured(), trained())
    ]
    found: BenchRun = run(*results, machine={"processor": MARK, MARK: MARK}, versions={MARK: MARK})
    return dataclasses.replace(found, notes=(MARK,))


def plan() -> Any:
    def node(name: str, operation: str, *takes: str) -> Node:
        operands = tuple(Operand(take, 0, MARK) for take in takes)
        return Node(name, operation, {MARK: (MARK,)}, operands, (), (Made(MARK, MARK, None, MARK),))

    nodes = (node(MARK, MARK), node(f"2{MARK}", "Relu", MARK), node(f"3{MARK}", MARK, f"2{MARK}"))
    return of_graph(FunctionGraph((Body(MARK, nodes),)), target("metal"), MARK)


def entry() -> Entry:
    saved = tuple(SavedRecord(record(n), {MARK: 3}, MARK, MARK) for n in (1, 2))
    cell = SavedCell(1, (MARK,), MARK, MARK, 1, saved)
    return Entry(MARK, MARK, Submission(MARK, (cell,), (MARK,)))


def diagnosis() -> Diagnosis:
    found = [
        Checked(MARK, "finding", MARK, MARK, MARK, "sure"),
        Checked(MARK, "crashed", MARK, MARK, MARK),
    ]
    return Diagnosis((*found, Checked(MARK, "skipped", MARK, MARK), Checked(MARK, "not asked", MARK, MARK)))


def drawn_chart() -> LessonChart:
    line = Series(MARK, (Point(1.0, 2.0, MARK), Point(2.0, 3.0, MARK)), 0, dashed=True)
    return LessonChart(drawn.Chart((MARK,), Axis(MARK), Axis(MARK), (line,), MARK, notes=(MARK,)))


def comparison() -> Any:
    sides = [[record(n, device=DeviceUse({MARK: MARK}, None, MARK)) for n in range(k, k + 4)] for k in (1, 5)]
    named = [
        [replace(one, run=replace(one.run, id=f"run {k}")) for one in side] for k, side in enumerate(sides)
    ]
    return compare(*named, names=(MARK, MARK))


def converted() -> str:
    """A notebook with a replayed record, as `jupyter nbconvert --to html` makes a page of it."""
    nbconvert = pytest.importorskip("nbconvert")
    nbformat: Any = pytest.importorskip("nbformat").v4
    data = bundle(record(origin="replayed"))
    assert MIME_TYPE in data
    output = nbformat.new_output("display_data", data=data)
    notebook = nbformat.new_notebook(cells=[nbformat.new_code_cell("x", outputs=[output])])
    made: str = nbconvert.HTMLExporter().from_notebook_node(notebook)[0]
    return made


def fragments() -> Iterator[tuple[str, str]]:
    """What a notebook shows, by its name."""
    for mode in ("light", "profiled"):
        data = bundle(record(mode=mode, origin="replayed"))
        yield f"a receipt, {mode}", data["text/html"]
    yield "an engine's line", engine.line(record())["text/html"]
    yield "a race", race()._repr_html_()
    yield "a race's picture", race().svg()
    yield "a bench", bench()._repr_html_()
    yield "a plan", plan()._repr_html_()
    yield "a plan's picture", plan().picture()._repr_html_()
    found = Collection(
        [EngineReport(n, MARK, Offset(0, 1_000, 1), (record(n),), (MARK,), MARK) for n in (1, 2)], ""
    )
    yield "engines", found._repr_html_()
    yield "engines' picture", found.svg()
    yield "a comparison", comparison()._repr_html_()
    yield "a judgement", Judgement("holds", MARK)._repr_html_()
    for language in ("en", "zh"):
        yield f"a diagnosis, {language}", DoctorPage(diagnosis(), language)._repr_html_()
    yield "a chart", drawn_chart()._repr_html_()
    yield "a graph", drawing([Operation(MARK, MARK, ()), Operation("2", MARK, (MARK,))])._repr_html_()
    yield "images", images({MARK: [[1.0, 2.0], [3.0, 4.0]]})._repr_html_()
    yield "a table", LessonTable(((MARK, MARK), (MARK, MARK)), ((MARK,), (MARK,)), MARK)._repr_html_()
    yield "a word map", word_map([[0.1, 0.9]], [MARK], [MARK, MARK])._repr_html_()
    shown = ShownValue(MARK, ((MARK, MARK), (MARK, MARK)), words=MARK)
    yield "a verdict", Verdict("wrong", (MARK,), (shown,), None)._repr_html_()
    yield "a restart", restart.bundle(RestartNeededError(MARK, MARK))["text/html"]
    yield "progress", progress._bundle(MARK)["text/html"]


def pages() -> Iterator[tuple[str, str]]:
    """What stands in a file of its own."""
    yield "a report", report([record(1), record(2, mode="profiled")], title=MARK, notices=[MARK])
    unread = Entry(f"2{MARK}", MARK, None, MARK, points=MARK, feedback=Path(MARK))
    yield "a class report", class_page.html([entry(), unread], Path(), title=MARK)
    yield "a converted notebook", converted()


def figures() -> Iterator[tuple[str, dict[str, Any]]]:
    """What plotly draws."""
    yield "a race", plotly.figure(*page_of(race()).charts)
    yield (
        "a race without sizes",
        plotly.figure(
            *page_of(
                dataclasses.replace(
                    race(),
                    variable=None,
                    lanes=tuple(
                        dataclasses.replace(one, timings=(Timing(None, (1e-3, 2e-3), 1, True),))
                        for one in race().lanes
                    ),
                )
            ).charts
        ),
    )
    yield "a bench", plotly.figure(*page_of(bench()).charts)
    yield "a chart", drawn_chart().figure()
    chart = comparing_page.chart(comparison())
    if chart.series:
        yield "a comparison", plotly.figure(chart)


LOOK = """() => ({
    ran: String(window.ran),
    inserted: [...document.querySelectorAll(
        "[onerror], [onload], #planted, img[src='x'], iframe, a[href^='javascript:']"
    )].map((one) => one.outerHTML.slice(0, 80)),
    scripts: [...document.querySelectorAll("script:not([type='application/json'])")]
        .filter((one) => one.textContent.startsWith("window.ran")).length,
    broken: document.querySelectorAll("parsererror").length,
    shown: document.documentElement.textContent.includes("<img src=x onerror=")
        || [...document.images].some((one) => one.alt.includes("<img src=x onerror=")),
})"""
HARMLESS = {"ran": "undefined", "inserted": [], "scripts": 0, "broken": 0, "shown": True}


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(offline=True)
    yield context.new_page()
    context.close()


def looked_at(page: Page, file: Path, text: str) -> Any:
    file.write_text(text, encoding="utf-8")
    page.goto(file.as_uri(), wait_until="load")
    page.wait_for_timeout(30)  # for what an error or a load sets off
    return page.evaluate(LOOK)


def test_the_browser_runs_what_is_not_escaped(page: Page, tmp_path: Path) -> None:
    seen = looked_at(page, tmp_path / "plain.html", f"<!DOCTYPE html><p title='{MARK}'>{MARK}</p>")

    assert seen["ran"] != "undefined"
    assert len(seen["inserted"]) > 3
    assert seen["scripts"] > 0


def test_what_a_notebook_shows_runs_nothing_and_inserts_nothing(page: Page, tmp_path: Path) -> None:
    found = {}
    for name, fragment in fragments():
        whole = f'<!DOCTYPE html><meta charset="utf-8"><body>{fragment}</body>'
        found[name] = looked_at(page, tmp_path / "page.html", whole)
        for number, one in enumerate(re.findall(r"data:image/svg\+xml;base64,([^\"]*)", fragment)):
            svg = base64.b64decode(one).decode()
            found[f"{name}, drawing {number}"] = looked_at(page, tmp_path / "page.svg", svg)

    assert {name: seen for name, seen in found.items() if seen != HARMLESS} == {}
    assert len(found) > 25


def test_pages_in_files_run_nothing_and_insert_nothing(page: Page, tmp_path: Path) -> None:
    found = {name: looked_at(page, tmp_path / "page.html", text) for name, text in pages()}

    assert {name: seen for name, seen in found.items() if seen != HARMLESS} == {}


@pytest.mark.slow
def test_plotly_makes_no_link_and_no_style_of_a_text(page: Page, tmp_path: Path) -> None:
    from plotly.offline import get_plotlyjs

    for name, figure in figures():
        data = json.dumps(figure).replace("<", "\\u003c")
        looked_at(
            page,
            tmp_path / "page.html",
            f'<!DOCTYPE html><meta charset="utf-8"><div id="here"></div><script>{get_plotlyjs()}</script>'
            f'<script>const figure = {data}; Plotly.newPlot("here", figure.data, figure.layout);</script>',
        )
        page.wait_for_selector("svg.main-svg")
        seen = page.evaluate(LOOK)
        assert (name, seen["ran"], seen["inserted"]) == (name, "undefined", [])
        assert (name, page.locator("svg a, svg image").count()) == (name, 0)


def test_every_page_in_a_file_says_that_it_has_no_other_base_and_no_form() -> None:
    for name, text in pages():
        if name != "a converted notebook":
            policy = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', text)
            assert len(policy) == 1, name
            words = policy[0].replace("&#x27;", "'")
            assert "default-src 'none'" in words
            assert "base-uri 'none'; form-action 'none'" in words
