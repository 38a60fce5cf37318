"""`%mlc_trace why` shows the whole reasoning: answer, how sure it is, what to do, what it rests on."""

from typing import get_args

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.limit import LimitKind
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.page import view
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.why.page import Reasons
from jupyter_mlgpu.testing import example_record, limited_record


def said(record):
    return repr(Reasons(record)).splitlines()


def test_the_answer_comes_first_then_how_sure_it_is_and_what_to_do():
    assert said(limited_record(confidence="likely"))[:4] == [
        "Waited 86 % of the time: the GPU had 2.0 s of work in 14.7 s.",
        "This is likely: the evidence supports it but does not rule out everything else.",
        (
            "Most of the time went into preparing data: loading, decoding, shuffling, "
            "tokenizing. That explains about 90 % of 14.7 s."
        ),
        "What to do: Let `DataLoader` prepare batches in other processes, or run it with "
        "`%%mlc_trace --ops`.",
    ]


@pytest.mark.parametrize(
    ("confidence", "words"), [("sure", "This is certain:"), ("open", "This is not certain:")]
)
def test_every_confidence_is_said_in_words(confidence, words):
    assert said(limited_record(confidence=confidence))[1].startswith(words)


@pytest.mark.parametrize("kind", get_args(LimitKind))
def test_every_kind_is_explained(kind):
    record = limited_record()
    explained = said(replace(record, limit=replace(record.limit, kind=kind)))[1 if kind == "unknown" else 2]
    assert explained.startswith(("Most of the time", "The evidence does not show"))


def test_nothing_is_certain_of_what_is_not_known():
    record = limited_record(confidence="open")
    shown = said(replace(record, limit=replace(record.limit, kind="unknown", share=None)))
    assert not any(line.startswith("This is") for line in shown)


def test_a_part_of_less_than_half_is_not_called_most_of_the_time():
    record = limited_record(confidence="open")
    shown = said(replace(record, limit=replace(record.limit, share=0.4)))
    assert not any("ost of the time" in line or "That explains" in line for line in shown)


def test_what_was_mostly_the_import_of_modules_is_called_that():
    record = limited_record()
    imported = Reading("importing_share", 0.8, "share", "cell", "samples", 50)
    evidence = (*record.limit.evidence, imported)
    imports = replace(record, limit=replace(record.limit, kind="compiling", evidence=evidence))
    assert said(imports)[2].startswith("Most of the time went into importing modules.")
    assert "Importing modules" in "\n".join(said(imports))


def test_what_else_was_looked_at_is_a_table_of_the_other_readings_folded_on_a_page():
    evidence, lines, others = [
        one for one in page_of(Reasons(limited_record())).parts if isinstance(one, Table)
    ]
    assert [row[0] for row in evidence.rows] == [
        "Share of the samples",
        "Device busy",
        "CPU time",
        "GPU busy time",
    ]
    assert [row[0] for row in lines.rows] == ["line 4", "line 5", "[3] line 2"]
    assert (evidence.summary, lines.summary, others.summary) == ("", "", "What else is known")
    named = [row[0] for row in others.rows]
    assert named[0] == "Wall time"
    assert "CPU time" not in named, "it is among the evidence"
    assert ("Energy", "Not measured here.", "") in others.rows


def test_a_cell_without_a_limit_says_the_reason_and_one_from_before_says_that_it_does_not_know():
    why = say("The cell took {time}, which is too short to tell.", time="12 ms")
    assert said(replace(example_record(), why_no_limit=why))[0] == (
        "What limits this cell is not known. The cell took 12 ms, which is too short to tell."
    )
    assert said(example_record())[0] == "This record does not say what limits its cell."


def test_the_title_names_the_cell_and_its_time_where_that_was_measured():
    assert page_of(Reasons(limited_record(7))).title == "Why cell [7] took 14.7 s"
    record = limited_record(7)
    untimed = replace(record, readings=(missing("wall_time", say("The clock stopped.")),))
    page = page_of(Reasons(untimed))
    assert page.title == "What limits cell [7]"
    assert "That explains" not in " ".join(map(str, page.parts))


def test_the_share_of_a_profiled_cell_says_that_the_profiler_was_on():
    assert said(replace(limited_record(), mode="profiled"))[2].endswith(
        "That explains about 90 % of 14.7 s. The profiler was on, which makes a cell slower."
    )


def test_all_of_the_page_but_what_the_record_holds_is_said_in_chinese():
    data = decoding.to_json(view.data(page_of(Reasons(limited_record(confidence="likely")))), texts=False)
    assert data["parts"][0]["template"] == "Waited {share} of the time: the GPU had {work}."
    for one in page_of(Reasons(limited_record(confidence="open"))).parts[1:3]:
        assert not translated(one, "zh").isascii()
        assert "ime" not in translated(one, "zh")
