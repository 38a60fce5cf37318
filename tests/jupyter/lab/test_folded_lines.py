"""Native lines that ask for nothing are one line under their cell; everything else stays where it came."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, Page, expect

from jupyter_mlgpu.record.native import NativeOutput, StreamLines
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.jupyter.lab.conftest import Lab, Server

KERNEL = "as-a-user-has-it"
LOAD = "%load_ext jupyter_mlgpu"
RECEIPT = "application/vnd.jupyter-mlgpu.record+json"
#: A harmless line, one that names a device, and one that nobody knows.
ONEDNN = (
    "2024-09-05 09:05:57.125: I tensorflow/core/util/port.cc:153] oneDNN custom operations are on. You may "
    "see slightly different numerical results due to floating-point round-off errors from different "
    "computation orders. To turn them off, set the environment variable `TF_ENABLE_ONEDNN_OPTS=0`."
)
METAL = "Metal device set to: Apple M1 Max"
STRANGE = "frobnicating 7 gadgets"
WRITE = f"import os, sys\ndef native(line): os.write(2, (line + chr(10)).encode())\nONEDNN = {ONEDNN!r}\n"


@pytest.fixture(scope="module", autouse=True)
def users_kernel(server: Server) -> None:
    """A kernel as a user has it: under pytest, ipykernel shows no native lines in the notebook."""
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    server.add_kernel_command(KERNEL, ["env", "-u", "PYTEST_CURRENT_TEST", *launch])


def know_the_kernel(lab: Lab) -> None:
    """A page that is open asks for kernels once a minute, and may not know of this one yet."""
    lab.page.evaluate("async () => { await window.jupyterapp?.serviceManager.kernelspecs.refreshSpecs(); }")


def run(lab: Lab, name: str, *codes: str, **tags: list[str]) -> None:
    """A notebook with these cells after one that loads the extension, all of them run; `cell_1=` its tags."""
    path = lab.write(name, LOAD, *codes, kernel=KERNEL)
    notebook = json.loads(path.read_text())
    for cell, of_cell in tags.items():
        notebook["cells"][int(cell.removeprefix("cell_"))]["metadata"]["tags"] = of_cell
    path.write_text(json.dumps(notebook))
    know_the_kernel(lab)
    lab.open(name)
    for index in range(len(codes) + 1):
        lab.run_to_end(index)


def fold(lab: Lab, index: int) -> Locator:
    return lab.cell(index).locator(".jp-mlgpu-FoldedLines")


def in_sight(lab: Lab, index: int, text: str) -> Locator:
    """Outputs of a cell's streams that can be seen and have a text."""
    return lab.cell(index).locator(".jp-RenderedText:visible", has_text=text)


def outputs(lab: Lab, index: int) -> list[dict[str, object]]:
    """A cell's outputs as they are saved."""
    found: list[dict[str, object]] = lab.page.evaluate(
        "index => jupyterapp.shell.currentWidget.content.model.cells.get(index).outputs.toJSON()", index
    )
    return found


@pytest.fixture
def setting(server: Server, page: Page) -> Iterator[Callable[..., None]]:
    """Changes a setting of ours for this test."""

    def change(**values: str) -> None:
        server.change_setting("sidebar", values, package="jupyter-mlgpu")
        page.goto("about:blank")

    yield change
    change()


def test_harmless_lines_fold_into_one_that_opens_and_nothing_else_moves(lab: Lab) -> None:
    code = f"{WRITE}for line in [ONEDNN, {STRANGE!r}, ONEDNN, {METAL!r}, 'last']: native(line)"
    run(lab, "folds.ipynb", code)
    button = fold(lab, 1).get_by_role("button")
    expect(button).to_have_accessible_name("2 harmless TensorFlow messages")
    expect(button).to_have_attribute("aria-expanded", "false")
    stream = in_sight(lab, 1, "frobnicating")
    expect(stream).to_have_count(1)
    assert stream.inner_text().split("\n")[:3] == [STRANGE, METAL, "last"]
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(0)
    button.focus()
    lab.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-expanded", "true")
    assert fold(lab, 1).locator("pre").inner_text() == f"{ONEDNN}\n{ONEDNN}"


def test_the_outputs_and_the_file_stay_as_they_were(lab: Lab) -> None:
    run(lab, "kept.ipynb", f"{WRITE}native(ONEDNN); native({STRANGE!r})")
    expect(fold(lab, 1)).to_contain_text("1 harmless TensorFlow message")
    written = {"name": "stderr", "output_type": "stream", "text": f"{ONEDNN}\n{STRANGE}\n"}
    streams = [one for one in outputs(lab, 1) if one["output_type"] == "stream"]
    assert [{**one, "text": "".join(one["text"])} for one in streams] == [written]  # type: ignore[arg-type]
    lab.save()
    saved = json.loads((lab.server.root / "kept.ipynb").read_text())["cells"][1]
    assert "".join(saved["outputs"][0]["text"]) == written["text"]
    assert saved["metadata"].keys() <= {"execution", "trusted"}
    lab.reload()
    lab.wait_for_app()
    expect(fold(lab, 1)).to_contain_text("1 harmless TensorFlow message")
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(0)


@pytest.mark.slow
def test_what_python_prints_stays_though_it_says_the_same(lab: Lab) -> None:
    run(lab, "prints.ipynb", f"{WRITE}print(ONEDNN, file=sys.stderr); native(ONEDNN)", "print(ONEDNN)")
    expect(fold(lab, 1)).to_contain_text("1 harmless TensorFlow message")
    assert in_sight(lab, 1, "oneDNN").inner_text().count("oneDNN custom operations") == 1
    expect(in_sight(lab, 2, "oneDNN")).to_have_count(1)
    expect(fold(lab, 2)).to_have_count(0)


def test_a_profiler_of_ours_leaves_no_line(lab: Lab) -> None:
    path = lab.write("profiled.ipynb", "1", kernel="not-installed")
    session = "I tensorflow/profiler_session.cc:103] Profiler session started."
    told = NativeOutput({"stderr": StreamLines(2, ((0, 2),))}, ours=(session,))
    notebook = json.loads(path.read_text())
    data = {RECEIPT: replace(example_record(), mode="profiled", native=told).to_json()}
    notebook["cells"][0]["outputs"] = [
        {"output_type": "stream", "name": "stderr", "text": f"{session}\n{STRANGE}\n"},
        {"output_type": "display_data", "metadata": {}, "data": data},
    ]
    path.write_text(json.dumps(notebook))
    lab.open_without_kernel("profiled.ipynb")
    expect(in_sight(lab, 0, STRANGE)).to_have_count(1)
    expect(in_sight(lab, 0, "Profiler session")).to_have_count(0)
    expect(fold(lab, 0)).to_have_count(0)


def test_a_cell_with_the_tag_shows_its_lines(lab: Lab) -> None:
    run(lab, "tag.ipynb", f"{WRITE}native(ONEDNN)", "native(ONEDNN)", cell_1=["show-log-lines"])
    expect(fold(lab, 2)).to_have_count(1)
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(1)
    expect(fold(lab, 1)).to_have_count(0)


@pytest.mark.slow
def test_a_notebook_whose_metadata_ask_for_it_shows_all_its_lines(lab: Lab) -> None:
    path = lab.write("asks.ipynb", LOAD, f"{WRITE}native(ONEDNN)", kernel=KERNEL)
    notebook = json.loads(path.read_text())
    notebook["metadata"]["jupyter_mlgpu"] = {"logs": "show"}
    path.write_text(json.dumps(notebook))
    know_the_kernel(lab)
    lab.open("asks.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(1)
    expect(fold(lab, 1)).to_have_count(0)


@pytest.mark.slow
def test_a_lesson_that_reads_log_lines_shows_them(lab: Lab) -> None:
    reads = "import jupyter_mlgpu\nfrom jupyter_mlgpu.lessons import check\njupyter_mlgpu.records()[-1].logs"
    run(lab, "lesson.ipynb", f"{WRITE}native(ONEDNN)", reads)
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(1)
    expect(fold(lab, 1)).to_have_count(0)


@pytest.mark.slow
def test_who_wants_to_see_all_lines_sees_them_in_their_places(lab: Lab, setting: Callable[..., None]) -> None:
    setting(nativeLines="show")
    run(lab, "shown.ipynb", f"{WRITE}native(ONEDNN)")
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_be_visible()
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(1)
    expect(fold(lab, 1)).to_have_count(0)


@pytest.mark.slow
def test_lines_stay_folded_where_receipts_are_not_shown(lab: Lab, setting: Callable[..., None]) -> None:
    setting(receipt="hidden")
    run(lab, "hidden.ipynb", f"{WRITE}native(ONEDNN)")
    expect(fold(lab, 1).get_by_role("button")).to_be_visible()
    expect(in_sight(lab, 1, "oneDNN")).to_have_count(0)
