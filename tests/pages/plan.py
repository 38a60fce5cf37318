"""What pages.toml says of each page: its environment, what its reader already has, and what is not typed."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct
from tracked import tracked

from tests.pages.blocks import TYPED, Block, read

ROOT = Path(__file__).resolve().parents[2]
PLAN = Path(__file__).with_name("pages.toml")
#: Pages that tell what was, or what who works on the project types.
PAST = {"adr", "measurements", "design.md"}


class NotTyped(Struct, forbid_unknown_fields=True):
    """Blocks that are not typed: how their first line begins, and the reason."""

    block: str
    why: str


class Page(Struct, forbid_unknown_fields=True):
    """How the blocks of a page, or of a section of it, are typed."""

    #: One of the environments of pages.toml.
    environment: str
    #: Commands of a shell, then cells, that make what a reader of the page already has.
    files: str = ""
    before: tuple[str, ...] = ()
    #: What is typed in place of a text: a placeholder, or what takes minutes.
    typed: dict[str, str] = {}
    not_typed: tuple[NotTyped, ...] = ()
    #: Commands in the page's sentences and tables that are typed, as cells, after its blocks.
    also: tuple[str, ...] = ()
    #: Commands of a shell that check what all of this has made.
    after: str = ""


class Plan(Struct, forbid_unknown_fields=True):
    """The whole file: what pip installs into each environment, and how each page is typed."""

    environments: dict[str, tuple[str, ...]]
    pages: dict[str, Page]


def load() -> Plan:
    """Return what pages.toml says."""
    return msgspec.convert(tomllib.loads(PLAN.read_text(encoding="utf-8")), Plan)


def pages() -> list[str]:
    """Return the pages that people read and type from."""
    found = [ROOT / "README.md", *tracked(ROOT / "docs", "**/*.md")]
    return [str(path.relative_to(ROOT)) for path in found if not PAST & set(path.parts)]


def typed_blocks(page: str) -> list[Block]:
    """Return the blocks of a page that are for typing."""
    return [block for block in read(ROOT, page) if block.language in TYPED]


def session_of(block: Block, names: Iterable[str]) -> str:
    """Return the entry of pages.toml that a block belongs to: its innermost section or its page."""
    sections = [f"{block.page}#{section}" for section in reversed(block.sections)]
    return next((one for one in sections if one in set(names)), block.page)


def blocks_of(session: str, plan: Plan) -> list[Block]:
    """Return the blocks of a page or section, also those that are not typed."""
    page = session.partition("#")[0]
    return [block for block in typed_blocks(page) if session_of(block, plan.pages) == session]
