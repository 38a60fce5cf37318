"""Records from files: lines that nobody knew when they were written are explained today."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.logs.catalogue import Catalogue, read_definitions
from jupyter_mlgpu.explain.logs.reexplain import explain_again
from jupyter_mlgpu.record.record import Fact, LogLine
from jupyter_mlgpu.testing import example_record

MESSAGES = {
    "subgraph-failed": """
patterns = ["Compute: Failed in processing TensorFlow graph {graph:word} with {*}"]
verdict = "performance"
[facts]
fallback_subgraph = "{graph}"
[en]
meaning = "{graph} ran on TensorFlow."
advice = "Nothing."
""",
    "gpu-named": """
patterns = ["Metal device set to: {device}"]
verdict = "info"
[facts]
gpu_name = "{device}"
[en]
meaning = "The GPU is {device}."
advice = "Nothing."
""",
    "falling-back": """
patterns = ["Falling back to TensorFlow..."]
verdict = "performance"
[en]
meaning = "It fell back."
advice = "Nothing."
""",
    "instructions": """
patterns = ["This binary is optimized to use: {names}"]
continues = ["To enable them in other operations{*}"]
verdict = "harmless"
[en]
meaning = "The CPU has {names}."
advice = "Nothing."
""",
}
COMPUTE = "I tensorflow/compiler/tf2mlcompute/kernels/mlc_subgraph_op.cc:332] "
FAILED = "Compute: Failed in processing TensorFlow graph MLCSubgraphOp_0_{} with frame_id = 0"


@pytest.fixture
def catalogue(tmp_path):
    folder = tmp_path / "messages" / "mlcompute"
    folder.mkdir(parents=True)
    for name, text in MESSAGES.items():
        (folder / f"{name}.toml").write_text(text)
    return Catalogue(read_definitions(folder.parent))


def unknown(text, **changes):
    line = LogLine(text, None, "unknown", None, None, {}, 1, "stderr", None, False)
    return replace(line, **changes)


def record_with(*lines, **changes):
    return replace(example_record(), logs=lines, **changes)


def native(second, body):
    return f"2021-03-08 20:50:{second:02d}.716976: {COMPUTE}{body}"


def test_an_unknown_line_is_explained_and_its_fact_is_added(catalogue):
    record = record_with(unknown("Metal device set to: Apple M1", time="T1", count=3))
    (line,) = explain_again(record, catalogue).logs
    assert (line.id, line.verdict, line.meaning) == ("gpu-named", "info", "The GPU is Apple M1.")
    assert (line.text, line.count, line.time, line.fields) == (
        "Metal device set to: Apple M1",
        3,
        "T1",
        {"device": "Apple M1"},
    )
    assert explain_again(record, catalogue).facts["gpu_name"].value == "Apple M1"


def test_a_line_that_stays_unknown_stays_as_it_is(catalogue):
    lines = (unknown("epoch 1", stream="stdout", time="T1"), unknown("epoch 2", late=True, count=5))
    record = record_with(*lines)
    assert explain_again(record, catalogue).logs == lines


def test_what_was_known_stays_and_keeps_its_place(catalogue):
    known = unknown("known", id="other", verdict="harmless", meaning="Old words.", advice="None.")
    record = record_with(unknown("before"), known, unknown("Metal device set to: Apple M1"))
    lines = explain_again(record, catalogue).logs
    assert lines[1] == known
    assert [line.id for line in lines] == [None, "other", "gpu-named"]


def test_a_record_with_nothing_unknown_is_given_back_untouched(catalogue):
    record = record_with(unknown("known", id="gpu-named", verdict="info", meaning="", advice=""))
    assert explain_again(record, catalogue) is record


def test_lines_that_differ_in_their_time_stamp_become_one_with_a_count(catalogue):
    lines = [
        unknown(native(1, FAILED.format(1))),
        unknown(native(1, "Falling back to TensorFlow...")),
        unknown(native(2, FAILED.format(1)), count=2),
        unknown(native(2, "Falling back to TensorFlow...")),
        unknown(native(3, FAILED.format(2))),
    ]
    explained = explain_again(record_with(*lines), catalogue)
    assert [(line.id, line.count) for line in explained.logs] == [
        ("subgraph-failed", 3),
        ("falling-back", 2),
        ("subgraph-failed", 1),
    ]
    assert explained.facts["fallback_subgraph"].value == ["MLCSubgraphOp_0_1", "MLCSubgraphOp_0_2"]
    assert explained.facts["mlc_subgraphs"].value["count"] == 2


def test_lines_that_belong_together_become_one_message(catalogue):
    head = (
        "2021-03-08 20:50:58.716976: I tensorflow/core/cpu.cc:142] This binary is optimized to use: AVX2 FMA"
    )
    more = "To enable them in other operations, rebuild TensorFlow."
    (line,) = explain_again(record_with(unknown(head), unknown(more)), catalogue).logs
    assert line.text == f"{head}\n{more}"
    assert line.id == "instructions"


def test_the_two_streams_do_not_mix_and_keep_their_order(catalogue):
    record = record_with(
        unknown(native(1, FAILED.format(1))),
        unknown("  indented, but printed by the program", stream="stdout"),
        unknown(native(2, "Falling back to TensorFlow...")),
    )
    assert [(line.id, line.stream) for line in explain_again(record, catalogue).logs] == [
        ("subgraph-failed", "stderr"),
        (None, "stdout"),
        ("falling-back", "stderr"),
    ]


def test_no_line_of_thousands_is_lost(catalogue):
    lines = [unknown(f"step {number}, loss {number}.5") for number in range(5_000)]
    assert len(explain_again(record_with(*lines), catalogue).logs) == 5_000


def test_facts_that_the_record_has_are_kept(catalogue):
    facts = {"gpu_name": Fact("Apple M1 Max", "log message gpu-named"), "mine": Fact(1, "me")}
    record = record_with(unknown("Metal device set to: Apple M1"), facts=facts)
    assert explain_again(record, catalogue).facts == facts
