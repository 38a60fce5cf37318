"""The pictures of the documentation: a newcomer's first minute, and a TensorFlow model in training.

They are written to docs/images where JUPYTER_MLGPU_SCREENSHOTS is set, as `make screenshots` does.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect

from jupyter_mlgpu.show.receipts.bundle import bundle
from tests.support.pictures import IMAGES, folder_for, with_few_colours
from tests.support.strips import judged

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

PICTURES = {
    "english": {"JupyterLab Dark": "sidebar-dark.png", "JupyterLab Light": "sidebar.png"},
    "chinese": {"JupyterLab Light": "sidebar-chinese.png"},
}

#: A page has all five.
FIRST_MINUTE = ("1-open", "2-click", "3-run", "4-receipt", "5-answer")
SMALL = 200_000

CELLS = (
    "%load_ext jupyter_mlgpu\n%mlc_device cpu",
    "import keras\nfrom sklearn.datasets import load_digits",
    "images, labels = load_digits(return_X_y=True)\nimages = images.reshape(-1, 8, 8, 1) / 16",
    """model = keras.Sequential([
    keras.layers.Conv2D(16, 3, activation="relu"),
    keras.layers.Flatten(),
    keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])""",
    "history = model.fit(images, labels, epochs=2, verbose=0)",
    "accuracy = model.evaluate(images, labels, verbose=0)",
    "history = model.fit(images, labels, epochs=10_000, verbose=0)",
)


#: How a newcomer may write it: the answer is which line takes the time.
FIRST_CELLS = (
    "from sklearn.datasets import load_digits\n\nimages, labels = load_digits(return_X_y=True)",
    """def distance(a, b):
    total = 0.0
    for x, y in zip(a, b):
        total += (x - y) ** 2
    return total

def nearest(i):
    others = [n for n in range(len(images)) if n != i]
    return min(others, key=lambda n: distance(images[n], images[i]))

found = [labels[nearest(i)] for i in range(250)]""",
    "accuracy = (found == labels[:250]).mean()",
)
SLOW_CELL = 1


def take(lab: Lab, path: Path, limit: int) -> None:
    """Write what is in sight, in a file of at most so many bytes."""
    lab.page.mouse.move(0, 0)
    lab.page.screenshot(path=path)
    with_few_colours(path, 128)
    assert 20_000 < path.stat().st_size < limit, path


@pytest.mark.slow
def test_screenshots_of_the_first_minute(picture_lab: Lab, tmp_path: Path) -> None:
    lab = picture_lab
    folder = folder_for(tmp_path)
    pictures = [folder / f"first-minute-{name}.png" for name in FIRST_MINUTE]
    lab.write("first.ipynb", *FIRST_CELLS)
    lab.load("first.ipynb")
    lab.wait_for_app()
    lab.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    start = lab.page.get_by_role("button", name="Start tracing", exact=True)
    expect(start.first).to_be_visible()
    take(lab, pictures[0], SMALL)
    start.first.click()
    expect(lab.sidebar).to_be_visible()
    expect(start).to_have_count(0)
    expect(lab.sidebar.locator(".jp-mlgpu-Notice")).to_have_count(0)
    take(lab, pictures[1], SMALL)
    lab.run_to_end(0)
    lab.run(SLOW_CELL)
    lab.running.wait_for()
    expect(lab.running.get_by_role("timer")).not_to_have_text(re.compile("^(0[.]|[0-9]+ [mµ])"))
    take(lab, pictures[2], SMALL)
    lab.running.wait_for(state="hidden")
    lab.run_to_end(2)
    receipt = lab.receipts.nth(SLOW_CELL)
    expect(receipt).to_be_visible()
    if folder == IMAGES:
        quiet = "other programs took the processors: make the pictures while the machine does nothing else"
        assert "other programs" not in receipt.inner_text(), quiet
    take(lab, pictures[3], SMALL)
    receipt.get_by_role("button").first.click()
    answer = receipt.locator(".jp-mlgpu-Limit")
    expect(answer).to_be_visible()
    answer.scroll_into_view_if_needed()
    take(lab, pictures[4], SMALL)


LAB_1 = Path(__file__).parents[3] / "notebooks/labs/source/lab_1_tensor_graph/lab_1_tensor_graph.ipynb"
WITHHELD = re.compile(r"### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS|### (BEGIN|END) SOLUTION", re.DOTALL)


@pytest.mark.slow
def test_screenshot_of_a_lab_that_a_student_has_done(picture_lab: Lab, tmp_path: Path) -> None:
    lab = picture_lab
    notebook = nbformat.read(LAB_1, as_version=4)
    for cell in notebook.cells:
        cell.source = WITHHELD.sub("", cell.source).rstrip()
    nbformat.write(notebook, lab.server.root / LAB_1.name)
    lab.open(LAB_1.name)
    lab.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    lab.page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
    expect(lab.records).to_have_count(sum(cell.cell_type == "code" for cell in notebook.cells) - 1)
    lab.page.get_by_role("strong").filter(has_text="Read the receipts.").scroll_into_view_if_needed()
    take(lab, folder_for(tmp_path) / "class-student.png", SMALL)


STRIPS = {
    "loader, no workers": "for x, y in DataLoader(Pictures(), batch_size=256):\n    step(x, y)",
    "training": "for _ in range(30):\n    training_step(encoder, x)",
    "100 tiny layers": "with torch.no_grad():\n    for _ in range(60):\n        small(x)",
    "copies": "for _ in range(6):\n    torch.rand(20_000_000).cuda().cpu()",
    "ends before its work": "for _ in range(400):\n    a = a @ a * 1e-4",
}


@pytest.mark.slow
def test_screenshot_of_strips_that_a_gpu_recorded(picture_lab: Lab, tmp_path: Path) -> None:
    lab = picture_lab
    bundles = [bundle(judged(f"{name}, run 1")) for name in STRIPS]
    lab.write_with_receipts("recorded on an H100.ipynb", *bundles, codes=list(STRIPS.values()))
    lab.open_without_kernel("recorded on an H100.ipynb")
    lab.page.evaluate("() => jupyterapp.shell.collapseLeft()")
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    expect(lab.page.locator(".jp-mlgpu-Strip svg")).to_have_count(len(STRIPS))
    take(lab, folder_for(tmp_path) / "strips.png", SMALL)


@pytest.fixture
def english() -> None:
    """The language that JupyterLab has by itself."""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["english", "chinese"])
def test_screenshot_of_a_model_in_training(
    language: str, request: pytest.FixtureRequest, picture_lab: Lab, tmp_path: Path
) -> None:
    request.getfixturevalue(language)
    lab = picture_lab
    folder = folder_for(tmp_path)
    lab.write("digits.ipynb", *CELLS)
    lab.open("digits.ipynb")
    lab.page.evaluate("() => jupyterapp.commands.execute('application:toggle-left-area')")
    *short, endless = range(len(CELLS))
    for index in short:
        lab.run_to_end(index)
    lab.run(endless)
    lab.running.wait_for()
    expect(lab.records).to_have_count(5)
    expect(lab.records.first).to_contain_text("cpu:0")
    expect(lab.sidebar).to_contain_text("cpu:0")
    lab.receipts.nth(3).scroll_into_view_if_needed()
    lab.receipts.nth(3).get_by_role("button").click()
    expect(lab.running.get_by_role("timer")).not_to_have_text(re.compile("^[012][.]"))
    for theme, name in PICTURES[language].items():
        lab.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
        lab.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)
        # JupyterLab covers the page while it changes its theme.
        expect(lab.page.locator("#jupyterlab-splash")).to_have_count(0)
        take(lab, folder / name, 300_000)
