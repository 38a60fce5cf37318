"""Each lesson has a page that compares it with the best public one, and speaks of sections that are there."""

import re
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from tracked import tracked

import jupyter_mlgpu
from tests.teach.lessons.conftest import LEARNERS

PAGES = Path(jupyter_mlgpu.__file__).parent.parent / "docs" / "lessons" / "beside"
OURS = "What ours has that it lacks"
SECTIONS = ["The best public lesson", "What it does better", OURS, "What we take from it"]
MOST_LINES = 25


def sections(page):
    """The text below each heading of the second order."""
    _, *parts = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def headings(lesson):
    """The headings of a notebook's text, without marks that no reader sees."""
    text = "\n".join(cell.source for cell in lesson.cells if cell.cell_type == "markdown")
    return {
        re.sub(r"<!--.*?-->", "", title).strip()
        for title in re.findall(r"^#+ (.+)$", text, flags=re.MULTILINE)
    }


def faults(page, there):
    """What a page lacks, and the sections it names that the lesson does not have."""
    parts = sections(page)
    if list(parts) != SECTIONS:
        return [f"sections: {', '.join(parts)}"]
    found = [f"nothing below {name}" for name, text in parts.items() if not text.strip()]
    if not re.search(r"\[[^]]+\]\(https://[^)\s]+\)", parts[SECTIONS[0]]):
        found.append("no link to the public lesson")
    named = re.findall(r"\*\*([^*]+)\*\*", parts[OURS])
    if not named:
        found.append("no section of ours is named")
    found += [f"the lesson has no section {name}" for name in named if name not in there]
    if len(page.splitlines()) > MOST_LINES:
        found.append(f"more than {MOST_LINES} lines")
    return found


def test_every_lesson_is_compared_with_a_public_one(learner_path, learners_lesson):
    page = PAGES / f"{learner_path.name[:2]}.md"
    assert faults(page.read_text(encoding="utf-8"), headings(learners_lesson)) == []


def test_the_table_has_every_page_and_the_public_lesson_that_is_compared_there():
    table = (PAGES / "index.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| \[\d\d\]\((\d\d)\.md\).*?\| (.+?) \|", table, flags=re.MULTILINE))
    assert sorted(rows) == [path.stem for path in tracked(PAGES, "[0-9]*.md")]
    assert {path.name[:2] for path in LEARNERS} <= set(rows)
    for number, public in rows.items():
        best = sections((PAGES / f"{number}.md").read_text(encoding="utf-8"))[SECTIONS[0]]
        titles = re.findall(r"\*([^*]+)\*", public)
        assert titles
        assert [title for title in titles if title not in " ".join(best.split())] == []


GOOD = """\
# Beside lesson 99

## The best public lesson
[A lesson](https://example.org/lesson), somebody.

## What it does better
- Much.

## What ours has that it lacks
- **Break it**: a thing to break.

## What we take from it
- Something.
"""


def test_a_page_that_lacks_nothing_has_no_fault():
    assert faults(GOOD, {"Break it"}) == []


@pytest.mark.parametrize(
    ("was", "becomes", "fault"),
    [
        ("**Break it**", "**Mend it**", "the lesson has no section Mend it"),
        ("**Break it**", "Break it", "no section of ours is named"),
        ("(https://example.org/lesson)", "(lesson.md)", "no link to the public lesson"),
        ("- Much.\n", "", "nothing below What it does better"),
        ("- Something.\n", "- Something.\n" * 20, "more than 25 lines"),
    ],
)
def test_a_planted_fault_is_found(was, becomes, fault):
    assert faults(GOOD.replace(was, becomes), {"Break it"}) == [fault]


def test_a_section_that_is_missing_is_found():
    assert faults(GOOD.replace("## What we take from it", "## Else"), {"Break it"}) != []


def test_headings_are_those_of_text_and_not_of_code():
    cells = [new_markdown_cell("## Break it<!-- run: (\\d+) -->\n\nText."), new_code_cell("# A remark")]
    assert headings(new_notebook(cells=cells)) == {"Break it"}
