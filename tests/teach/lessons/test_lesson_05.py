"""Lesson 05: what its text says of three ways, retracing and the plan holds in the saved notebook."""

import re

import pytest

from jupyter_mlgpu.teach.lessons import check
from jupyter_mlgpu.teach.lessons.exercises import exercises_of

PAGE = "application/vnd.jupyter-mlgpu.page+json"


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("05")


def test_the_same_function_leaves_three_receipts_each_with_fewer_operations(lesson):
    counts = [lesson.operations(name) for name in ("eager", "graph", "compiled")]
    assert counts == [60, 20, 1]
    assert lesson.shown("eager-count") == "60\n"
    assert "It was 20." in lesson.shown("graph-count")
    assert lesson.shown("compiled-count") == "the same result: True\n"


def test_the_profiled_receipt_shows_the_fused_operations(lesson):
    profiled = lesson.receipt("graph-profiled")
    assert profiled.mode == "profiled"
    assert "_MklNativeFusedMatMul" in {one.type for one in profiled.ops}


def test_a_first_call_of_a_graph_is_dear_and_later_ones_of_the_compiled_function_cheap(lesson):
    rows = [line.split() for line in lesson.shown("three-ways").splitlines()[1:]]
    first = {row[0]: float(row[-2].replace(",", "")) for row in rows}
    later = {row[0]: float(row[-1].replace(",", "")) for row in rows}
    assert first["compiled"] > first["graph"] > first["eager"]
    assert later["compiled"] < later["eager"] < first["graph"]


def test_one_graph_is_read_once_and_the_other_for_each_length(lesson):
    one, each = lesson.shown("count-traces").split("a graph for each shape\n")
    assert one.count("Python reads the function") == 1
    assert each.count("Python reads the function") == 3


def test_the_mended_graph_is_one_piece_with_nothing_to_copy(lesson):
    with_einsum, mended = lesson.shown("plan-mended").splitlines()
    cut = r"with einsum: 1 would fall back, subgraphs of \[4, 3\] .* [1-9]\d* bytes copied$"
    assert re.match(cut, with_einsum)
    assert "it cuts the graph in two" in lesson.prose("plan-read")
    assert re.match(r"mended: 0 would fall back, subgraphs of \[\d+\] operations, 0 bytes copied$", mended)
    assert re.search(r"^Einsum +1 +Einsum: no Metal kernel", lesson.shown("plan"), re.MULTILINE)


def test_a_frozen_number_and_a_graph_for_each_python_number(lesson):
    assert lesson.shown("break-frozen") == "2.0\n2.0\n"
    assert lesson.shown("break-retrace").count("Python reads the function") == 3


def test_every_note_of_its_receipts_is_known(lesson):
    for name in ("import", "graph-profiled", "compiled"):
        assert all(line.id for line in lesson.receipt(name).logs), name


def test_the_compiled_receipt_says_compiling_and_a_note_of_it_tells_of_the_compiler(lesson):
    compiled = lesson.receipt("compiled")
    assert compiled.limit.kind == "compiling"
    assert "xla-cluster-compiled" in {line.id for line in compiled.logs}


def test_two_of_the_four_boxes_of_the_plan_are_subgraphs_on_the_gpu(lesson):
    pages = [one.data for one in lesson.cells["plan"].outputs]
    (page,) = (one[PAGE] for one in pages if PAGE in one)
    (drawing,) = page["parts"][0]["data"]["drawings"]
    inside = [[] for _ in drawing["frames"]]
    for x, y, operation, name, side, *_ in drawing["boxes"]:
        holds = [
            left <= x < left + wide and top <= y < top + high
            for left, top, wide, high, *_ in drawing["frames"]
        ]
        inside[holds.index(True)].append((operation, name, side))
    subgraphs = [one for one in inside if any(side == "own" for _, _, side in one)]
    assert sorted(map(len, subgraphs)) == [3, 4]
    others = [one for one in inside if one not in subgraphs]
    assert others == [[("Placeholder", "keys", "shared")], [("Einsum", "einsum/Einsum", "cpu")]]
    assert "two dashed boxes more" in lesson.prose("plan-read")


@pytest.mark.parametrize("name", ["one_graph", pytest.param("scores", marks=pytest.mark.slow)])
def test_checking_again_and_again_makes_tensorflow_warn_of_nothing(name, caplog):
    import tensorflow as tf

    reference = next(one.reference for one in exercises_of("lesson_05") if one.name == name)
    tf.get_logger().addHandler(caplog.handler)
    try:
        assert {check(name, reference).state for _ in range(6)} == {"right"}
    finally:
        tf.get_logger().removeHandler(caplog.handler)
    assert caplog.messages == []
