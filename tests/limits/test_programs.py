"""The planted programs are what their descriptions say, as far as that can be seen without running them."""

from __future__ import annotations

import ast
from collections import Counter

from tests.limits.program import ON_DEVICE, matching
from tests.limits.programs import PROGRAMS


def test_each_has_a_name_of_its_own():
    assert [name for name, count in Counter(one.id for one in PROGRAMS).items() if count > 1] == []


def test_each_says_why_its_cause_is_true_and_which_clock_sees_it():
    assert [one.id for one in PROGRAMS if not one.why.endswith(".") or not one.clock] == []


def test_the_cells_are_python():
    for program in PROGRAMS:
        for code in (*program.before, program.code, *program.mended_before, program.mended or ""):
            compile(code, program.id, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_a_mended_program_differs_and_cannot_be_right_with_the_old_answer():
    for program in PROGRAMS:
        assert program.mended != program.code or program.load or program.mended_before, program.id
        assert not set(program.mended_kinds) & set(program.kinds), program.id


def test_more_than_a_single_kind_is_right_only_where_the_precise_one_cannot_be_known():
    wide = {
        one.id: one.kinds for one in PROGRAMS if len(one.kinds) > 1 and not set(one.kinds) <= set(ON_DEVICE)
    }
    assert all(len(kinds) <= 2 or set(ON_DEVICE) < set(kinds) for kinds in wide.values()), wide


def test_those_for_a_gpu_are_run_when_they_are_asked_for():
    assert not any(one.framework.endswith("-cuda") for one in matching(PROGRAMS))
