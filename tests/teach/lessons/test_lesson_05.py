"""Lesson 05: what its text says of three ways, four spellings and the plan holds in the saved notebook."""

import json
import math
import re
import subprocess
import sys

import pytest

from jupyter_mlgpu.teach.lessons import check, recordings
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
    assert lesson.shown("compiled-count").endswith("the same result: True\n")


def test_the_profiled_receipt_shows_the_fused_operations(lesson):
    profiled = lesson.receipt("graph-profiled")
    assert profiled.mode == "profiled"
    assert "_MklNativeFusedMatMul" in {one.type for one in profiled.ops}


def rows_of(lesson, cell):
    """The rows of a cell's table, measured and replayed, by their spelling: the numbers after it."""
    lines = [re.split(r" {2,}", line) for line in lesson.shown(cell).splitlines()]
    found = {line[0]: [number(one) for one in line[1:]] for line in lines if is_row(line)}
    assert list(found) == ["tf.function", "tf.function, XLA", "torch.compile", "jax.jit", "mx.compile"]
    return found


def number(written):
    return math.inf if written == "never" else float(written.replace(",", ""))


def is_row(line):
    return len(line) > 1 and bool(re.match(r"(tf|torch|jax|mx)\.", line[0]))


def test_a_first_call_is_dear_in_every_spelling_and_later_ones_of_tensorflow_cheap(lesson):
    rows = rows_of(lesson, "four-ways")
    for name, (not_compiled, first, later, *_) in rows.items():
        assert first > 10 * later, name
        assert first > 10 * not_compiled, name
    for name in ("tf.function", "tf.function, XLA", "jax.jit"):
        assert rows[name][2] < rows[name][0]


def test_compiling_pays_after_as_many_calls_as_the_lesson_says():
    rows = {
        row["spelling"]: row for row in recordings.read(recordings.FOLDER / "05_four_ways.json").data["rows"]
    }
    for row in rows.values():
        costs = row["first call, ms"] - row["not compiled, ms"]
        saves = row["not compiled, ms"] - row["later calls, ms"]
        assert row["pays after, calls"] == (round(costs / saves) if saves > 0 else "never")
    calls = {
        name: math.inf if row["pays after, calls"] == "never" else row["pays after, calls"]
        for name, row in rows.items()
    }
    assert 10 < calls["tf.function"] < 100
    assert 10 < calls["jax.jit"] < 100
    assert 100 < calls["tf.function, XLA"] < 1000
    assert 1000 < calls["mx.compile"] < 10_000
    assert calls["torch.compile"] > 1_000_000


def test_each_spelling_traces_again_for_what_the_lesson_says(lesson):
    assert rows_of(lesson, "traces") == {
        "tf.function": [3, 3],
        "tf.function, XLA": [3, 3],
        "torch.compile": [2, 2],
        "jax.jit": [3, 1],
        "mx.compile": [3, 3],
    }


def test_only_torch_compile_notices_a_number_from_outside(lesson):
    rows = rows_of(lesson, "break-frozen")
    assert {name for name, results in rows.items() if results == [2, 3]} == {"torch.compile"}
    assert all(results == [2, 2] for name, results in rows.items() if name != "torch.compile")
    assert "`torch.compile` alone notices" in lesson.prose("break-frozen-why")


@pytest.mark.parametrize("cell", ["four-ways", "traces", "break-frozen"])
def test_what_was_measured_elsewhere_says_so(lesson, cell):
    measured, note, replayed = re.split(
        r"^(Replayed, not measured here: .*)$", lesson.shown(cell), flags=re.M
    )
    assert "tf.function" in measured
    assert "tf.function" not in replayed
    assert all(name in note for name in ("PyTorch", "JAX", "MLX"))


def test_the_mended_graph_is_one_piece_with_nothing_to_copy(lesson):
    with_einsum, mended = lesson.shown("plan-mended").splitlines()
    cut = r"with einsum: 1 would fall back, subgraphs of \[4, 3\] .* [1-9]\d* bytes copied$"
    assert re.match(cut, with_einsum)
    assert "it cuts the graph in two" in lesson.prose("plan-read")
    assert re.match(r"mended: 0 would fall back, subgraphs of \[\d+\] operations, 0 bytes copied$", mended)
    assert re.search(r"^Einsum +1 +Einsum: no Metal kernel", lesson.shown("plan"), re.MULTILINE)


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


#: Counts the traces of `function` under each spelling, for three lengths and three exponents.
ASK = """
import json
found = {}
def count(compiles, function, calls):
    traces = []
    def noted(*arguments):
        traces.append(arguments)
        return function(*arguments)
    made = compiles(noted)
    for call in calls:
        made(*call)
    return len(traces)
def both(name, compiles, array):
    lengths = count(compiles, lambda v: v * v, [(array([1.0] * n),) for n in (2, 3, 4)])
    exponents = count(compiles, lambda v, e: v**e, [(array([2.0]), e) for e in (2, 3, 4)])
    found[name] = [lengths, exponents]
try:
    import jax
    both("jax.jit", jax.jit, jax.numpy.array)
except ImportError:
    pass
try:
    import mlx.core as mx
    both("mx.compile", mx.compile, mx.array)
    both("shapeless", lambda function: mx.compile(function, shapeless=True), mx.array)
except ImportError:
    pass
try:
    import torch
    made = []
    def compiler(graph, inputs):
        made.append(inputs)
        return graph.forward
    counts = []
    for function, calls in (
        (lambda v: v * v, [(torch.ones(n),) for n in (2, 3, 4)]),
        (lambda v, e: v**e, [(torch.ones(2), e) for e in (2, 3, 4)]),
    ):
        made.clear()
        compiled = torch.compile(function, backend=compiler)
        for call in calls:
            compiled(*call)
        counts.append(len(made))
    found["torch.compile"] = counts
except ImportError:
    pass
print(json.dumps(found))
"""


@pytest.mark.needs("torch", "jax", "mlx")
def test_the_frameworks_trace_again_for_what_the_lesson_says_today():
    done = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "jax.jit": [3, 1],
        "mx.compile": [3, 3],
        "shapeless": [1, 3],
        "torch.compile": [2, 2],
    }
