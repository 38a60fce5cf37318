"""The judge marks made-up answers as the issue asks, before it marks real ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.limits.judge import Answer, Judged, score
from tests.limits.program import Program

PLANTED = Program(
    id="made-up",
    framework="python",
    kinds=("bandwidth", "device"),
    mended_kinds=("python",),
    clock="idle",
    load=None,
    needs=(),
    why="A test needs no cause.",
    before=(),
    code="pass",
    mended="pass",
)
RIGHT = Answer("bandwidth", "sure", 0.9)
WIDER = Answer("device", "likely", 0.8)
WRONG = Answer("waiting", "likely", 0.7)
SURE_AND_WRONG = Answer("waiting", "sure", 0.7)
NONE = Answer(None, said="The cell was too short.")
UNKNOWN = Answer("unknown", "open")
OPEN = Answer("bandwidth", "open", 0.4)
MENDED = Answer("python", "sure", 1.0)


def unmended(answer: Answer) -> Judged:
    return Judged(replace(PLANTED, mended=None, mended_kinds=()), answer)


def test_right_answers_pass_and_a_wider_kind_is_right_but_not_the_narrowest():
    total = score([Judged(PLANTED, RIGHT, MENDED), Judged(PLANTED, WIDER, MENDED)])
    assert total.failures == []
    assert (total.questions, total.answered, total.right, total.precise) == (4, 4, 1.0, 0.75)


def test_five_wrong_answers_of_a_hundred_pass_and_six_do_not():
    assert score([unmended(RIGHT)] * 95 + [unmended(WRONG)] * 5).failures == []
    (failure,) = score([unmended(RIGHT)] * 94 + [unmended(WRONG)] * 6).failures
    assert failure.startswith("right are 94% of 100, not 95%")


def test_a_single_answer_that_is_sure_and_wrong_fails():
    (failure,) = score([unmended(RIGHT)] * 99 + [unmended(SURE_AND_WRONG)]).failures
    assert failure == "sure and wrong: made-up"


@pytest.mark.parametrize("answer", [NONE, UNKNOWN, OPEN], ids=["none", "unknown", "open"])
def test_a_fifth_may_be_left_open_and_more_may_not_and_what_is_open_is_not_wrong(answer):
    assert score([unmended(RIGHT)] * 80 + [unmended(answer)] * 20).failures == []
    total = score([unmended(RIGHT)] * 79 + [unmended(answer)] * 21)
    assert total.failures == ["open are 21% of 100, more than 20%"]
    assert (total.right, total.wrong) == (1.0, ())


def test_a_mended_program_with_the_same_answer_fails_also_where_both_are_right_or_missing():
    wide = replace(PLANTED, mended_kinds=("bandwidth",))
    assert score([Judged(wide, RIGHT, RIGHT)]).failures == ["mended, and the answer is the same: made-up"]
    assert "made-up" in score([Judged(PLANTED, NONE, NONE)]).failures[-1]


def test_a_mended_program_is_a_question_of_its_own_where_its_kinds_are_known():
    assert score([Judged(PLANTED, RIGHT, SURE_AND_WRONG)]).wrong_sure == ("made-up (mended)",)
    free = replace(PLANTED, mended_kinds=())
    assert score([Judged(free, RIGHT, SURE_AND_WRONG)]).failures == []


def late(answer: Answer) -> Answer:
    """Return the same answer, of a cell that waited half of its time for a core."""
    return replace(answer, delayed=0.5)


def test_where_others_had_the_cores_contention_is_right_too_and_nothing_else():
    contention = Answer("contention", "sure", 0.5)
    assert score([unmended(contention)]).wrong_sure == ("made-up",)
    total = score([unmended(late(contention)), unmended(late(RIGHT))])
    assert (total.failures, total.disturbed) == ([], ("made-up", "made-up"))
    assert score([unmended(late(SURE_AND_WRONG))]).wrong_sure == ("made-up",)


def test_where_others_had_the_cores_a_question_may_stay_open_and_a_mended_program_unchanged():
    assert score([unmended(RIGHT)] * 4 + [unmended(late(NONE))] * 6).failures == []
    wide = replace(PLANTED, mended_kinds=())
    assert score([Judged(wide, RIGHT, late(RIGHT))]).failures == []


def test_a_program_that_plants_others_is_not_disturbed_by_them():
    planted = replace(PLANTED, load="processor")
    assert score([Judged(planted, late(RIGHT), MENDED)]).disturbed == ()
    assert score([Judged(planted, late(RIGHT), late(MENDED))]).disturbed == ("made-up",)


def test_a_mended_program_is_never_faster_than_the_bound_that_was_said():
    bounded = replace(RIGHT, seconds=2.0, at_least=0.5)
    assert score([Judged(PLANTED, bounded, replace(MENDED, seconds=0.6))]).failures == []
    (failure,) = score([Judged(PLANTED, bounded, replace(MENDED, seconds=0.4))]).failures
    assert failure == "mended, and faster than its bound: made-up"


def test_no_program_at_all_is_no_pass():
    assert score([]).failures == ["no program was asked"]


def test_an_answer_is_read_from_a_record_and_one_of_an_unknown_kind_is_refused():
    limit = {"kind": "waiting", "confidence": "sure", "share": 0.9, "said": "Waited.", "evidence": []}
    assert Answer.of({"limit": limit}) == Answer("waiting", "sure", 0.9, "Waited.", explained=0.9)
    mixed = {**limit, "share": 0.3, "parts": {"waiting": 0.3, "python": 0.25}}
    assert Answer.of({"limit": mixed}).explained == 0.55
    assert Answer.of({"why_no_limit": "Too short."}) == Answer(None, said="Too short.")
    assert Answer.of({}).is_open
    with pytest.raises(ValueError, match="no known kind"):
        Answer.of({"limit": {**limit, "kind": "bored"}})
