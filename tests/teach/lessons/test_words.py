# ruff: noqa: RUF001 - Chinese has punctuation of its own
"""Words that lessons and pages do without: what a reader of today takes otherwise, or does not know."""

import re
from pathlib import Path

import pytest
from tracked import tracked

import jupyter_mlgpu
from tests.teach.lessons.conftest import read

ROOT = Path(jupyter_mlgpu.__file__).parent.parent
PAGES = [
    ROOT / "README.md",
    ROOT / "notebooks" / "labs" / "README.md",
    *tracked(ROOT / "docs", "**/*.md"),
]
CATALOGUE = ROOT / "jupyter_mlgpu" / "record" / "locale" / "zh_CN" / "LC_MESSAGES" / "jupyter_mlgpu.po"

EVERYWHERE = {
    r"\bon red\b": "on a red background",
    r"\bdear(er|est)?\b": "expensive, costly",
    r"\bforet(ell|ells|old)\b": "predict",
    r"\brounds elsewhere\b": "rounds in other places",
}
#: Of pictures and of text; elsewhere points may be marks, or dots on a chart.
ENGLISH = {
    **EVERYWHERE,
    r"\b\d+ (by \d+ )?points\b": "pixels",
    r"\b(two|of|most of them) points\b": "pixels, or full stops",
    r"\bby a point\b": "a pixel",
}
CHINESE = {
    "三个点": "省略号",
    "小数表": "小的数表：“小数”是另一个意思",
    "窗户": "窗口",
    "不许往前看": "不许偷看后文",
    "重放": "回放",
    "预告": "预测",
    r"\d 个点|移[了动]?[一两]+个点|个点之外": "像素",
}


def found(text, banned):
    return {word: instead for word, instead in banned.items() if re.search(word, text)}


def prose_of(notebook):
    parts = []
    for cell in notebook.cells:
        outputs = cell.get("outputs", [])
        parts += [cell.source, *(one.get("text") or "" for one in outputs)]
    return "\n".join(parts)


def test_no_lesson_has_a_word_that_was_mended(lesson_path):
    assert found(prose_of(read(lesson_path)), ENGLISH) == {}


def test_no_translation_has_one_either(translated_path):
    assert found(prose_of(read(translated_path)), CHINESE) == {}


def test_no_page_has_a_word_that_was_mended():
    bad = {str(page.relative_to(ROOT)): found(page.read_text(encoding="utf-8"), EVERYWHERE) for page in PAGES}
    assert {page: words for page, words in bad.items() if words} == {}


def test_no_sentence_of_the_catalogue_has_a_word_that_was_mended():
    assert found(CATALOGUE.read_text(encoding="utf-8"), {**CHINESE, **EVERYWHERE}) == {}


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("lines on red that nobody reads", r"\bon red\b"),
        ("the first call is dear.", r"\bdear(er|est)?\b"),
        ("224 by 224 points", r"\b\d+ (by \d+ )?points\b"),
        ("写在三个点的位置", "三个点"),
    ],
)
def test_a_word_that_was_mended_is_found(text, word):
    assert word in found(text, {**ENGLISH, **CHINESE})
