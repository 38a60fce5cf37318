"""What a student sees under the cells of a saved notebook, where nothing runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.record.gpu_work import CopySum, GpuWork, KernelSum
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import HOLDS_ONLY, Fact, LogLine, Record
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.record.strip import GpuLane, HostLane, Spent
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.testing import example_record, limited_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab


def test_a_saved_notebook_that_is_not_trusted_draws_its_receipts_without_a_kernel(lab: Lab) -> None:
    lab.write_with_receipts("saved.ipynb", bundle(example_record()))
    lab.open_without_kernel("saved.ipynb")
    assert (
        lab.page.evaluate("() => jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted") is False
    )
    expect(lab.receipts).to_have_count(1)
    expect(lab.receipts.first).to_contain_text("500 ms · ran on cpu:0 · peak memory 512 MiB")
    expect(lab.sidebar).to_contain_text("This notebook has no kernel.")
    expect(lab.records).to_have_count(1)
    expect(lab.sidebar.get_by_role("heading", name="From the saved notebook")).to_be_visible()
    lab.records.first.get_by_role("button", name="model.fit(x, y)").click()
    assert lab.active_cell() == 0


def test_a_closed_receipt_lets_its_last_figures_go_where_it_is_narrow_and_keeps_the_answer(
    lab: Lab,
) -> None:
    record = replace(limited_record(), logs=(message("fatal"), message("harmless")))
    lab.write_with_receipts("narrow.ipynb", bundle(record))
    lab.open_without_kernel("narrow.ipynb")
    line = lab.receipts.first.get_by_role("button")
    answer = line.locator(".jp-mlgpu-Receipt-answer")
    others = line.locator(".jp-mlgpu-Receipt-rest > span")
    whole = ["1 message: 1 to act on", "ran on cpu:0", "peak memory 512 MiB"]
    for width, count in ((700, 2), (540, 1), (330, 0), (250, 0), (120, 0)):
        lab.receipts.first.evaluate("(one, width) => one.style.width = `${width}px`", width)
        assert seen(others) == whole[:count], width
        expect(answer).to_have_text("14.7 s · about 90 % preparing input")
        clipped = answer.evaluate(
            "one => [one.scrollWidth - one.clientWidth, one.scrollHeight - one.clientHeight]"
        )
        assert max(clipped) <= 0, f"the answer is whole in {width} px"
        assert not holes(line), width


def test_a_screen_reader_hears_a_receipt_as_a_sentence_with_pauses(lab: Lab) -> None:
    lab.write_with_receipts("heard.ipynb", bundle(replace(example_record(), logs=(message("fatal"),))))
    lab.open_without_kernel("heard.ipynb")
    expect(lab.receipts.first.get_by_role("button")).to_have_accessible_name(
        "finished, 500 ms, 1 message: 1 to act on, ran on cpu:0, peak memory 512 MiB"
    )


def test_the_receipt_of_a_definition_is_closed_to_its_name_and_opens_to_its_figures(lab: Lab) -> None:
    facts = {HOLDS_ONLY: Fact("definitions", say("the cell's code"))}
    lab.write_with_receipts("defined.ipynb", bundle(replace(example_record(), facts=facts, notes=())))
    lab.open_without_kernel("defined.ipynb")
    line = lab.receipts.first.locator(".jp-mlgpu-Receipt-line")
    expect(line).to_have_text("Receipt")
    line.click()
    expect(line).to_contain_text("500 ms")
    expect(lab.receipts.first).to_contain_text("holds only")


def test_an_opened_receipt_shows_what_is_to_be_done_and_folds_the_other_lines(lab: Lab) -> None:
    record = replace(limited_record(), logs=(message("harmless"), message("fatal")))
    lab.write_with_receipts("folded.ipynb", bundle(record))
    lab.open_without_kernel("folded.ipynb")
    receipt = lab.receipts.first
    receipt.get_by_role("button").first.click()
    lines = receipt.locator(".jp-mlgpu-LogNote")
    expect(lines).to_contain_text(["What fatal means."])
    parts = [
        receipt.get_by_text("Waited 86 %"),
        receipt.get_by_role("table", name="Lines of code"),
        lines.first,
        receipt.get_by_text("Evidence", exact=True),
        receipt.get_by_text("Where it ran"),
        receipt.get_by_text("Other messages (1)"),
        receipt.get_by_text("How it was measured"),
        receipt.get_by_text("Not measured (4)"),
    ]
    tops = [(part.bounding_box() or {"y": 0})["y"] for part in parts]
    assert tops == sorted(tops)
    assert receipt.inner_text().count("14.7 s") <= 2, "the line, and what the limit says"
    receipt.get_by_text("Other messages (1)").click()
    expect(lines).to_contain_text(["What fatal means.", "What harmless means."])


def message(verdict: str) -> LogLine:
    told = f"What {verdict} means."
    return LogLine("raw", verdict, verdict, told, None, {}, 1, "stderr", None, False)


def seen(figures: Locator) -> list[str]:
    """The figures that stand on the first line of their box; the others wrap out of it."""
    return [
        text.strip(" ·")
        for text, top in figures.evaluate_all(
            "all => all.map(one => [one.textContent, one.offsetTop - one.parentElement.offsetTop])"
        )
        if top < 8
    ]


def holes(line: Locator) -> bool:
    """True if there is room between two neighbours of the line that are seen."""
    return bool(
        line.evaluate(
            """line => {
                const found = '.jp-mlgpu-Receipt-answer, .jp-mlgpu-Receipt-rest > span';
                const parts = [...line.querySelectorAll(found)];
                const boxes = parts.map(one => one.getBoundingClientRect());
                const seen = boxes.filter(({ top }) => top < line.getBoundingClientRect().top + 12);
                return seen.some((one, at) => at > 0 && one.left - seen[at - 1].right > 12);
            }"""
        )
    )


def test_a_receipt_without_an_answer_opens_to_every_reading(lab: Lab) -> None:
    lab.write_with_receipts("opens_up.ipynb", bundle(example_record()))
    lab.open_without_kernel("opens_up.ipynb")
    receipt = lab.receipts.first
    line = receipt.get_by_role("button")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.focus()
    lab.page.keyboard.press("Enter")
    expect(line).to_have_attribute("aria-expanded", "true")
    expect(receipt.get_by_role("table", name="Readings")).to_contain_text("process, fake probe")
    receipt.get_by_text("Not measured (4)").click()
    expect(receipt).to_contain_text("allocator: TensorFlow keeps no allocator statistics for cpu:0.")


def test_a_receipt_says_how_busy_the_gpu_was_and_opens_to_its_copies_and_kernels(lab: Lab) -> None:
    busy = Reading("device_time", 0.14, "s", "device", "CUPTI", 1_450, device="gpu:0", detail=say("records"))
    work = GpuWork(
        "gpu:0",
        1_450,
        0.12,
        (CopySum("host-to-device", 6, 72_000_000, 0.006), CopySum("device-to-host", 2, 4096, 0.0001)),
        (KernelSum("void gemm<float>(float*, int)", 60, 0.09), KernelSum("softmax", 20, 0.02)),
        went_on=0.2,
    )
    others = [one for one in example_record().readings if one.quantity != "device_time"]
    record = replace(example_record(), readings=(*others, busy), gpu_work=(work,), asynchronous=True)
    lab.write_with_receipts("gpu.ipynb", bundle(record))
    lab.open_without_kernel("gpu.ipynb")
    receipt = lab.receipts.first
    expect(receipt).to_contain_text("500 ms · GPU busy 20 %, went on for 200 ms · ran on cpu:0")
    receipt.get_by_role("button").click()
    receipt.get_by_text("Where it ran").click()
    expect(receipt).to_contain_text("gpu:0 went on for 200 ms after the cell's code had ended.")
    copies = receipt.get_by_role("table", name="Copies of gpu:0")
    expect(copies.get_by_role("row", name="host-to-device")).to_contain_text("12 GB/s")
    kernels = receipt.get_by_role("table", name="Kernels of gpu:0 that took most of 120 ms; 1,450 launches")
    expect(kernels.get_by_role("row", name="void gemm")).to_contain_text("75 %")


def test_a_receipt_draws_what_the_cpu_and_the_gpu_did_when(lab: Lab) -> None:
    lane = GpuLane(0.005, "0099" * 25, "9000" * 25, 0.25, 0.125)
    work = GpuWork("gpu:0", 1_450, 0.25, lane=lane)
    host = HostLane(0.005, "p" * 60 + "w" * 40, (Spent("p", 0.3), Spent("w", 0.2)))
    record = replace(example_record(), gpu_work=(work,), host_lane=host)
    lab.write_with_receipts("strip.ipynb", bundle(record))
    lab.open_without_kernel("strip.ipynb")
    receipt = lab.receipts.first
    legend = "CPU: Python 300 ms, waiting 200 ms · GPU: kernels 250 ms, copies 125 ms"
    picture = receipt.get_by_role("img", name=f"Over the cell's time: {legend}")
    expect(picture).to_be_visible()
    receipt.get_by_role("button").click()
    box = picture.bounding_box()
    assert box is not None
    assert (box["height"], box["width"] > 300) == (28, True)
    expect(receipt.locator(".jp-mlgpu-Strip-legend")).to_have_text(legend)
    expect(picture.locator("title").first).to_have_text("0 µs to 300 ms: Python")
    page = lab.sidebar.get_by_role("region", name="Details", exact=True)
    expect(page).to_have_count(0)
    picture.click()
    expect(page.get_by_role("img", name=f"Over the cell's time: {legend}")).to_be_visible()


@pytest.mark.slow
def test_a_chinese_jupyterlab_says_in_chinese_what_the_kernel_wrote(lab: Lab, chinese: None) -> None:
    unused = say("PyTorch has not used {device} yet.", device="gpu:1")
    notes = (joined(unused, say("No NVIDIA driver was found here.")), say("Nobody knows this sentence."))
    lab.write_with_receipts("chinese.ipynb", bundle(replace(example_record(), notes=notes)))
    lab.load("chinese.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button").first.click()
    lab.wait_for_notebook()
    receipt = lab.receipts.first
    shown = receipt.locator(".jp-mlgpu-Note")
    expect(shown).to_have_text(
        [
            "PyTorch 还没有使用过 gpu:1。此处没有 NVIDIA 驱动程序。",
            "Nobody knows this sentence.",
        ]
    )
    receipt.get_by_role("button").click()
    receipt.get_by_text("未测量").click()
    expect(receipt).to_contain_text("TensorFlow 没有 cpu:0 的分配器统计数据。")
    expect(receipt).not_to_contain_text("statistics")
    lab.show_sidebar()
    lab.records.first.locator(".jp-mlgpu-Toggle").click()
    page = lab.sidebar.locator(".jp-mlgpu-Page")
    page.get_by_text("未测量").click()
    expect(page).to_contain_text("TensorFlow 没有 cpu:0 的分配器统计数据。")
    expect(page.locator(".jp-mlgpu-Note").first).to_contain_text("此处没有 NVIDIA 驱动程序。")


def test_the_receipt_is_still_there_after_running_saving_and_reloading(lab: Lab) -> None:
    lab.write("kept.ipynb", "%load_ext jupyter_mlgpu", "a = 1")
    lab.open("kept.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    line = lab.receipts.first.inner_text()
    lab.save()
    lab.reload()
    lab.wait_for_app()
    expect(lab.receipts).to_have_text([line])


@pytest.mark.slow
def test_a_hostile_receipt_is_shown_as_text_and_cut_to_size(lab: Lab) -> None:
    markup = "<img src=x onerror='window.pwned = 1'><script>window.pwned = 1</script>"
    record = replace(example_record(name=markup), notes=(markup, "long " * 100_000))
    data = record.to_json()
    data["device"]["ran_on"][0]["device"] = markup
    data["versions"] = {markup: markup}
    data["readings"] *= 1000
    lab.write_with_receipts("hostile.ipynb", {MIME_TYPE: data})
    lab.open_without_kernel("hostile.ipynb")
    lab.receipts.first.get_by_role("button").click()
    expect(lab.receipts.first).to_contain_text("<script>window.pwned = 1</script>")
    expect(lab.records.first.locator(".jp-mlgpu-Name")).to_contain_text("<img src=x")
    assert lab.page.locator(".jp-mlgpu-Receipt img[src], .jp-mlgpu-Receipt script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None
    assert lab.receipts.first.get_by_role("table", name="Readings").get_by_role("row").count() <= 100
    assert len(lab.receipts.first.inner_text()) < 50_000


def test_a_receipt_of_a_newer_version_or_of_rubbish_says_so_in_one_sentence(lab: Lab) -> None:
    newer = {**example_record().to_json(), "schema": 99}
    lab.write_with_receipts("strange.ipynb", {MIME_TYPE: newer}, {MIME_TYPE: {"schema": 1}}, {MIME_TYPE: []})
    lab.open_without_kernel("strange.ipynb")
    newer_sentence = (
        "This receipt was made by a newer jupyter_mlgpu. Update with: pip install --upgrade jupyter_mlgpu"
    )
    invalid_sentence = "This receipt cannot be read: its data was not made by jupyter_mlgpu."
    expect(lab.receipts).to_have_text([newer_sentence, invalid_sentence, invalid_sentence])
    expect(lab.records).to_have_count(0)


def test_operations_that_were_not_counted_are_said_with_what_is_known(lab: Lab) -> None:
    data = example_record().to_json()
    entry = {"framework": "torch", "device": "gpu:0", "kind": "cuda", "native_name": "cuda:0"}
    why = "PyTorch does not count them."
    entry |= {"operations": None, "share": None, "why_missing": why, "evidence": "allocator"}
    data["device"] |= {"requested": {"*": "gpu:0"}, "ran_on": [entry]}
    lab.write_with_receipts("evidence.ipynb", bundle(Record.from_json(data)))
    lab.open_without_kernel("evidence.ipynb")
    expect(lab.receipts.first).to_contain_text("500 ms · used gpu:0 · peak memory")
    lab.receipts.first.get_by_role("button").click()
    lab.receipts.first.get_by_text("Where it ran").click()
    expect(lab.receipts.first).to_contain_text(
        f"gpu:0 (PyTorch, cuda): its allocator gave out memory; more may have run elsewhere · {why}"
    )


@pytest.mark.slow
def test_short_cells_get_no_receipt_where_that_is_set_and_the_sidebar_has_them(
    lab: Lab, our_settings: Callable[..., None]
) -> None:
    our_settings(receiptSeconds=1)
    lab.write("short.ipynb", "%load_ext jupyter_mlgpu", "a = 1", "a / 0", "%%mlc_trace\na = 2")
    lab.open("short.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(0)  # so that the page has found the kernel out before the next one
    for index in (1, 2, 3):
        lab.run_to_end(index)
    expect(lab.cell(2).locator(".jp-mlgpu-Receipt")).to_contain_text("error")
    expect(lab.cell(3).locator(".jp-mlgpu-Receipt")).to_have_count(1)
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_have_count(0)
    expect(lab.records.filter(has_text="a = 1")).to_have_count(1)


@pytest.mark.slow
def test_a_saved_notebook_keeps_one_line_of_a_receipt_where_that_is_set_and_the_page_all_of_it(
    lab: Lab, our_settings: Callable[..., None]
) -> None:
    our_settings(savedReceipts="line")
    path = lab.write("one_line.ipynb", "%load_ext jupyter_mlgpu", "a = 1")
    lab.open("one_line.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.receipts).to_have_count(1)
    lab.save()
    (output,) = json.loads(path.read_text())["cells"][1]["outputs"]
    (kind,) = output["data"]
    assert kind == "text/plain"
    assert "".join(output["data"][kind]).startswith("[mlgpu] ")
    expect(lab.receipts).to_have_count(1)
