"""A record is in the same words wherever it is shown; of browsers, head and openreceipt.test.ts hold that."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from jupyter_mlgpu.jupyter.notebook import engine
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts import head, html, text, view
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from tests.show import forty_records

RECORDS = forty_records.forty()


class Closed(HTMLParser):
    """What is seen of a closed receipt: the text of its first summary."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen, self._inside, self._done = "", False, False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._inside = self._inside or (tag == "summary" and not self._done)

    def handle_endtag(self, tag: str) -> None:
        if tag == "summary":
            self._inside, self._done = False, True

    def handle_data(self, data: str) -> None:
        self.seen += data if self._inside else ""


class Whole(HTMLParser):
    """All texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def words_in(page: str) -> list[str]:
    """The words of a page in their order, without what keeps a figure on one line with its unit."""
    return (
        "".join(Whole(page).texts).replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "").split()
    )


@pytest.fixture(params=RECORDS.values(), ids=RECORDS.keys())
def record(request: pytest.FixtureRequest) -> Record:
    found: Record = request.param
    return found


def test_the_browsers_records_are_these():
    made = forty_records.FILE.read_text(encoding="utf-8")
    assert made == forty_records.as_json(), "run `python -m tests.show.forty_records`"


def test_text_html_and_an_engines_line_say_the_same(record):
    line = text.line(head.of(record))
    assert text.receipt(record).splitlines()[0] == f"[mlgpu] {line}"
    assert engine.line(record)["text/plain"] == f"[mlgpu] {line}"
    assert Closed(html.receipt(record)).seen == ("Receipt" if head.of(record).folded else line)
    assert bundle(record)["text/plain"].splitlines()[0] == f"[mlgpu] {line}"


def test_a_receipt_holds_its_head_in_parts_that_can_be_translated_or_in_its_text_alone(record):
    stored = bundle(record)[MIME_TYPE].get("head")
    assert stored is None or json.loads(stored) == head.of(record).to_json()


def test_no_word_of_a_head_depends_on_what_a_receipt_leaves_out(record):
    saved = bundle(record)[MIME_TYPE]
    assert head.of(Record.from_json(saved), saved.get("cut")) == head.of(record)


def test_nearly_all_receipts_have_room_for_their_head():
    without = [name for name, one in RECORDS.items() if "head" not in bundle(one)[MIME_TYPE]]
    assert len(without) <= 4, without


def test_an_open_receipt_says_in_html_what_it_says_in_the_browser(record):
    seen = " ".join(words_in(html.receipt(record)))
    # Versions are in the browser alone: a notebook's receipt has no room for them.
    for line in forty_records.lines_of(replace(view.data(record), versions="")):
        for cell in line.split("\t"):
            # A name of an operation may be cut in one of them, and a sentence ends in its own line.
            assert " ".join(cell.split()) in seen, cell


def test_an_open_receipt_of_what_a_notebook_has_says_what_was_left_out(record):
    saved = bundle(record)[MIME_TYPE]
    cut = saved.get("cut")
    assert bool(view.data(Record.from_json(saved), cut).left_out) == bool(set(cut or ()) - {"text/html"})
