"""A forecast judges traced operations, says the answer first, and is a page in English and Chinese."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.graphs.mps.forecast import Around, judge
from jupyter_mlgpu.graphs.mps.traced import CodePlace, Traced, TracedOperation
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.translation import in_language
from jupyter_mlgpu.show.mps.headline import headline
from jupyter_mlgpu.show.page import text
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.page.view import MIME_TYPE

FLOAT = frozenset({"float32"})


class Verdict(NamedTuple):
    kind: Any
    source: Sentence
    note: Sentence | None = None


class SmallTable:
    """Says of each operation what it was given, and of all others that they have a kernel."""

    def __init__(self, **kinds: str) -> None:
        self.kinds = kinds

    def verdict(self, operation: str, dtypes: frozenset[str], ranks: frozenset[int] = frozenset()) -> Verdict:
        kind = "type" if "float64" in dtypes else self.kinds.get(operation, "gpu")
        return Verdict(kind, say("native_functions.yaml of PyTorch {version}", version="2.13"))


def changes(operation: str) -> Sentence | None:
    return say("has a kernel since {version}", version="2.15") if operation == "_linalg_svd" else None


def cell_of(file: str) -> int | None:
    return 7 if file == "cell 7" else None


def operation(name, line=0, *, dtypes=FLOAT, phase="forward", within="", count=1):
    place = CodePlace("cell.py", line) if line else CodePlace()
    return TracedOperation(name, dtypes, frozenset({2}), phase, place, within, count)


def forecast_of(*operations, table=None, others=(), untraced=()):
    traced = Traced(tuple(operations), (), tuple(untraced))
    name = say("function {name}", name="step")
    return judge(traced, table or SmallTable(), "2.13", name, Around(tuple(others), changes, cell_of))


def test_a_step_whose_operations_all_have_a_kernel_says_so():
    forecast = forecast_of(operation("mm"), operation("relu"))
    assert headline(forecast).startswith("All 2 kinds of operations in the function step have a kernel")


def test_what_has_no_kernel_is_named_with_its_line_and_what_happens():
    table = SmallTable(_linalg_svd="missing", col2im="fallback", odd="wrong", mine="unknown")
    used = [
        operation(one, line) for line, one in enumerate(("mm", "_linalg_svd", "col2im", "odd", "mine"), 3)
    ]
    answer = headline(forecast_of(*used, operation("mul", 9, dtypes=frozenset({"float64"})), table=table))
    assert answer.startswith("5 of 6 kinds")
    assert (
        "`_linalg_svd` (line 4) raises NotImplementedError, or runs on the CPU with PYTORCH_ENABLE" in answer
    )
    assert "`col2im` (line 5) always runs on the CPU" in answer
    assert "`odd` (line 6) is known to give wrong results" in answer
    assert "`mul` (line 9) raises an error on the GPU, which has no float64: use float32" in answer
    assert "nothing is known of `mine` (line 7)" in answer


def test_a_line_of_a_cell_has_the_cells_number_and_that_of_a_file_its_name():
    first = TracedOperation("mode", FLOAT, frozenset({2}), "forward", CodePlace("cell 7", 2))
    other = TracedOperation("mode", FLOAT, frozenset({2}), "forward", CodePlace(__file__, 1))
    answer = headline(forecast_of(first, other, table=SmallTable(mode="missing")))
    assert "(line 2 of [7], line 1 of test_mps_forecast.py)" in answer


def test_layers_that_one_line_calls_share_its_name():
    places = [CodePlace("cell 7", 2, layer) for layer in ("first", "second")]
    used = [TracedOperation("mode", FLOAT, frozenset({2}), "forward", place) for place in places]
    assert "`mode` (line 2 of [7]) raises" in headline(forecast_of(*used, table=SmallTable(mode="missing")))


def test_operations_are_counted_over_lines_phases_and_ranks():
    forecast = forecast_of(operation("mm", 3, count=2), operation("mm", 5, phase="backward"))
    (one,) = forecast.operations
    assert (one.count, one.phases, [place.line for place in one.places]) == (
        3,
        ("forward", "backward"),
        [3, 5],
    )


def test_the_same_operation_of_another_type_is_judged_by_itself():
    forecast = forecast_of(operation("mul"), operation("mul", 4, dtypes=frozenset({"float64"})))
    assert forecast.kinds == 1
    assert [one.judgement for one in forecast.operations] == ["type", "gpu"]
    assert headline(forecast).startswith("The only operation in the function step needs attention")


def test_inner_operations_of_a_composite_count_only_where_it_has_no_kernel_itself():
    used = operation("linalg_svd_of"), operation("_linalg_svd", within="linalg_svd_of")
    opened = forecast_of(*used, table=SmallTable(linalg_svd_of="composite", _linalg_svd="missing"))
    assert [one.operation for one in opened.of("missing")] == ["_linalg_svd"]
    whole = forecast_of(*used, table=SmallTable(_linalg_svd="missing"))
    assert [one.operation for one in whole.operations] == ["linalg_svd_of"]


def test_other_versions_are_compared():
    later = SmallTable(mode="missing")
    forecast = forecast_of(
        operation("_linalg_svd"),
        operation("mode"),
        table=SmallTable(_linalg_svd="missing", mode="missing"),
        others=[("2.15", later)],
    )
    assert [(one.version, one.missing) for one in forecast.others] == [("2.15", ("mode",))]
    answer = repr(forecast)
    assert "has a kernel since 2.15" in answer
    assert "2.13     _linalg_svd, mode" in answer
    assert "2.15     mode" in answer


def test_versions_with_the_same_answer_are_told_once():
    table = SmallTable(mode="missing")
    same = [(version, table) for version in ("2.14", "2.8", "2.10")]
    forecast = forecast_of(operation("mode"), table=table, others=same)
    assert "No PyTorch from 2.8 to 2.14 runs `mode` on the GPU as it is used here." in repr(forecast)
    mixed = forecast_of(operation("mode"), table=table, others=[*same, ("2.15", SmallTable())])
    assert "2.8 to 2.14  mode\n2.15         none" in repr(mixed)
    assert "No PyTorch" not in repr(mixed)


def test_a_refused_shape_is_not_told_as_a_missing_number_type():
    class Refusing(SmallTable):
        def verdict(self, name, dtypes, ranks=frozenset()):
            return Verdict("type", say("error text of PyTorch {version}: {text}", version="2.13", text="no"))

    answer = headline(forecast_of(operation("linear", 3, dtypes=frozenset({"int64"})), table=Refusing()))
    assert "`linear` (line 3) raises an error, because MPS refuses this number type or shape" in answer


def test_of_many_operations_those_with_a_line_are_named_first():
    double = frozenset({"float64"})
    used = [operation(f"op{number}", dtypes=double, count=9) for number in range(4)]
    answer = headline(forecast_of(*used, operation("mul", 3, dtypes=double)))
    assert "`mul` (line 3), `op0`, `op1` and 2 more raise an error" in answer


def test_an_answer_about_a_part_says_that_it_is_about_a_part():
    forecast = forecast_of(operation("mm"), untraced=[say("The trace ended.")])
    assert headline(forecast).startswith(
        "The only operation in the traced part of the function step has a kernel"
    )
    assert "The trace ended." in repr(forecast)


def test_the_page_is_text_html_data_and_our_own_view():
    forecast = forecast_of(operation("mm", 3), operation("mode", 4), table=SmallTable(mode="missing"))
    assert "<table>" in forecast._repr_html_()
    assert MIME_TYPE in forecast._repr_mimebundle_()
    data = forecast.to_json()
    assert data["version"] == "2.13"
    assert data["operations"][0]["places"] == [{"file": "cell.py", "line": 4, "layer": "", "cell": 0}]
    assert page_of(forecast).kind == "plan"


def test_the_page_is_translated():
    forecast = forecast_of(operation("mode", 4), table=SmallTable(mode="missing"))
    translated = in_language(page_of(forecast), "zh_CN")
    assert "第 4 行" in translated.headline
    shown = text.page(translated)
    for english in ("needs", "line", "raises", "forecast"):
        assert english not in shown


def test_without_pytorch_the_target_is_refused_in_one_sentence(monkeypatch):
    import sys

    monkeypatch.setattr(sys, "modules", {name: one for name, one in sys.modules.items() if name != "torch"})
    with pytest.raises(PlanError, match="is for PyTorch, which is not imported"):
        jupyter_mlgpu.plan(len, target="mps")
