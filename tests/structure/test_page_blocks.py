"""Every block of every page says what it is, and tests/pages types it or has a reason why not."""

from __future__ import annotations

import re

import pytest

from tests.pages.blocks import DIRECTIVE, READ, TYPED, blocks, code_spans
from tests.pages.plan import ROOT, blocks_of, load, pages, session_of, typed_blocks

PLAN = load()
#: What a checkout has and an installed package has not.
CHECKOUT = re.compile(r"(?<![\w./-])(?:notebooks/|benchmarks\b|tests/)")
#: Tells how the tests work, for who works on them.
FOR_CONTRIBUTORS = ["docs/explanation/emulated-metal.md"]
each_page = pytest.mark.parametrize("page", pages())
each_entry = pytest.mark.parametrize("name", PLAN.pages)


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_blocks_are_read_in_order_with_their_languages_and_sections() -> None:
    found = blocks(
        "page.md",
        "# Title\n\n```shell\nls\n```\n\n## On a Mac (MPS)\n\n"
        "1. Do:\n\n   ```python\n   x = 1\n   ```\n\n## Last\n\n    plain\n",
    )
    assert [(one.language, one.code, one.line) for one in found] == [
        ("shell", "ls\n", 3),
        ("python", "x = 1\n", 11),
        ("", "plain\n", 17),
    ]
    assert [one.sections for one in found] == [
        ("title",),
        ("title", "on-a-mac-mps"),
        ("title", "last"),
    ]
    entries = ["page.md", "page.md#on-a-mac-mps"]
    assert [session_of(one, entries) for one in found] == ["page.md", "page.md#on-a-mac-mps", "page.md"]


@each_page
def test_a_block_says_its_language(page: str) -> None:
    known = (*TYPED, *READ)
    unknown = [
        one.place
        for one in blocks(page, text_of(page))
        if one.language not in known and not one.language.startswith(DIRECTIVE)
    ]
    assert unknown == []


@each_page
def test_a_page_with_blocks_for_typing_says_where_they_are_typed(page: str) -> None:
    assert {session_of(block, PLAN.pages) for block in typed_blocks(page)} <= set(PLAN.pages)


@pytest.mark.parametrize("page", [page for page in pages() if page not in FOR_CONTRIBUTORS])
def test_a_page_for_users_names_nothing_that_only_a_checkout_has(page: str) -> None:
    said = [block.code for block in blocks(page, text_of(page))] + sorted(code_spans(text_of(page)))
    assert [one for one in said if CHECKOUT.search(one)] == []


@each_entry
def test_an_entry_says_only_what_its_page_has(name: str) -> None:
    entry = PLAN.pages[name]
    found = blocks_of(name, PLAN)
    assert found, "it has no blocks for typing"
    assert entry.environment in PLAN.environments
    lines = [block.first_line for block in found]
    assert [one for one in entry.not_typed if not any(line.startswith(one.block) for line in lines)] == []
    assert [text for text in entry.typed if not any(text in block.code for block in found)] == []
    assert set(entry.also) <= code_spans(text_of(name.partition("#")[0]))
