"""The planted programs are what their table says, as far as that can be seen without running them."""

from __future__ import annotations

import ast
from collections import Counter
from typing import get_args

from jupyter_mlgpu.record.limit import LimitKind
from tests.limits.program import FOLDER, ORDINARY, PROGRAMS, TABLE, Load, cells_of, matching

#: On a machine whose roof was not measured, work on the device may be told as any of these.
ON_DEVICE = {"device", "compute", "bandwidth"}


def test_each_has_a_name_of_its_own():
    assert [name for name, count in Counter(one.id for one in TABLE).items() if count > 1] == []


def test_each_cell_is_one_of_a_program_of_the_table():
    cells = cells_of(path.read_text(encoding="utf-8") for path in FOLDER.glob("*_cells.py"))
    assert set(cells) == {one.id for one in TABLE}
    roles = {role for mine in cells.values() for role, codes in mine.items() if codes}
    assert roles == {"before", "asked", "before mended", "mended"}


def test_the_kinds_and_what_runs_beside_are_known_ones():
    assert {kind for one in TABLE for kind in (*one.kinds, *one.mended_kinds)} <= set(get_args(LimitKind))
    assert {one.load for one in TABLE} <= {None, *get_args(Load)}


def test_each_says_why_its_cause_is_true_and_which_clock_sees_it():
    assert [one.id for one in PROGRAMS if not one.why.endswith(".") or not one.clock] == []


def test_the_cells_are_python():
    for program in TABLE:
        for code in (*program.before, program.code, *program.mended_before, program.mended or ""):
            compile(code, program.id, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_a_mended_program_differs_and_cannot_be_right_with_the_old_answer():
    for program in PROGRAMS:
        assert program.mended != program.code or program.load or program.mended_before, program.id
        assert not set(program.mended_kinds) & set(program.kinds), program.id


def test_more_than_a_single_kind_is_right_only_where_the_precise_one_cannot_be_known():
    wide = {one.id: one.kinds for one in PROGRAMS if len(one.kinds) > 1 and not set(one.kinds) <= ON_DEVICE}
    assert all(len(kinds) <= 2 or set(kinds) > ON_DEVICE for kinds in wide.values()), wide


def test_those_for_a_gpu_are_run_when_they_are_asked_for():
    assert not any(one.framework.endswith("-cuda") for one in matching(PROGRAMS))


def test_there_are_forty_ordinary_cells():
    assert Counter(one.framework for one in ORDINARY) == {"tensorflow": 26, "torch": 14}
    assert {one.clock.split()[0] for one in ORDINARY} == {"profile"}
