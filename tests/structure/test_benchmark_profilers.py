"""What the benchmark of profilers concludes from given times; nothing is measured here."""

import importlib

import pytest

from benchmarks import cell_cost
from benchmarks.pairing import Pair
from benchmarks.profilers import shown
from benchmarks.profilers.cells import EMPTY, FRAMEWORKS, TORCH
from benchmarks.profilers.conditions import BARE, LIGHT, OPS, PARSING, PROFILER, TOOLS, Condition, sides
from benchmarks.profilers.measure import Times
from benchmarks.profilers.results import TARGET_OPS, rows, verdicts

STEPS = TORCH.workloads[1]


def times(workload, parsing=0.0, **sides):
    """Twenty rounds in which each condition of a kernel always takes the same time."""
    found = Times("PyTorch", workload, 10)
    for side, conditions in sides.items():
        for condition, seconds in conditions.items():
            found.seconds[side, condition] = [seconds] * 20
            found.processor[side, condition] = [seconds] * 20
    found.parsing.extend([parsing] * 20)
    return found


def row(measured, condition):
    return next(one for one in rows(measured) if one.condition == condition)


@pytest.mark.parametrize(("traced", "verdict"), [(0.2059, "holds"), (0.2061, "missed")])
def test_light_tracing_may_add_3_ms_and_a_share_of_the_bare_cell(traced, verdict):
    found = row(times(STEPS, light={BARE: 0.2, LIGHT: traced}), LIGHT)
    assert found.target == pytest.approx(0.006)
    assert found.added == pytest.approx(traced - 0.2)
    assert found.verdict == verdict


@pytest.mark.parametrize(("ops", "verdict"), [(0.27, "holds"), (0.28, "missed")])
def test_ops_is_judged_beside_the_frameworks_profiler_and_its_parsing_is_told(ops, verdict):
    measured = times(STEPS, 0.16, profiled={BARE: 0.2, PROFILER: 0.25, OPS: ops})
    found = row(measured, OPS)
    assert found.beside == PROFILER
    assert found.ratio == pytest.approx(ops / 0.25)
    assert found.target == TARGET_OPS
    assert found.verdict == verdict
    assert "160.00 ms in the median" in shown.as_text([measured])


def test_for_a_cell_that_does_nothing_nothing_is_promised_of_ops():
    assert row(times(EMPTY, profiled={BARE: 0.005, PROFILER: 0.006, OPS: 0.009}), OPS).verdict is None


def test_other_tools_are_shown_and_not_judged():
    measured = times(STEPS, light={BARE: 0.2, LIGHT: 0.2}, viztracer={BARE: 0.2, "viztracer": 0.6})
    assert row(measured, "viztracer").ratio == pytest.approx(3)
    assert list(verdicts([measured])) == ["holds"]


def test_a_tool_that_cannot_be_measured_is_named_with_its_reason():
    measured = times(STEPS, light={BARE: 0.2, LIGHT: 0.2})
    measured.why_not["scalene"] = "scalene is not installed"
    for text in (shown.as_text([measured]), shown.as_markdown([measured], {"python": "3.11"})):
        assert "scalene was not measured: scalene is not installed" in text


def test_too_few_rounds_settle_nothing():
    measured = times(STEPS, light={BARE: 0.2, LIGHT: 0.2})
    for all_ in measured.seconds.values():
        del all_[5:]
    assert row(measured, LIGHT).verdict == "not known"


def test_every_table_of_the_page_is_whole():
    measured = times(
        STEPS, 0.01, light={BARE: 0.2, LIGHT: 0.2}, profiled={BARE: 0.2, PROFILER: 0.3, OPS: 0.3}
    )
    page = shown.as_markdown([measured], {"python": "3.11"})
    table = [line for line in page.splitlines() if line.startswith("| training steps")]
    assert len(table) == 3
    assert {line.count("|") for line in table} == {len(shown.HEADER) + 1}


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda one: one.module)
def test_each_cell_stands_whole_in_each_condition(framework):
    for side in sides(framework):
        assert [one.name for one in side.conditions].count(BARE) == 1
        for condition in side.conditions:
            for workload in framework.workloads:
                assert workload.cell(3) in condition.code(workload.cell(3), framework)


def test_pytorchs_bare_profiler_records_no_more_than_ours_does_with_ops():
    assert "torch.profiler.profile(activities=activities)" in TORCH.profiler


def test_words_over_a_cell_stand_in_its_first_line():
    assert Condition(OPS, over="%%mlc_trace --ops\n").code("x = 1", TORCH) == "%%mlc_trace --ops\nx = 1"


@pytest.mark.parametrize("framework", FRAMEWORKS, ids=lambda one: one.module)
def test_what_the_time_of_stopping_is_taken_from_is_there(framework):
    module, _, name = framework.session.partition(":")
    assert callable(getattr(importlib.import_module(module), name)._end)


def test_of_finishing_a_profile_only_what_is_not_stopping_counts_as_parsing():
    framework = FRAMEWORKS[0]
    profiled = next(side for side in sides(framework) if side.name == "profiled")
    seen = {}
    lines = [line for line in profiled.setup.splitlines() if not line.startswith("%")]
    with pytest.MonkeyPatch.context() as patch:
        clock = iter(
            [0.0, 0.0, 1.0, 1.0, 4.0, 3.0, 10.0, 6.0]
        )  # finish begins, stopping begins and ends, finish ends
        patch.setattr("time.perf_counter", lambda: next(clock))
        patch.setattr("time.process_time", lambda: next(clock))
        module, _, name = framework.session.partition(":")
        session = getattr(importlib.import_module(module), name)
        patch.setattr(session, "_end", lambda self: None)
        patch.setattr("jupyter_mlgpu.measure.ops.cell.CellProfile.finish", lambda self: session._end(self))
        exec("\n".join(lines), seen)
        importlib.import_module("jupyter_mlgpu.measure.ops.cell").CellProfile.finish(None)
    assert eval(PARSING, seen) == [7.0, 4.0]


def test_other_makers_tools_take_part_only_where_they_are_asked_for():
    assert [side.name for side in sides(TORCH, ["none"])] == ["light", "profiled"]
    assert [side.name for side in sides(TORCH, ["scalene"])] == ["light", "profiled", "scalene"]
    assert {side.name for side in sides(TORCH)} == {"light", "profiled", *TOOLS}


@pytest.mark.parametrize("framework", cell_cost.LESSONS)
def test_the_cost_of_tracing_is_measured_in_training_cells_of_each_framework(framework, monkeypatch, capsys):
    seen = []

    def measure(setup, workloads, pairs):
        seen.append((setup, [one.name for one in workloads]))
        return [cell_cost.Cost(one, 3, [Pair(0.1, 0.1)] * 20) for one in workloads]

    monkeypatch.setattr(cell_cost, "measure", measure)
    monkeypatch.setattr(cell_cost, "find_spec", lambda name: name)
    training = {"tensorflow": "Keras fit"}.get(framework, "training steps")
    assert cell_cost.main(["--framework", framework, "--cell", training]) == 0
    assert seen == [(cell_cost.LESSONS[framework][1], [training])]
    assert training in capsys.readouterr().out


def test_a_cell_that_is_not_known_is_refused_with_the_names_of_those_that_are(capsys, monkeypatch):
    monkeypatch.setattr(cell_cost, "find_spec", lambda name: name)
    with pytest.raises(SystemExit):
        cell_cost.main(["--framework", "jax", "--cell", "fit"])
    assert "its cells: empty cell, training steps" in capsys.readouterr().err
