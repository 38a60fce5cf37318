"""What a student finds on the page of one record: operations, timeline, memory, and how it was measured."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Route, expect

from jupyter_mlgpu.record.files import load_records
from jupyter_mlgpu.record.record import OpStat
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

LOAD = "%load_ext jupyter_mlgpu"
MARKUP = "<img src=x onerror='window.pwned = 1'><script>window.pwned = 1</script>"

#: Puts a record into the kernel whose profile is the test's own, as a profiled cell leaves one.
PROFILED = """
from msgspec.structs import replace
from jupyter_mlgpu.measure.ops import table
from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.testing import example_record

def host(name, start, length, line="thread 1"):
    return Event(name, name, "host", "host", line, start * 1000, length * 1000)

def kernel(name, start, length):
    return Event(name, name, "device", "gpu:0", "stream 7", start * 1000, length * 1000, "kernel")

def profiled(*events, end=1000, number=1000):
    extension = get_ipython()._jupyter_mlgpu
    profile = Profile("torch", "fake profiler", tuple(events), 0, end * 1000)
    record = example_record(number, run=extension.runtime.recorder.run.id, name="profiled cell")
    rows = table.rows(profile)[:300]
    record = replace(record, mode="profiled", ops=rows)
    extension.runtime.profiles.add(record.key, (profile,))
    extension.runtime.store.add(record)
"""

FEW = """
profiled(
    host("step", 0, 900), host("linear", 100, 300), host("relu", 500, 100),
    kernel("gemm", 200, 400), kernel("copy", 700, 50),
)
"""

#: A page that speaks as Perfetto's does, and keeps what it was given.
PERFETTO = """<!doctype html><title>Perfetto</title><script>
window.addEventListener('message', event => {
    if (event.data === 'PING') {
        event.source.postMessage('PONG', event.origin);
    } else {
        const { title, fileName, buffer } = event.data.perfetto;
        window.taken = { title, fileName, text: new TextDecoder().decode(buffer) };
    }
});
</script>"""


def open_page(lab: Lab, name: str) -> Locator:
    """Open the page of a record from its row."""
    row = lab.records.filter(has_text=name).first
    row.get_by_role("button", name="Details").click()
    page = lab.sidebar.get_by_role("region", name="Details")
    expect(page.get_by_text("How it was measured", exact=True)).to_be_visible()
    return page


def section(page: Locator, name: str) -> Locator:
    """A section of the page, by its heading."""
    return page.get_by_role("region", name=name, exact=True)


def profiled_page(lab: Lab, code: str = FEW) -> Locator:
    """The page of a profiled record whose events are the test's own."""
    lab.write("inside.ipynb", LOAD, "a = 1", PROFILED + code)
    lab.open("inside.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    return open_page(lab, "profiled cell")


def cells(table: Locator, column: int) -> list[str]:
    """The texts of a column of a table, row by row, once there are any."""
    rows = table.locator("tbody tr:not([aria-hidden])")
    expect(rows.first).to_be_visible()
    return [row.locator("th, td").nth(column).inner_text() for row in rows.all()]


def test_a_light_cell_says_how_to_get_a_profile_and_why_it_has_no_curve(lab: Lab) -> None:
    lab.write("light.ipynb", LOAD, "light = 1")
    lab.open("light.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    page = open_page(lab, "light = 1")
    expect(section(page, "Timeline")).to_contain_text("%%mlc_trace --ops as its first line")
    expect(section(page, "Memory while it ran")).to_contain_text("too short for a curve")
    expect(section(page, "Operations")).to_have_count(0)
    expect(section(page, "Messages")).to_have_count(0)
    expect(page.get_by_role("button", name="Open in Perfetto")).to_have_count(0)
    measured = page.get_by_role("table", name="Readings")
    wall = measured.get_by_role("row").filter(has_text="Wall time")
    expect(wall).to_contain_text("time.perf_counter_ns")
    expect(wall).to_contain_text("cell")
    page.get_by_text("Not measured (").click()
    expect(page).to_contain_text(re.compile("GPU busy time.*: No framework known"))
    expect(measured).not_to_contain_text("GPU busy time")


def test_the_operations_of_a_device_and_of_the_host_stand_apart_and_sort_by_a_click(lab: Lab) -> None:
    page = profiled_page(lab)
    operations = section(page, "Operations")
    expect(operations).to_contain_text("compare operations with each other only")
    gpu = operations.get_by_role("table", name="Operations on gpu:0 (fake profiler)")
    host = operations.get_by_role("table", name=re.compile("Operations on the host"))
    assert cells(gpu, 0) == ["gemm", "copy"]
    assert cells(host, 0) == ["step", "linear", "relu"]
    assert cells(host, 1) == ["500 µs", "300 µs", "100 µs"]
    assert cells(host, 3)[0] == "900 µs"
    self_time = host.get_by_role("columnheader", name="Self")
    expect(self_time).to_have_attribute("aria-sort", "descending")
    self_time.get_by_role("button").click()
    expect(self_time).to_have_attribute("aria-sort", "ascending")
    assert cells(host, 0) == ["relu", "linear", "step"]
    host.get_by_role("columnheader", name="Operation").get_by_role("button").press("Enter")
    assert cells(host, 0) == ["linear", "relu", "step"]
    expect(self_time).to_have_attribute("aria-sort", "none")


@pytest.mark.slow
def test_operations_are_found_by_name(lab: Lab) -> None:
    page = profiled_page(lab)
    operations = section(page, "Operations")
    operations.get_by_role("searchbox", name="Find operations").fill("LIN")
    host = operations.get_by_role("table", name=re.compile("host"))
    assert cells(host, 0) == ["linear"]
    expect(operations).to_contain_text("No operations match.")
    expect(operations.get_by_role("heading", name=re.compile("host"))).to_contain_text("1 of 3")


@pytest.mark.slow
def test_all_of_the_page_can_be_done_with_the_keyboard(lab: Lab) -> None:
    lab.write("keyboard.ipynb", LOAD, PROFILED + FEW)
    lab.open("keyboard.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    details = lab.records.filter(has_text="profiled cell").get_by_role("button", name="Details")
    details.focus()
    lab.page.keyboard.press("Enter")
    page = lab.sidebar.get_by_role("region", name="Details")
    expect(page.get_by_role("button", name="Back to the cells")).to_be_focused()
    button = section(page, "Timeline").get_by_role("button", name="Save the timeline")
    button.focus()
    with lab.page.expect_download():
        lab.page.keyboard.press("Enter")
    expect(button).to_be_focused()
    page.get_by_role("button", name="Back to the cells").focus()
    lab.page.keyboard.press("Enter")
    expect(lab.records.filter(has_text="profiled cell").locator(":focus")).to_have_count(1)


@pytest.mark.slow
def test_going_back_finds_a_row_far_down_the_list(lab: Lab) -> None:
    lab.write(
        "far.ipynb",
        LOAD,
        "import jupyter_mlgpu\nfor n in range(60):\n    with jupyter_mlgpu.trace(f'step {n}'): pass",
    )
    lab.open("far.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records.first).to_contain_text("for n in range(60):")
    lab.records.first.get_by_role("button").first.focus()
    lab.page.keyboard.press("End")
    last = lab.records.filter(has=lab.page.get_by_text("step 0", exact=True))
    last.get_by_role("button", name="Details").click()
    lab.sidebar.get_by_role("button", name="Back to the cells").click()
    expect(last.locator(":focus")).to_have_count(1)
    expect(last).to_be_in_viewport()


@pytest.mark.slow
def test_names_of_operations_are_text_whatever_they_hold(lab: Lab) -> None:
    name = f"{MARKUP}\u202egnp"
    page = profiled_page(lab, f"profiled(host({name!r}, 0, 900), kernel({'long ' * 2000!r}, 10, 20))")
    operations = section(page, "Operations")
    expect(operations.get_by_role("rowheader").filter(has_text="<script>")).to_have_count(1)
    expect(operations).to_contain_text("\\u202e")
    assert page.locator("img[src], script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None
    width = lab.sidebar.evaluate("one => one.scrollWidth - one.clientWidth")
    assert width == 0, "a long name does not widen the page"


def test_a_saved_notebook_without_its_kernel_has_the_record_and_says_what_is_not_saved(
    lab: Lab, tmp_path: Path
) -> None:
    row = OpStat("conv2d", "conv", "gpu:0", 3, 0.2, 0.3, "a profiler", "device", 0.75, "(8, 3)", 4096, 1e9)
    record = replace(example_record(7), mode="profiled", ops=(row,))
    lab.write_with_receipts("saved_page.ipynb", bundle(record))
    lab.open_without_kernel("saved_page.ipynb")
    page = open_page(lab, "model.fit(x, y)")
    table = section(page, "Operations").get_by_role("table")
    assert cells(table, 0) == ["conv2d"]
    assert table.get_by_role("columnheader").all_inner_texts()[-3:] == ["Copied", "FLOP", "Type"]
    assert cells(table, 5) == ["4 KiB"]
    expect(section(page, "Timeline")).to_contain_text("Timelines are not saved with the notebook")
    expect(section(page, "Memory while it ran")).to_contain_text("not saved with the notebook")
    with lab.page.expect_download() as download:
        page.get_by_role("button", name="Save the receipt").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert file.name == "lesson-cell-7.jsonl"
    (found,), problems = load_records(file)
    assert problems == []
    assert found.key == record.key
    assert found.ops == record.ops
    expect(page.get_by_role("status").first).to_have_text("Saved as lesson-cell-7.jsonl.")


def test_the_record_and_the_timeline_of_a_live_kernel_are_saved_whole(lab: Lab, tmp_path: Path) -> None:
    page = profiled_page(lab)
    files = {}
    for button in ("Save the receipt", "Save the timeline"):
        with lab.page.expect_download() as download:
            page.get_by_role("button", name=button).click()
        files[button] = tmp_path / download.value.suggested_filename
        download.value.save_as(files[button])
    (record,), problems = load_records(files["Save the receipt"])
    assert problems == []
    assert record.cell.name == "profiled cell"
    assert len(record.ops) == 5
    trace = json.loads(files["Save the timeline"].read_text())
    names = [one["name"] for one in trace["traceEvents"] if one["ph"] == "X"]
    assert {"gemm", "copy", "step", "linear", "relu"} <= set(names)


@pytest.fixture
def perfetto(lab: Lab) -> Iterator[None]:
    """A page of the test's own at Perfetto's address: nothing leaves this machine."""

    def answer(route: Route) -> None:
        route.fulfill(content_type="text/html", body=PERFETTO)

    lab.page.context.route("https://ui.perfetto.dev/**", answer)
    yield
    lab.page.context.unroute("https://ui.perfetto.dev/**", answer)


def test_a_click_opens_perfetto_and_hands_it_the_timeline(lab: Lab, perfetto: None) -> None:
    page = profiled_page(lab)
    expect(page).to_contain_text("nothing is uploaded")
    with lab.page.expect_popup() as popup:
        page.get_by_role("button", name="Open in Perfetto").click()
    popup.value.wait_for_function("window.taken !== undefined")
    taken = popup.value.evaluate("() => window.taken")
    popup.value.close()
    assert popup.value.url == "https://ui.perfetto.dev/"
    assert taken["title"] == "profiled cell"
    names = [one["name"] for one in json.loads(taken["text"])["traceEvents"]]
    assert "gemm" in names
    expect(page).to_contain_text("Perfetto has received the timeline.")


@pytest.mark.slow
def test_a_record_is_copied_as_text(lab: Lab) -> None:
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = profiled_page(lab)
    page.get_by_role("button", name="Copy as text").click()
    expect(page.get_by_role("status").first).to_have_text("Copied")
    text = lab.page.evaluate("() => navigator.clipboard.readText()")
    assert text.startswith("[1000] profiled cell\n")
    assert "\nprofiled · " in text
    assert "gemm\t1\t400 µs" in text


#: Looks at memory as the sidebar's live counters take them, without its 15 seconds of patience.
WATCHED = """
import time
extension = get_ipython()._jupyter_mlgpu
extension.live_counters.renew()
state = None
while state is None or len(state["history"]) < looked + 3:
    time.sleep(0.05)
    state = extension.live_counters.state()
"""


def test_the_memory_of_a_cell_that_was_watched_is_drawn_with_its_figures(lab: Lab) -> None:
    lab.write("memory.ipynb", LOAD, "looked = 0", WATCHED)
    lab.open("memory.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    page = open_page(lab, "while state is None")
    memory = section(page, "Memory while it ran")
    expect(memory).to_contain_text("Sampled every 500 ms")
    curve = memory.get_by_role("img", name=re.compile(r"^Memory, process: .* to .*iB$"))
    expect(curve).to_be_visible()
    points = curve.locator("polyline").first.get_attribute("points") or ""
    assert len(points.split()) >= 3
    expect(memory).to_contain_text("psutil.virtual_memory")
    memory.locator("summary").click()
    table = memory.get_by_role("table")
    assert len(cells(table, 0)) >= 3
    assert all("iB" in figure for figure in cells(table, 2))


@pytest.mark.slow
@pytest.mark.needs("tensorflow")
def test_a_profiled_tensorflow_cell_has_its_operations_and_its_timeline(lab: Lab, tmp_path: Path) -> None:
    work = "%%mlc_trace --ops\nx = tf.random.uniform((64, 64))\nfor _ in range(5): x = tf.linalg.matmul(x, x)"
    lab.write("tensorflow.ipynb", LOAD, "import tensorflow as tf; tf.zeros(1)", work)
    lab.open("tensorflow.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    page = open_page(lab, "tf.linalg.matmul")
    operations = section(page, "Operations").get_by_role("table").first
    matmul = operations.get_by_role("row").filter(has_text="MatMul").first
    expect(matmul).to_contain_text("5")
    with lab.page.expect_download() as download:
        section(page, "Timeline").get_by_role("button", name="Save the timeline").click()
    download.value.save_as(file := tmp_path / "timeline.json")
    names = [one["name"] for one in json.loads(file.read_text())["traceEvents"]]
    assert any("MatMul" in name for name in names)


@pytest.mark.slow
def test_the_page_fits_into_a_narrow_sidebar(lab: Lab) -> None:
    page = profiled_page(lab)
    lab.sidebar.evaluate("one => { one.style.minWidth = '0'; one.style.width = '240px'; }")
    wider = page.evaluate(
        """page => [...page.querySelectorAll('*')]
            .filter(one => one.closest('.jp-mlgpu-TableScroller') === null)
            .filter(one => !one.classList.contains('jp-mlgpu-Hidden'))
            .filter(one => one.getBoundingClientRect().right > page.getBoundingClientRect().right + 1)
            .map(one => one.outerHTML.slice(0, 100))"""
    )
    assert wider == []


@pytest.mark.slow
def test_a_chinese_page_is_chinese(lab: Lab, chinese: None) -> None:
    lab.write("chinese_page.ipynb", LOAD, "a = 1", PROFILED + FEW)
    lab.load("chinese_page.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    for index in range(3):
        lab.run_to_end(index)
    lab.records.filter(has_text="profiled cell").locator(".jp-mlgpu-Toggle").click()
    page = lab.sidebar.locator(".jp-mlgpu-Page")
    expect(page.get_by_text("测量方法", exact=True)).to_be_visible()
    for heading in ("操作", "时间线", "运行期间的内存"):
        expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    # The next test's page is to be loaded in its own language.
    lab.page.goto("about:blank")
