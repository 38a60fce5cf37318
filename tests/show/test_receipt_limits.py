"""A receipt says what limits its cell: the answer first, how sure it is, and no word where none is known."""

import json
from html.parser import HTMLParser
from typing import get_args

import pytest
import schemas
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.kinds import KINDS
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Limit, LimitKind
from jupyter_mlgpu.record.record import WORKED_IN, Fact, Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.receipts import figures, head, html, text
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, NOTED_LIMIT, PLAIN_LIMIT, bundle
from jupyter_mlgpu.testing import example_record, limited_record
from tests.show.test_receipts import as_stored

WHY = say("The cell took {time}, which is too short to tell.", time="12 ms")


def with_limit(**changes) -> Record:
    record = limited_record()
    return replace(record, limit=replace(record.limit, **changes))


class Tables(HTMLParser):
    """The tables of a page, each as rows of texts, and in how many folds each of them stands."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.scopes: list[str | None] = []
        self.folds: list[int] = []
        self._depth = 0
        self._inside = False
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self._depth += tag == "details"
        self._inside |= tag == "table"
        if tag == "table":
            self.tables.append([])
            self.folds.append(self._depth)
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("th", "td"):
            self.tables[-1][-1].append("")
            self.scopes.append(dict(attrs).get("scope"))

    def handle_endtag(self, tag):
        self._depth -= tag == "details"
        self._inside &= tag != "table"

    def handle_data(self, data):
        if self._inside and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data


def test_every_kind_has_a_word_of_its_own():
    assert list(KINDS) == list(get_args(LimitKind))
    assert len({one.word for one in KINDS.values()}) == len(KINDS)


def test_the_reference_explains_every_word_but_that_it_is_not_known():
    page = (schemas.PACKAGE.parent / "docs" / "reference" / "receipt.md").read_text(encoding="utf-8")
    table = page.partition("| it says |")[2].partition("\n\n")[0]
    told = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("| ")][1:]
    assert told == [one.word for kind, one in KINDS.items() if kind != "unknown"]


@pytest.mark.parametrize(
    ("confidence", "clause", "begins"),
    [
        ("sure", "about 90 % preparing input", "Waited 86 %"),
        ("likely", "about 90 % preparing input", "Waited 86 %"),
        ("open", "possibly about 90 % preparing input", "Possibly: Waited 86 %"),
    ],
)
def test_the_line_has_the_limit_in_a_clause_after_the_time_and_the_text_its_sentence_below(
    confidence, clause, begins
):
    line, below = text.receipt(limited_record(confidence=confidence)).splitlines()
    assert line == f"[mlgpu] 14.7 s · {clause} · ran on cpu:0 · peak memory 512 MiB"
    assert below.strip().startswith(begins)


def test_an_unclear_limit_is_its_two_largest_parts_and_one_with_a_large_part_is_possibly_that():
    parts = {"python": 0.44, "waiting": 0.31, "native": 0.12}
    unclear = with_limit(kind="python", confidence="open", share=0.44, parts=parts)
    assert "14.7 s · 40 % Python, 30 % waiting, the rest unclear · ran" in head.of(unclear).line
    as_in_a_notebook = with_limit(
        kind="python", confidence="open", share=0.44, parts=dict(sorted(parts.items()))
    )
    assert head.of(as_in_a_notebook).line == head.of(unclear).line
    one = with_limit(kind="python", confidence="open", share=0.8, parts={"python": 0.8, "waiting": 0.1})
    assert "14.7 s · possibly about 80 % Python · ran" in head.of(one).line


@pytest.mark.parametrize(
    ("changes", "begins"),
    [
        ({"confidence": "sure"}, None),
        ({"kind": "unknown", "confidence": "open"}, None),
        ({"confidence": "likely"}, "This is likely: the evidence supports it"),
        ({"confidence": "open"}, "This is not certain: the evidence supports it no more"),
    ],
)
def test_a_head_has_the_reason_for_its_doubt(changes, begins):
    doubt = head.of(with_limit(**changes)).doubt
    assert doubt is None if begins is None else doubt.startswith(begins)


def test_few_samples_are_a_reason_for_doubt():
    (seen, *_) = [one for one in limited_record().limit.evidence if one.quantity == "samples_share"]
    few = with_limit(confidence="likely", evidence=(replace(seen, samples=7),))
    assert head.of(few).doubt == "This is not certain: it rests on 7 samples."


def test_a_limit_without_a_share_and_one_that_the_evidence_does_not_decide():
    assert "14.7 s · preparing input · ran" in head.of(with_limit(share=None)).line
    assert head.of(with_limit(kind="unknown")).line.startswith("14.7 s · ran on")
    assert "Waited 86 %" in text.receipt(with_limit(kind="unknown"))


@pytest.mark.parametrize(
    ("share", "shown"), [(0.0, "0 %"), (0.001, "1 %"), (0.125, "13 %"), (0.996, "99 %"), (1.0, "100 %")]
)
def test_a_share_is_all_or_nothing_only_where_it_is_exactly_that(share, shown):
    assert units.percent(share) == shown


def test_the_opened_html_has_the_sentence_what_to_do_the_evidence_folded_and_the_lines():
    shown = html.receipt(limited_record(confidence="likely"))
    order = ["Waited", "Let <code>DataLoader</code>", "line 4", "Evidence</summary>", "This is likely:"]
    assert sorted(order, key=shown.index) == order
    found = Tables(shown)
    lines, evidence, _ = found.tables
    assert found.folds == [1, 2, 2]
    assert evidence[:2] == [
        ["Quantity", "Value", "Source"],
        ["Share of the samples", "82 %, 95 % interval 69 % to 90 %", "cell, fake stack"],
    ]
    assert evidence[-1] == ["GPU busy time", "Light tracing runs without a profiler.", ""]
    assert lines == [
        ["Line", "Share", "Samples", "Called most"],
        ["line 4", "82\u00a0%", "41", "next(batches)"],
        ["line 5", "12\u00a0%", "6", "model.train_on_batch(x, y)"],
        ["[3] line 2", "6\u00a0%", "3", ""],
    ]
    assert set(found.scopes[:8]) == {"col", "row", None}


def test_where_it_is_not_known_the_closed_receipt_is_as_before_and_the_opened_one_says_why():
    record = example_record()
    unknown = replace(record, why_no_limit=WHY)
    assert text.receipt(unknown) == text.receipt(record)
    said = "<div>What limits this cell is not known. The cell took 12 ms, which is too short to tell.</div>"
    assert html.receipt(unknown).endswith(f"{said}</details></details>")
    assert "Not measured (6)</summary>" in html.receipt(unknown)


def test_a_table_and_a_report_join_the_kind_to_the_wall_time():
    rows = text.table([example_record(), limited_record(2, confidence="likely")]).splitlines()
    assert rows[0].split() == ["cell", "wall", "CPU", "peak", "memory", "where", "code"]
    assert rows[1].startswith("[1]   500 ms ")
    assert rows[2].startswith("[2]   14.7 s, preparing input  13.9 s")
    (time,) = [one for one in figures.charts([example_record(), limited_record(2)]) if one.title == "Time"]
    assert [row[1] for row in time.table.rows] == ["500 ms", "14.7 s, preparing input"]


def test_markup_in_a_limit_stays_text():
    hostile = "<script>alert(1)</script>\n\u202e`%%mlc_trace`"
    record = with_limit(said=say("{what}", what=hostile), next=say("{what}", what=hostile))
    record = replace(record, lines=(replace(record.lines[0], calls=hostile),))
    shown = html.receipt(record)
    assert "<script" not in shown
    assert "\n" not in shown
    assert "\u202e" not in shown + text.receipt(record)


def many(evidence: int, lines: int) -> Record:
    record = with_limit(evidence=limited_record().limit.evidence[:1] * evidence)
    return replace(record, lines=record.lines[:1] * lines)


def test_a_receipt_with_a_limit_is_at_most_as_large_as_one_with_notes():
    shown = bundle(limited_record(confidence="likely"))
    assert as_stored(bundle(example_record())) <= PLAIN_LIMIT < as_stored(shown) <= NOTED_LIMIT
    assert "cut" not in shown[MIME_TYPE]
    assert shown[MIME_TYPE]["limit"]["said"]["fields"]["share"] == "86 %"
    assert Record.from_json(shown[MIME_TYPE]).lines == limited_record().lines


@pytest.mark.parametrize(("evidence", "lines"), [(6, 10), (10, 10), (200, 200), (0, 30), (30, 0)])
def test_what_does_not_fit_of_the_evidence_and_the_lines_is_cut_counted_and_named(evidence, lines):
    shown = bundle(many(evidence, lines))
    data = shown[MIME_TYPE]
    kept = len(data["limit"].get("evidence", ())), len(data.get("lines", ()))
    assert as_stored(shown) <= NOTED_LIMIT
    assert kept[0] + data["cut"].get("evidence", 0) == evidence
    assert kept[1] + data["cut"].get("lines", 0) == lines
    assert all(one <= 10 for one in kept)
    assert sum(kept) >= 6
    assert isinstance(data["limit"]["said"], dict), "what it is made of stays"
    assert f"{data['cut']['lines'] if lines else data['cut']['evidence']:,} of its " in shown["text/html"]


def counted(record: Record) -> Record:
    """The same as a profiled run whose operations were counted."""
    told = {"framework": "torch", "device": "gpu:0", "type": "bfloat16"}
    facts = {WORKED_IN: Fact(told, Sentence("fake profiler")), "gpu_name": Fact("fake GPU", Sentence("fake"))}
    return replace(record, mode="profiled", facts=facts)


@pytest.mark.parametrize("record", [many(200, 0), many(0, 30), counted(many(12, 0))])
def test_a_receipt_saved_in_a_notebook_is_drawn_again_with_what_was_left_out_of_it(record):
    # A notebook's file has its keys in alphabetical order.
    saved = json.loads(json.dumps(bundle(record), sort_keys=True))
    read = Record.from_json(saved[MIME_TYPE])
    assert bundle(read, saved[MIME_TYPE]["cut"]) == saved
    assert bundle(read) != saved


def test_the_weightiest_of_the_evidence_and_of_the_lines_are_kept():
    record = many(9, 9)
    evidence = tuple(replace(one, value=n / 10) for n, one in enumerate(record.limit.evidence))
    lines = tuple(replace(one, line=n + 1) for n, one in enumerate(record.lines))
    data = bundle(replace(record, limit=replace(record.limit, evidence=evidence), lines=lines))[MIME_TYPE]
    assert [one["value"] for one in data["limit"]["evidence"]] == [
        n / 10 for n in range(len(data["limit"]["evidence"]))
    ]
    assert [one["line"] for one in data["lines"]] == [n + 1 for n in range(len(data["lines"]))]


def test_beside_many_notes_the_answer_stays_and_the_receipt_keeps_its_size():
    notes = tuple(f"note number {number} of many" for number in range(200))
    shown = bundle(replace(many(10, 10), notes=notes))
    data = shown[MIME_TYPE]
    assert as_stored(shown) <= NOTED_LIMIT
    assert data["limit"]["said"].startswith("Waited 86 %")
    assert len(data["notes"]) + data["cut"]["notes"] == 200


def test_a_cell_without_a_limit_may_have_lines_and_one_of_no_time_has_neither():
    record = replace(limited_record(), limit=None, why_no_limit=WHY)
    shown = bundle(record)
    assert len(shown[MIME_TYPE]["lines"]) == 3
    assert "line 4" in shown["text/html"]
    assert "Evidence" not in shown["text/html"]
    assert bundle(example_record())[MIME_TYPE].keys().isdisjoint({"limit", "why_no_limit", "lines"})


def test_a_limit_without_evidence_or_advice_has_neither_a_table_nor_an_empty_line():
    bare = Limit("waiting", "sure", say("Slept."), 1.0)
    shown = html.receipt(replace(example_record(), limit=bare))
    assert "<div><b>Slept.</b></div><details><summary>Where it ran</summary>" in shown
    assert "100 % waiting" in shown, "no looks: it was measured"


@pytest.mark.parametrize(
    ("share", "samples", "told"),
    [
        (1.0, 25, "preparing input nearly all the time"),
        (0.95, 25, "preparing input nearly all the time"),
        (0.94, 25, "about 90 % preparing input"),
        (0.55, 12, "about 60 % preparing input"),
        (0.86, 500, "about 85 % preparing input"),
        (0.97, 500, "about 95 % preparing input"),
        (0.86, 10_000, "86 % preparing input"),
        (0.999, 10_000, "preparing input nearly all the time"),
        (0.03, 25, "3 % preparing input"),
    ],
)
def test_the_line_says_a_share_no_more_exactly_than_its_looks_know_it(share, samples, told):
    seen = replace(limited_record().limit.evidence[0], value=share, samples=samples)
    assert head.of(with_limit(share=share, evidence=(seen,))).line.startswith(f"14.7 s · {told} · ran on")
