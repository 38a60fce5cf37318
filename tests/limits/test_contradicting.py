"""A profile contradicts an answer that can have had little of the time, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.limits.contradicting import Profile, contradiction
from tests.limits.judge import Answer

#: Half of it in the interpreter, a third in a loader, the rest in libraries.
PROFILE = Profile(
    seconds=1.0,
    idle=0.05,
    main=0.9,
    compiling=0.05,
    getting=0.35,
    saved=0.1,
    delayed=0.0,
    interpreter=0.5,
    native=0.4,
    pipeline=False,
    major_faults=0,
)


@pytest.mark.parametrize("kind", ["python", "input", "launch", "transfer", "device", "compute", "bandwidth"])
def test_what_can_have_had_a_third_of_the_time_is_not_contradicted(kind):
    assert contradiction(Answer(kind, "sure", 0.8), PROFILE) is None


@pytest.mark.parametrize("kind", ["waiting", "compiling", "memory", "contention"])
def test_what_cannot_have_had_a_third_of_the_time_is_contradicted(kind):
    assert contradiction(Answer(kind, "likely", 0.8), PROFILE).startswith(f"{kind} had at most")


def test_an_open_answer_says_nothing_and_is_not_contradicted():
    assert contradiction(Answer("waiting", "open"), PROFILE) is None
    assert contradiction(Answer(None), PROFILE) is None


def test_what_a_second_run_saves_may_have_been_compiling_that_no_stack_shows():
    assert contradiction(Answer("compiling", "sure"), replace(PROFILE, saved=0.7)) is None


def test_a_pipeline_without_a_stack_may_have_had_all_of_the_time():
    bare = replace(PROFILE, getting=0.0)
    assert contradiction(Answer("input", "sure"), bare) is not None
    assert contradiction(Answer("input", "sure"), replace(bare, pipeline=True)) is None


def test_cores_may_have_been_taken_in_one_of_the_two_runs_alone():
    assert contradiction(Answer("contention", "sure", delayed=0.6), PROFILE) is None


def test_without_perf_nothing_is_said_against_work_on_the_device():
    blind = replace(PROFILE, interpreter=None, native=None, idle=0.9, main=0.1)
    assert contradiction(Answer("device", "sure"), blind) is None
    assert contradiction(Answer("python", "sure"), blind) is not None
