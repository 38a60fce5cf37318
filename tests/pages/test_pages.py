"""Every block of every page, typed in order, in an environment made from the wheel as the page says.

`make test-pages` makes the environments, and names their folder in JUPYTER_MLGPU_PAGES.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.pages.plan import NotTyped, blocks_of, load
from tests.pages.session import Session

PLAN = load()
NOT_TYPED = [(name, one) for name, page in PLAN.pages.items() for one in page.not_typed]

pytestmark = pytest.mark.timeout(1800)


@pytest.fixture(scope="session")
def environments() -> Path:
    """The folder of the environments, each with the name that it has in pages.toml."""
    folder = os.environ.get("JUPYTER_MLGPU_PAGES")
    if folder is None:
        pytest.skip("JUPYTER_MLGPU_PAGES names no environments: `make test-pages` makes them")
    return Path(folder)


@pytest.mark.parametrize("name", PLAN.pages)
def test_every_block_of_a_page_works_when_it_is_typed(name: str, environments: Path, tmp_path: Path) -> None:
    page = PLAN.pages[name]
    left_out = tuple(one.block for one in page.not_typed)
    session = Session(tmp_path, environments / page.environment)
    try:
        if page.files:
            session.type(f"{name}, `files`", "shell", page.files)
        for cell in page.before:
            session.type(f"{name}, `before`", "python", cell)
        for block in blocks_of(name, PLAN):
            if not block.first_line.startswith(left_out):
                session.type(block.place, block.language, filled_in(block.code, page.typed))
        for command in page.also:
            language = "python" if command.startswith("%") else "shell"
            session.type(f"{name}, `also`", language, command)
        if page.after:
            session.type(f"{name}, `after`", "shell", page.after)
    finally:
        session.close()


@pytest.mark.parametrize(
    ("name", "entry"), NOT_TYPED, ids=[f"{name}: {one.block}" for name, one in NOT_TYPED]
)
def test_a_block_that_is_not_typed_has_its_reason(name: str, entry: NotTyped) -> None:
    pytest.skip(f"{name}, `{entry.block}`: {entry.why}")


def filled_in(code: str, typed: dict[str, str]) -> str:
    """Return a block with its placeholders filled in."""
    return re.sub("|".join(map(re.escape, typed)), lambda found: typed[found[0]], code) if typed else code
