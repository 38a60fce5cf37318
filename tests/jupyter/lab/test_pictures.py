"""The README's picture: a TensorFlow model in training, with the sidebar beside it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

IMAGES = Path(__file__).parents[3] / "docs" / "images"

PICTURES = {
    "english": {"JupyterLab Dark": "sidebar-dark.png", "JupyterLab Light": "sidebar.png"},
    "chinese": {"JupyterLab Light": "sidebar-chinese.png"},
}

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


@pytest.fixture
def english() -> None:
    """The language that JupyterLab has by itself."""


@pytest.mark.slow
@pytest.mark.parametrize("language", ["english", "chinese"])
def test_screenshot_of_a_model_in_training(
    language: str, request: pytest.FixtureRequest, picture_lab: Lab, tmp_path: Path
) -> None:
    """Written to docs/images where JUPYTER_MLGPU_SCREENSHOTS is set, as `make screenshots` does."""
    request.getfixturevalue(language)
    lab = picture_lab
    folder = IMAGES if os.environ.get("JUPYTER_MLGPU_SCREENSHOTS") else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
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
        lab.page.screenshot(path=folder / name)
        assert (folder / name).stat().st_size > 20_000
