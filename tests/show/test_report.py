"""The report is one page that needs nothing else, says what is missing, and runs nobody else's code."""

import base64
from html.parser import HTMLParser
from random import Random
from xml.etree import ElementTree

from msgspec.structs import replace

from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.gpu_work import GpuWork, KernelSum
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import DeviceUse, LogLine, RanOn, Record
from jupyter_mlgpu.record.strip import BINS, GpuLane, HostLane, Spent
from jupyter_mlgpu.show.receipts import figures
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.records import limited_record

HOSTILE = "</script><script>alert(1)</script><img src=http://x.example/a onerror=alert(2)> %{x} &lt;b&gt;"


class Page(HTMLParser):
    """The elements of a page with their attributes, its visible text, and the drawings of its charts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag):
        self._inside = ""

    def handle_data(self, data):
        if self._inside != "style":
            self.text += f"{data} "

    @property
    def policy(self) -> str:
        (found,) = [a["content"] for tag, a in self.elements if tag == "meta" and "http-equiv" in a]
        return found

    @property
    def drawings(self) -> list[str]:
        """The charts, as SVG."""
        images = [attributes["src"] for tag, attributes in self.elements if tag == "img"]
        assert all(source.startswith("data:image/svg+xml;base64,") for source in images)
        return [base64.b64decode(source.partition(",")[2]).decode() for source in images]


def page_of(records: list[Record], **options) -> Page:
    from jupyter_mlgpu.show.receipts.report import report

    return Page(report(records, title=options.pop("title", "lesson.ipynb"), **options))


def record(number: int = 1, **changes) -> Record:
    return replace(example_record(number), **changes)


def ran(number: int, *devices: tuple[str, float], asked: str | None = None) -> Record:
    entries = tuple(RanOn("tensorflow", name, "cpu", None, 10, share) for name, share in devices)
    return record(number, device=DeviceUse({"*": asked} if asked else {}, entries))


def chart(records: list[Record], title: str) -> figures.Figure:
    return next(one for one in figures.charts(records) if one.title == title)


def test_nothing_is_fetched_from_anywhere_and_no_script_may_run():
    page = page_of([example_record()])
    assert not [a for _, a in page.elements if a.keys() & {"href", "action", "data", "srcset"}]
    assert len(page.drawings) == 3
    assert page.policy.startswith("default-src 'none';")
    assert "script-src" not in page.policy
    assert "script" not in {tag for tag, _ in page.elements}


def test_names_notes_and_devices_stay_text():
    bad = replace(
        ran(1, (HOSTILE, 1.0), asked=HOSTILE),
        cell=replace(example_record().cell, name=HOSTILE),
        notes=(HOSTILE,),
        versions={HOSTILE: HOSTILE},
        readings=(
            Reading("wall_time", 1.0, "s", "cell", "other", 1, detail=HOSTILE),
            missing("cpu_time", HOSTILE),
            *example_record().readings[2:],
        ),
    )
    harmless = page_of([ran(1, ("cpu:0", 1.0))])
    page = page_of([bad], title=HOSTILE, notices=[HOSTILE])
    assert {tag for tag, _ in page.elements} <= {tag for tag, _ in harmless.elements} | {"p", "div"}
    assert not [a for _, a in page.elements if a.keys() & {"onerror", "onload"}]


def test_a_name_with_quotes_stands_in_the_charts_as_it_is_written():
    named = replace(example_record(), cell=replace(example_record().cell, name='print("a" < b)'))
    for drawing in page_of([named]).drawings:
        assert 'print("a" < b)' in " ".join(ElementTree.fromstring(drawing).itertext())


def test_every_chart_has_a_table_with_the_same_figures():
    page = page_of([ran(1, ("cpu:0", 0.25), ("cpu:1", 0.75)), record(2)])
    heads = [tag for tag, attributes in page.elements if tag == "th" and attributes["scope"] == "col"]
    assert len(page.drawings) == 3
    assert len(heads) == 3 + (3 + 2 + 5)  # of all cells, and of the charts
    for shown in ("500 ms", "900 ms", "512 MiB", "75.0 %", "25.0 %", "100 %"):
        assert shown in page.text.replace("\u00a0", " ")


def test_the_receipts_say_what_was_not_measured_and_why():
    page = page_of([record(notes=("This record was not saved.",))])
    assert "GPU busy time: Light tracing runs without a profiler." in page.text
    assert "TensorFlow keeps no allocator statistics for cpu:0." in page.text
    assert "This record was not saved." in page.text


def test_log_lines_to_act_on_are_counted_at_the_top_and_explained_as_text():
    line = LogLine(HOSTILE, "an-id", "action", HOSTILE, HOSTILE, {}, 2, "stderr", None, False)
    page = page_of([record(logs=(line,)), record(2)])
    assert page.text.index("1 message to act on") < page.text.index("Wall time")
    assert "1 message: 1 to act on" in page.text
    assert not [a for _, a in page.elements if a.keys() & {"onerror", "onload"}]
    assert len(page.drawings) == len(page_of([record(), record(2)]).drawings)


def test_the_page_begins_with_the_answer_then_the_slowest_cells_then_all_of_them():
    records = [
        record(number, readings=(with_wall(number), *example_record().readings[1:])) for number in range(1, 8)
    ]
    text = page_of([limited_record(8), *records]).text
    order = [
        "preparing input",
        "8 cells measured",
        "Slowest cells",
        "All cells",
        "Charts",
        "Receipts",
        "Versions",
    ]
    assert sorted(order, key=text.index) == order
    slowest = text[text.index("Slowest cells") : text.index("All cells")]
    assert [f"[{number}]" for number in range(1, 9) if f"[{number}]" in slowest] == [
        "[4]",
        "[5]",
        "[6]",
        "[7]",
        "[8]",
    ]
    assert slowest.index("[8]") < slowest.index("[7]") < slowest.index("[4]")


def with_wall(seconds: float) -> Reading:
    return replace(example_record().readings[0], value=float(seconds))


def large(number: int) -> Record:
    """A cell with a strip that cannot be drawn in fewer bytes, lines of code and messages."""
    dice = Random(number)
    wall = dice.uniform(0.2, 14)
    host = HostLane(
        wall / BINS, "".join(dice.choices("pniwc", k=BINS)), (Spent("p", wall / 2), Spent("n", wall / 2))
    )
    lane = GpuLane(wall / BINS, "".join(dice.choices("0123456789", k=BINS)), "0" * BINS, wall / 3, 0.0)
    kernels = tuple(KernelSum(f"void kernel_{at}<float, 128>(float const*)", 9, 0.1) for at in range(5))
    line = f"W tensorflow/core/op_kernel.cc:{number}] OP_REQUIRES failed at cast_op.cc: Cast is not supported"
    logs = tuple(
        LogLine(
            f"{line} {at}",
            "an-id",
            verdict,
            "What it means. " * 5,
            "Do this. " * 5,
            {},
            2,
            "stderr",
            None,
            False,
        )
        for at, verdict in enumerate(("action", "performance", "harmless"))
    )
    return replace(
        limited_record(number),
        readings=(with_wall(wall), *limited_record().readings[1:]),
        cell=replace(
            example_record(number).cell, name=f"history = model.fit(images[:{number}], labels, epochs=2)"
        ),
        host_lane=host,
        gpu_work=(GpuWork("gpu:0", 9, wall / 3, kernels=kernels, lane=lane),),
        logs=logs,
    )


def test_a_hundred_large_cells_are_less_than_500_kb_and_what_was_left_out_is_said():
    from jupyter_mlgpu.show.receipts.report import report

    written = report([large(number) for number in range(1, 101)], title="large.ipynb")
    assert len(written.encode()) < 500_000
    page = Page(written)
    assert all(f"[{number}] history" in page.text for number in range(1, 101))
    whole = len(page.drawings) - 5 - 3
    assert page.text.count("Left out of this receipt for its size:") == 100 - whole


def test_a_few_cells_keep_everything_in_their_receipts():
    page = page_of([large(number) for number in range(1, 8)])
    assert len(page.drawings) == 5 + 3 + 7
    assert "Left out" not in page.text


def test_the_page_is_in_the_notebooks_language():
    page = page_of([limited_record(1), record(2)], language="zh")
    for said in ("14.7 s", "是准备输入", "最慢的单元格", "所有单元格", "图表", "在哪里运行", "回执"):
        assert said in page.text
    assert ("html", {"lang": "zh"}) in page.elements
    for said in ("Slowest", "All cells", "Time", "cells measured", "Began"):
        assert said not in page.text


def test_notices_stand_at_the_top():
    page = page_of([example_record()], notices=["Cell [3] lost its kernel."])
    assert page.text.index("Cell [3] lost its kernel.") < page.text.index("Wall time")


def test_records_that_are_not_of_this_run_are_labelled():
    assert "replayed" in page_of([example_record().with_origin("replayed")]).text


def test_without_records_the_page_says_so():
    page = page_of([], notices=["Interrupted."])
    assert "No cell left a record." in page.text
    assert page.drawings == []


def test_what_was_not_measured_has_no_bar_and_no_column():
    time = chart([example_record()], "Time")
    assert time.table.columns == ("Cell", "Wall time", "CPU time")
    assert time.note.endswith("Not measured: GPU busy time. The receipts say why.")


def test_a_reading_that_one_record_lacks_is_said_in_the_table():
    without = record(2, readings=(missing("wall_time", "The clock stopped."), *example_record().readings[1:]))
    rows = chart([example_record(), without], "Time").table.rows
    assert [row[1] for row in rows] == ["500 ms", "not measured"]


def test_several_devices_of_one_quantity_are_not_added_up():
    two = [
        Reading(
            "peak_memory_allocator",
            size,
            "bytes",
            "device",
            "allocator",
            1,
            device=name,
            detail=f"get_memory_info({name})",
        )
        for name, size in (("GPU:0", 1024**2), ("GPU:1", 2 * 1024**2))
    ]
    memory = chart([record(readings=tuple(two))], "Memory")
    assert memory.table.columns[1:] == (
        "Peak memory, allocator, GPU:0",
        "Peak memory, allocator, GPU:1",
    )
    assert memory.table.rows[0][1:] == ("1 MiB", "2 MiB")


def test_where_the_work_ran_names_the_device_asked_for():
    rows = chart(
        [ran(1, ("cpu:0", 0.9999), ("cpu:1", 0.0001), asked="cpu:1")], "Where the work ran"
    ).table.rows
    assert rows[0][1:] == ("cpu:1", "cpu:0, cpu:1", "99.9 %", "0.1 %")


def test_an_unknown_place_is_said_with_its_reason():
    unknown = record(device=DeviceUse({"*": "gpu:0"}, None, "No framework was loaded."))
    where = chart([unknown], "Where the work ran")
    assert where.table.rows[0][1:] == ("gpu:0", "No framework was loaded.")
    assert where.chart is None


def test_cells_are_called_by_the_notebooks_number_where_it_is_known():
    script = record(cell=replace(example_record(7).cell, execution_count=None))
    assert [cellnumbers.name(one) for one in (example_record(3), script)] == ["[3]", "#7"]
