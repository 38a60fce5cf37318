"""What other front ends keep of a receipt still reads right: the answer, figures with units, and rows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from jupyter_mlgpu.show.receipts.report import report
from jupyter_mlgpu.testing import example_record, limited_record
from tests.show import every_receipt
from tests.support import front_ends, strips
from tests.support.front_ends import Sanitizer

BUNDLES = every_receipt.bundles()
SANITIZERS = {
    "html-pipeline": front_ends.HTML_PIPELINE,
    "GitHub's page of a notebook": front_ends.GITHUB_NOTEBOOK,
    "JupyterLab, untrusted": front_ends.JUPYTERLAB_UNTRUSTED,
}

Bundle = dict[str, Any]


@pytest.fixture(params=SANITIZERS.values(), ids=SANITIZERS.keys())
def sanitizer(request: pytest.FixtureRequest) -> Sanitizer:
    found: Sanitizer = request.param
    return found


@pytest.fixture(params=BUNDLES.values(), ids=BUNDLES.keys())
def bundle(request: pytest.FixtureRequest) -> Bundle:
    found: Bundle = request.param
    return found


def answer(bundle: Bundle) -> str:
    """The first line of the plain text, which says what the page says first."""
    first: str = bundle["text/plain"].splitlines()[0]
    return first.removeprefix("[mlgpu] ")


def test_the_answer_stands_on_a_line_of_its_own(bundle: Bundle, sanitizer: Sanitizer) -> None:
    seen = front_ends.lines(sanitizer.clean(bundle["text/html"]), descriptions=False)
    assert answer(bundle).replace("`", "") in seen


def test_no_word_or_figure_is_lost_and_none_are_glued_together(bundle: Bundle, sanitizer: Sanitizer) -> None:
    whole = bundle["text/html"]
    assert front_ends.words(sanitizer.clean(whole)) == front_ends.words(whole)


def test_rows_of_tables_stay_rows(bundle: Bundle, sanitizer: Sanitizer) -> None:
    whole = bundle["text/html"]
    rows = [line for line in front_ends.lines(whole) if "\t" in line]
    assert [line for line in front_ends.lines(sanitizer.clean(whole)) if "\t" in line] == rows


def test_a_picture_that_is_not_shown_leaves_its_description_on_a_line(bundle: Bundle) -> None:
    without_both = replace(front_ends.GITHUB_NOTEBOOK, data_images=False)
    seen = front_ends.lines(without_both.clean(bundle["text/html"]))
    for _, description in front_ends.images(bundle["text/html"]):
        assert " ".join(description.split()) in seen


def test_no_style_sheet_and_no_script_is_in_what_a_notebook_saves(bundle: Bundle) -> None:
    assert not re.search(r"<(style|script|svg)", bundle["text/html"])
    assert "class=" not in bundle["text/html"]


def test_what_is_not_known_is_not_shown_as_0(sanitizer: Sanitizer) -> None:
    unknown = BUNDLES["time that is not known"]["text/html"]
    seen = front_ends.lines(sanitizer.clean(unknown))
    assert any(line.startswith("time not measured · ") for line in seen)
    assert not [line for line in seen if re.search(r"(^|[\s:])0( |\b(?!\.))(µs|ms|s|J|B|KiB)\b", line)]


def test_a_report_reads_the_same_without_its_style_sheet(sanitizer: Sanitizer) -> None:
    records = [example_record(1), limited_record(2), strips.judged("copies, run 1")]
    page = report(records, title="lesson.ipynb")
    seen = front_ends.words(sanitizer.clean(page))
    assert seen == front_ends.words(page)
    assert not [one for one in seen if "{" in one]


@pytest.mark.needs("nbconvert")
def test_nbconverts_sanitizer_shows_tags_as_text_and_keeps_the_answer(bundle: Bundle) -> None:
    from nbconvert.filters.strings import clean_html

    kept = clean_html(bundle["text/html"])
    assert "&lt;" in kept
    without_tags = re.sub(r"</?[a-z][^>]*>", " ", " ".join(front_ends.lines(kept)))
    assert " ".join(answer(bundle).replace("`", "").split()) in " ".join(without_tags.split())


@pytest.mark.needs("nbconvert", "nbformat")
def test_nbconvert_keeps_all_of_it_and_so_does_nbviewer_which_shows_its_page(bundle: Bundle) -> None:
    from nbconvert import HTMLExporter
    from nbformat import v4

    cell = v4.new_code_cell("pass", outputs=[v4.new_output("display_data", data=bundle)])
    page, _ = HTMLExporter(template_name="classic").from_notebook_node(v4.new_notebook(cells=[cell]))
    seen, whole = front_ends.lines(page), front_ends.lines(bundle["text/html"])
    begin = seen.index(whole[0])
    assert seen[begin : begin + len(whole)] == whole
    assert set(front_ends.images(bundle["text/html"])) <= set(front_ends.images(page))
