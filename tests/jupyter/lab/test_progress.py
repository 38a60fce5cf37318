# ruff: noqa: RUF001 - Chinese has punctuation of its own
"""The sidebar says how far the lesson in focus is, from what stands in the notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from playwright.sync_api import Locator, expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

IMPORTS = "from jupyter_mlgpu.lessons import check, predict"
ANSWER = "def images_per_joule(rate, watts):\n    return ..."
CHECK = 'rate_of = check("images_per_joule", images_per_joule)\nrate_of'
PREDICT = 'guess = predict("How many seconds will a run of the network take?", ...)'


def progress(lab: Lab) -> Locator:
    return lab.sidebar.locator(".jp-mlgpu-Progress")


def write_into(lab: Lab, index: int, code: str) -> None:
    """Have a cell say something else, as one who types it."""
    lab.page.evaluate(
        "([index, code]) => jupyterapp.shell.currentWidget.content.widgets[index].model.sharedModel"
        ".setSource(code)",
        [index, code],
    )


def test_what_is_right_and_what_is_predicted_is_counted_as_soon_as_it_stands_there(lab: Lab) -> None:
    lab.write("progress.ipynb", IMPORTS, ANSWER, CHECK, PREDICT)
    lab.open("progress.ipynb")
    expect(progress(lab)).to_have_text("0 of 1 check passed, 0 of 1 prediction made")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.cell(2)).to_contain_text("Still open.")
    expect(progress(lab)).to_have_text("0 of 1 check passed, 0 of 1 prediction made")
    write_into(lab, 1, ANSWER.replace("...", "rate / watts"))
    lab.run_to_end(1)
    lab.run_to_end(2)
    expect(progress(lab)).to_have_text("1 of 1 check passed, 0 of 1 prediction made")
    write_into(lab, 3, PREDICT.replace("...", "0.5"))
    expect(progress(lab)).to_have_text("1 of 1 check passed, 1 of 1 prediction made")


def test_a_notebook_that_is_no_lesson_has_no_line_of_it(lab: Lab) -> None:
    lab.write("none.ipynb", "model.predict('x', 3)")
    lab.open("none.ipynb")
    expect(lab.sidebar.get_by_role("heading", name="none.ipynb")).to_be_visible()
    expect(progress(lab)).to_have_count(0)


def test_a_chinese_jupyterlab_counts_in_chinese(lab: Lab, chinese: None) -> None:
    path = lab.write("zh.ipynb", CHECK, PREDICT)
    notebook = json.loads(path.read_text())
    result = {"output_type": "execute_result", "execution_count": 1, "metadata": {}}
    notebook["cells"][0]["outputs"] = [{**result, "data": {"text/plain": "✓ 正确。"}}]
    path.write_text(json.dumps(notebook))
    lab.load("zh.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    expect(progress(lab)).to_have_text("通过 1 项检查中的 1 项，作出 1 个预测中的 0 个")
