"""The glossary: each of its terms is used in the lessons, and stands beside its Chinese."""

import re
from pathlib import Path

import pytest

import jupyter_mlgpu
from tests.support import lesson_figures
from tests.teach.lessons.conftest import LEARNERS, TRANSLATED, read

DOCS = Path(jupyter_mlgpu.__file__).parent.parent / "docs"
PAGE = (DOCS / "explanation" / "glossary.md").read_text(encoding="utf-8")
ROWS = [
    [part.strip() for part in line.strip("|").split(" | ")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith(("| term", "| ---"))
]
CHINESE = re.compile(r"[\u4e00-\u9fff]")
#: Written with Latin letters in Chinese, too.
IN_LATIN = {"float32", "softmax"}
#: What a reader of the lessons meets and may have to look up.
ASKED_FOR = {
    "forward pass",
    "backward pass",
    "parameter",
    "pixel",
    "kernel (of a GPU)",
    "kernel (of a convolution)",
    "kernel (of Jupyter)",
    "kernel launch",
    "tensor core",
    "unified memory",
    "SIMD",
    "layer norm",
    "overfit",
    "latency",
    "throughput",
    "device",
    "operation",
    "self time",
    "peak memory",
    "allocator",
    "batch normalization",
    "padding (of a picture)",
    "padding (of a sentence)",
    "stride",
}


@pytest.fixture(scope="module")
def prose():
    """All that the English lessons say in text cells."""
    cells = [cell for path in LEARNERS for cell in read(path).cells if cell.cell_type == "markdown"]
    return "\n".join(lesson_figures.without_marks(cell.source) for cell in cells)


def test_each_term_is_used_in_a_lesson(prose):
    unused = [
        term
        for term, *_ in ROWS
        if not re.search(rf"\b{re.escape(term.partition(' (')[0])}", prose, re.IGNORECASE)
    ]
    assert unused == []


def test_each_term_stands_beside_its_chinese_and_both_are_explained():
    for row in ROWS:
        assert len(row) == 4, row
        term, meaning, chinese, chinese_meaning = row
        assert term in IN_LATIN or CHINESE.search(chinese), term
        assert CHINESE.search(chinese_meaning), term
        assert not CHINESE.search(meaning), term


def test_terms_are_in_order_and_none_stands_twice():
    terms = [term for term, *_ in ROWS]
    assert terms == sorted(set(terms), key=str.lower)
    assert ASKED_FOR - set(terms) == set()


def test_the_index_of_the_documentation_and_the_first_lesson_link_to_it():
    for page in ("index.md", "zh/index.md"):
        assert "explanation/glossary.md)" in (DOCS / page).read_text(encoding="utf-8")
    for paths in (LEARNERS, TRANSLATED):
        first = "".join(cell.source for cell in read(paths[0]).cells)
        assert "docs/explanation/glossary.md)" in first
