"""Lessons and solutions on paper: what `jupyter nbconvert --to html` makes of them, without JavaScript."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from tracked import tracked

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

pytestmark = pytest.mark.slow

LESSONS = Path(__file__).resolve().parents[3] / "notebooks"
FOLDERS = ("", "solutions")
EVERY = [path for folder in FOLDERS for path in tracked(LESSONS / folder, "*.ipynb")]

#: Outputs with one of these are pictures: JavaScript draws the first, and our own extension the second.
PICTURES = {
    "application/vnd.plotly.v1+json",
    "application/vnd.jupyter-mlgpu.page+json",
    "image/png",
    "image/svg+xml",
}

#: Characters for which a printed page has room, in the type of code. Longer lines are broken.
WIDTH = 76


@pytest.fixture(scope="module")
def converted(tmp_path_factory):
    """The folder with all lessons as HTML, in folders as they are here."""
    to = tmp_path_factory.mktemp("paper")
    for folder in FOLDERS:
        paths = map(str, tracked(LESSONS / folder, "*.ipynb"))
        command = [sys.executable, "-m", "jupyter", "nbconvert", "--to", "html", "--log-level", "ERROR"]
        subprocess.run([*command, "--output-dir", str(to / folder), *paths], check=True)
    return to


def name_of(path):
    return path.relative_to(LESSONS).with_suffix("").as_posix()


@pytest.fixture(scope="module", params=EVERY, ids=name_of)
def path(request):
    """Every notebook, one after the other."""
    return request.param


@pytest.fixture(scope="module")
def page(converted, path):
    """A notebook's page, without what only JavaScript would show."""
    text = (converted / path.relative_to(LESSONS)).with_suffix(".html").read_text(encoding="utf-8")
    page = BeautifulSoup(re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL), "html.parser")
    for script in page(["script", "noscript"]):
        script.decompose()
    return page


@pytest.fixture(scope="module")
def cells(page, path):
    """Each cell as it is saved, and as it is on the page."""
    return [*zip(nbformat.read(path, 4).cells, page.select("div.jp-Cell"), strict=True)]


def test_each_picture_is_an_image_in_the_page(cells):
    for saved, shown in cells:
        outputs = [one.data for one in saved.get("outputs", []) if "data" in one]
        pictures = sum(bool(PICTURES & set(data)) for data in outputs)
        images = shown.select(".jp-OutputArea img, .jp-OutputArea svg")
        assert len(images) >= pictures, saved.id
        assert all(one.name == "svg" or one["src"].startswith("data:image/") for one in images), saved.id
        assert all(one.name == "svg" or one.get("alt") for one in images), saved.id


def test_each_receipt_is_there_with_its_line(cells):
    for saved, shown in cells:
        for output in saved.get("outputs", []):
            if MIME_TYPE in (data := output.get("data", {})):
                # Where there was no room for the form that opens, the plain text is on the page.
                line = data["text/plain"].partition("] ")[2].partition("\n")[0]
                assert line in shown.select_one(".jp-OutputArea").get_text(), saved.id


def test_there_is_no_standard_error_and_no_traceback(page):
    assert not page.select('[data-mime-type$=".stderr"], [data-mime-type$=".error"]')
    assert "Traceback" not in page.get_text()


def test_no_drawing_in_the_text_is_wider_than_a_page(cells):
    for saved, shown in cells:
        for drawing in shown.select(".jp-RenderedMarkdown pre"):
            assert [line for line in drawing.get_text().splitlines() if len(line) > WIDTH] == [], saved.id


def test_every_link_leads_somewhere(page, path):
    links = {one["href"] for one in page.select("a[href]")} | {one["src"] for one in page.select("img[src]")}
    for link in links:
        if link.startswith("#"):
            assert page.find(id=link[1:]), link
        elif not link.startswith(("https://", "data:")):
            assert (path.parent / link.partition("#")[0]).exists(), link
