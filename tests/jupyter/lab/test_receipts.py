"""What a student sees under the cells of a saved notebook, where nothing runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab


def test_a_saved_notebook_that_is_not_trusted_draws_its_receipts_without_a_kernel(lab: Lab) -> None:
    lab.write_with_receipts("saved.ipynb", bundle(example_record()))
    lab.open_without_kernel("saved.ipynb")
    assert (
        lab.page.evaluate("() => jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted") is False
    )
    expect(lab.receipts).to_have_count(1)
    expect(lab.receipts.first).to_contain_text(
        "500 ms · ran on cpu:0 · CPU time 900 ms · peak memory 512 MiB"
    )
    expect(lab.sidebar).to_contain_text("This notebook has no kernel.")
    expect(lab.records).to_have_count(1)
    expect(lab.sidebar.get_by_role("heading", name="From the saved notebook")).to_be_visible()
    lab.records.first.get_by_role("button", name="model.fit(x, y)").click()
    assert lab.active_cell() == 0


def test_a_receipt_opens_to_bars_and_every_reading(lab: Lab) -> None:
    lab.write_with_receipts("opens_up.ipynb", bundle(example_record()))
    lab.open_without_kernel("opens_up.ipynb")
    line = lab.receipts.first.get_by_role("button")
    expect(line).to_have_attribute("aria-expanded", "false")
    line.focus()
    lab.page.keyboard.press("Enter")
    expect(line).to_have_attribute("aria-expanded", "true")
    table = lab.receipts.first.get_by_role("table", name="Readings")
    expect(table).to_contain_text("not measured: TensorFlow keeps no allocator statistics for cpu:0.")
    bars = lab.receipts.first.locator(".jp-mlgpu-Bars")
    wall, cpu = (bars.locator(f"[data-quantity={name}] .jp-mlgpu-Bar") for name in ("wall_time", "cpu_time"))
    widths = [bar.bounding_box() or {"width": 0} for bar in (wall, cpu)]
    assert abs(widths[0]["width"] / widths[1]["width"] - 0.5 / 0.9) < 0.02, "both bars are on one scale"
    expect(bars.locator("[data-quantity=device_time] .jp-mlgpu-Bar")).to_have_count(0)
    expect(bars.locator("[data-quantity=device_time]")).to_contain_text("not measured")


@pytest.mark.slow
def test_a_chinese_jupyterlab_says_in_chinese_what_the_kernel_wrote(lab: Lab, chinese: None) -> None:
    unused = say("PyTorch has not used {device} yet.", device="gpu:1")
    notes = (joined(unused, say("There is no NVIDIA driver here.")), say("Nobody knows this sentence."))
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
    table = receipt.get_by_role("table", name="读数")
    expect(table).to_contain_text("TensorFlow 没有 cpu:0 的分配器统计数据。")
    expect(table).not_to_contain_text("statistics")
    lab.show_sidebar()
    lab.records.first.locator(".jp-mlgpu-Toggle").click()
    page = lab.sidebar.locator(".jp-mlgpu-Page")
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
    assert lab.receipts.first.get_by_role("table", name="Readings").get_by_role("row").count() < 100
    assert len(lab.receipts.first.inner_text()) < 50_000


def test_a_receipt_of_a_newer_version_or_of_rubbish_says_so_in_one_sentence(lab: Lab) -> None:
    newer = {**example_record().to_json(), "schema": 99}
    lab.write_with_receipts("strange.ipynb", {MIME_TYPE: newer}, {MIME_TYPE: {"schema": 1}}, {MIME_TYPE: []})
    lab.open_without_kernel("strange.ipynb")
    newer_sentence = (
        "This receipt was made by a newer jupyter_mlgpu. Update with: pip install --upgrade jupyter_mlgpu"
    )
    invalid_sentence = "This receipt cannot be read: its data is not a jupyter_mlgpu record."
    expect(lab.receipts).to_have_text([newer_sentence, invalid_sentence, invalid_sentence])
    expect(lab.records).to_have_count(0)


def test_operations_that_were_not_counted_are_said_with_what_is_known(lab: Lab) -> None:
    data = example_record().to_json()
    entry = {"framework": "torch", "device": "gpu:0", "kind": "cuda", "native_name": "cuda:0"}
    why = "PyTorch does not count them."
    entry |= {"operations": None, "share": None, "why_missing": why, "evidence": "allocator"}
    data["device"] |= {"requested": {"*": "gpu:0"}, "ran_on": [entry]}
    lab.write_with_receipts("evidence.ipynb", {MIME_TYPE: data})
    lab.open_without_kernel("evidence.ipynb")
    expect(lab.receipts.first).to_contain_text("500 ms · used gpu:0 · CPU time")
    lab.receipts.first.get_by_role("button").click()
    row = lab.receipts.first.get_by_role("row").filter(has_text="gpu:0 (torch, cuda)")
    expect(row.get_by_role("cell")).to_have_text(
        [f"its allocator gave out memory; more may have run elsewhere · {why}"]
    )
