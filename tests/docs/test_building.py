"""A planted fault of each kind makes the documentation fail; small sites of a page or two."""

from __future__ import annotations

from pathlib import Path

import docs_site
import pytest
from docs_markdown import plain_markdown
from docs_reference import docstring, plain
from docs_site import Places, broken_links, shown

pytestmark = pytest.mark.needs("sphinx", "myst_nb", "furo")


def build(folder: Path, **pages: str) -> int:
    """Build a site of these pages, named without their ending."""
    return docs_site.build({f"{name}.md": text.encode() for name, text in pages.items()}, folder)


def test_a_warning_fails_the_build_and_every_one_is_told(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    assert (
        build(tmp_path, index="# Here\n\n[there](missing.md)\n", lost="# Lost\n\nNo page leads here.\n") == 1
    )
    told = capfd.readouterr().err
    assert "missing.md" in told
    assert "lost.md" in told


def test_a_broken_link_that_sphinx_does_not_see_fails_the_build(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    assert build(tmp_path, index='# Here\n\n<a href="nowhere.html">there</a>\n') == 1
    assert capfd.readouterr().err.strip() == "index.html: nowhere.html leads to no file of the site"


def test_a_link_is_judged_by_where_it_leads(tmp_path: Path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "index.html").write_text("<p>", encoding="utf-8")
    (tmp_path / "other.html").write_text('<p id="place">', encoding="utf-8")
    right = (
        "other.html",
        "other.html#place",
        "folder/",
        "#",
        "https://example.org/a#b",
        "mailto:a@example.org",
    )
    wrong = ("missing.html", "other.html#gone", "#gone", "../out.html", "/other.html")
    links = "".join(f'<a href="{address}">' for address in (*right, *wrong))
    (tmp_path / "index.html").write_text(f'{links}<img src="missing.png">', encoding="utf-8")
    assert [line.split()[1] for line in broken_links(tmp_path)] == [*wrong, "missing.png"]


def test_links_out_of_a_moved_file_lead_to_its_new_neighbours(tmp_path: Path):
    (tmp_path / "docs" / "adr").mkdir(parents=True)
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "docs" / "adr" / "index.md").write_text("# Decisions\n", encoding="utf-8")
    (tmp_path / "docs" / "tutorial.md").write_text(
        "# T\n[a lesson](../notebooks/00_x.ipynb#end) [list](../list.txt) [none](../none.md)",
        encoding="utf-8",
    )
    (tmp_path / "notebooks" / "00_x.ipynb").write_text('{"cells": []}', encoding="utf-8")
    (tmp_path / "list.txt").write_text("one", encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text("# Changes", encoding="utf-8")
    (tmp_path / "CONTRIBUTING.md").write_text("[why](docs/adr)", encoding="utf-8")
    files = Places(tmp_path).files()
    assert files["tutorial.md"] == (
        b"# T\n[a lesson](lessons/00_x.ipynb#end) [list](files/list.txt) [none](../none.md)"
    )
    assert files["contributing.md"] == b"# CONTRIBUTING\n\n[why](adr/index.md)"
    assert files["files/list.txt"] == b"one"


def test_a_receipt_says_that_it_is_one_and_brings_no_data_for_jupyterlab():
    output = {
        "output_type": "display_data",
        "data": {
            "application/vnd.jupyter-mlgpu.record+json": {"schema": 1},
            "text/html": ["<details>", "</details>"],
            "text/plain": "[mlgpu] 1 s",
        },
        "metadata": {},
    }
    data = shown(output, "en")["data"]
    assert list(data) == ["text/html"]
    assert ">Receipt</span><details></details>" in data["text/html"]
    assert ">回执</span>" in shown(output, "zh")["data"]["text/html"]


def test_a_receipt_that_was_saved_as_text_alone_says_that_it_is_one_too():
    data = {"application/vnd.jupyter-mlgpu.record+json": {}, "text/plain": ["[mlgpu] 1 s\n", "a < b"]}
    output = shown({"output_type": "display_data", "data": data, "metadata": {}}, "en")
    assert ">Receipt</span><pre>[mlgpu] 1 s\na &lt; b</pre></div>" in output["data"]["text/html"]


def test_a_plain_text_is_no_markup_but_its_code():
    assert plain("a*b* `x_*` <i> {n} 1. [x]") == r"a\*b\* `x_*` \<i\> \{n\} 1. \[x\]"
    assert plain("1. not a list") == r"1\. not a list"


def test_a_docstring_keeps_its_lists_and_examples():
    text = "What `it` does.\n\n* one\n  more\n* two\n\n    x = 1\n\n    y = 2\n\n>>> x\n1"
    assert docstring(text) == (
        "What `it` does.\n\n* one more\n* two\n\n```python\nx = 1\n\ny = 2\n```\n\n```pycon\n>>> x\n1\n```"
    )


def test_a_page_of_the_reference_is_plain_markdown_too(tmp_path: Path):
    described = ":::{py:attribute} c\n:type: str\n\nIts name.\n:::"
    text = f"# R\n\n::::{{py:class}} a.B(x: int)\n:no-index:\n\nReturn it.\n\n{described}\n::::\n"
    pages = {
        "index.md": b"# Here\n\n[R](reference/r.md)\n\n```{toctree}\nreference/r\n```\n",
        "reference/r.md": text.encode(),
    }
    assert docs_site.build(pages, tmp_path) == 0
    markdown = (tmp_path / "html" / "reference" / "r.md").read_text(encoding="utf-8")
    assert markdown == (
        "# R\n\n## class `a.B(x: int)`\n\nReturn it.\n\n### attribute `c`\n\nType: `str`\n\nIts name.\n"
    )
    assert 'href="r.md">This page as Markdown' in (tmp_path / "html/reference/r.html").read_text(
        encoding="utf-8"
    )


def test_code_in_plain_markdown_stays_as_it_is():
    text = "(a-b)=\n## T\n\n```{py:module} m\n```\n\n```python\n:::\n(x)=\n```\n"
    assert plain_markdown(text) == "## T\n\n```python\n:::\n(x)=\n```\n"
