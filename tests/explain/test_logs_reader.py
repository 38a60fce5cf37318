"""What a cell printed becomes log lines: folded, explained, bounded, and honest about what was left out."""

import random
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Definition
from jupyter_mlgpu.explain.logs.fold import CHARACTERS, DISTINCT_OF_A_KIND, KINDS
from jupyter_mlgpu.explain.logs.placement import LIMIT
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.measure.capture.stretch import Notes
from jupyter_mlgpu.record.record import Fact

DEVICE = """
patterns = ["Metal device set to: {device}"]
verdict = "info"
[facts]
gpu_name = "{device}"
[en]
meaning = "The GPU is {device}."
advice = "Nothing to do."
[zh]
meaning = "GPU 是 {device}。"
advice = "无需处理。"
"""
OPENED = """
patterns = ["Opened library {path:word}"]
verdict = "harmless"
continues = ["and {*}"]
[en]
meaning = "{path} was found."
advice = "Nothing to do."
"""
REPORT = """
patterns = ["Memory report {number:int}"]
verdict = "performance"
fold = true
[facts]
allocator = "{number}"
[en]
meaning = "A report."
advice = "Read it."
"""
CATALOGUE = Catalogue(
    [
        Definition.from_text(Path(f"any/{name}.toml"), text)
        for name, text in {"device": DEVICE, "opened": OPENED, "report": REPORT}.items()
    ]
)
NATIVE = "2021-06-14 09:32:{:02}.{:06}: I tensorflow/core/x.cc:12] {}"


def read(*pieces: str | bytes, catalogue: Catalogue = CATALOGUE, late: bool = False) -> Notes:
    reader = LogReader(catalogue)
    for piece in pieces:
        reader.feed("stderr", piece.encode() if isinstance(piece, str) else piece, "12:00")
    return reader.finish(late=late)


def counts(notes: Notes) -> list[tuple[str, int]]:
    return [(line.text, line.count) for line in notes.lines]


def test_a_known_line_has_its_meaning_and_its_fields():
    (line,) = read("Metal device set to: Apple M1 Max\n").lines
    assert (line.id, line.verdict) == ("device", "info")
    assert (line.meaning, line.advice) == ("The GPU is Apple M1 Max.", "Nothing to do.")
    assert line.fields == {"device": "Apple M1 Max"}
    assert (line.stream, line.time, line.count, line.late) == ("stderr", "12:00", 1, False)


def test_an_unknown_line_says_that_it_is_not_known():
    (line,) = read("anything\n").lines
    assert (line.id, line.verdict, line.meaning, line.advice, line.fields) == (
        None,
        "unknown",
        None,
        None,
        {},
    )


def test_the_last_line_needs_no_end():
    assert counts(read("one\ntw", "o")) == [("one", 1), ("two", 1)]


def test_lines_that_came_after_their_cell_are_marked():
    assert [line.late for line in read("one\n", late=True).lines] == [True]


def test_lines_that_differ_in_time_only_are_one():
    lines = [NATIVE.format(second, second * 7, "hello") for second in range(60)]
    assert counts(read("\n".join(lines))) == [(lines[0], 60)]


def test_lines_from_two_processes_and_threads_are_one():
    lines = [f"I0000 00:00:17552{n}.678694 {n} service.cc:99] hello" for n in range(100, 200)]
    assert counts(read("\n".join(lines))) == [(lines[0], 100)]


def test_lines_of_different_level_origin_or_stream_are_not_one():
    reader = LogReader(CATALOGUE)
    for line in ("I a/x.cc:1] hello", "W a/x.cc:1] hello", "I a/y.cc:1] hello"):
        reader.feed("stderr", f"{line}\n".encode(), "")
        reader.feed("stdout", f"{line}\n".encode(), "")
    assert [line.count for line in reader.finish().lines] == [1] * 6


def test_streams_are_read_apart():
    reader = LogReader(CATALOGUE)
    reader.feed("stdout", b"Metal device ", "")
    reader.feed("stderr", b"other\n", "")
    reader.feed("stdout", b"set to: Apple M1\n", "")
    assert {(line.stream, line.text) for line in reader.finish().lines} == {
        ("stdout", "Metal device set to: Apple M1"),
        ("stderr", "other"),
    }


def test_many_lines_of_a_shape_are_kept_exactly_up_to_a_limit_and_then_counted():
    notes = read("\n".join(f"step {number}" for number in range(5_000)))
    assert len(notes.lines) == DISTINCT_OF_A_KIND
    assert notes.lines[0].count == 5_000 - DISTINCT_OF_A_KIND + 1
    assert sum(line.count for line in notes.lines) == 5_000
    assert notes.notes == ("4,900 more messages like 'step 0' were counted but not kept.",)


def test_a_repeated_line_keeps_its_own_count_after_the_limit():
    text = "".join(f"step {number}\n" for number in [*range(500), *[3] * 50])
    assert dict(counts(read(text)))["step 3"] == 51


def test_the_limit_holds_for_known_messages_too_and_none_is_lost():
    notes = read("".join(f"Opened library lib{number}.so\n" for number in range(3_000)))
    assert len(notes.lines) == DISTINCT_OF_A_KIND
    assert sum(line.count for line in notes.lines) == 3_000


def test_what_is_known_is_kept_however_much_came_before():
    chance = random.Random(1)
    words = ("".join(chance.choices("abcdefgh", k=12)) for _ in range(10_000))
    notes = read("\n".join(words), "\nMetal device set to: Apple M1\n")
    assert notes.lines[-1].id == "device"
    assert len(notes.lines) == KINDS + 1
    assert notes.notes == ("8,000 more messages were not kept: there were too many different ones.",)


def test_the_text_of_a_cell_is_bounded():
    chance = random.Random(1)
    long = "\n".join("".join(chance.choices("abcdefgh ", k=60_000)) for _ in range(120))
    notes = read(long)
    assert sum(len(line.text) for line in notes.lines) < CHARACTERS + 70_000
    assert len(notes.lines) < 120
    assert notes.notes


def test_states_of_a_progress_bar_are_one_line():
    bar = "".join(f"{n}%|{'█' * (n // 10):10}| {n}/100 [00:{n:02}<00:01, 25.31it/s]\r" for n in range(60))
    notes = read(bar, "done\n")
    assert [count for _, count in counts(notes)] == [60, 1]
    assert notes.notes == ()


def test_a_message_that_folds_is_one_whatever_its_fields():
    notes = read("".join(f"Memory report {number}\n" for number in range(500)))
    assert counts(notes) == [("Memory report 0", 500)]


def test_a_line_that_goes_on_is_not_counted_with_those_that_do_not():
    opened = "Opened library a.so"
    notes = read(f"{opened}\n{opened}\n{opened}\nand more\n{opened}\n")
    assert sorted(counts(notes)) == [(opened, 3), (f"{opened}\nand more", 1)]


@pytest.mark.parametrize("seed", range(30))
def test_reading_fast_counts_as_reading_line_by_line(seed):
    chance = random.Random(seed)
    kinds = [
        lambda: NATIVE.format(chance.randrange(60), chance.randrange(10**6), "hello"),
        lambda: NATIVE.format(1, 2, f"value {chance.randrange(3)}:"),
        lambda: f"\tindented {chance.randrange(3)}",
        lambda: f"printed {chance.randrange(3)}",
        lambda: "Opened library a.so",
        lambda: "and more",
        lambda: "Traceback (most recent call last):",
        lambda: "RuntimeError: bad",
        lambda: "W a/bfc_allocator.cc:1] x",
        lambda: "I a/bfc_allocator.cc:1] Chunk at 0x1 of size 3",
        lambda: "",
        lambda: "10%\r20%",
    ]
    lines = [chance.choice(kinds)() for _ in range(400)]
    fast = read("\n".join(lines))
    slow = LogReader(CATALOGUE)
    for line in lines:
        slow._shapes.clear()  # nothing is remembered: every line goes through the parser
        slow.feed("stderr", f"{line}\n".encode(), "12:00")
    assert counts(fast) == counts(slow.finish())


def test_a_fact_has_its_value_and_where_it_comes_from():
    facts = read("Metal device set to: Apple M1\n").facts
    assert facts == {"gpu_name": Fact("Apple M1", "log message device")}


def test_a_second_value_of_a_fact_makes_a_list():
    facts = read("Metal device set to: A\nMetal device set to: B\nMetal device set to: A\n").facts
    assert facts["gpu_name"].value == ["A", "B"]


def test_facts_come_from_every_occurrence_of_a_message_that_folds():
    facts = read("Memory report 1\nMemory report 2\n").facts
    assert facts["allocator"].value == ["1", "2"]


def test_texts_fields_meanings_and_facts_are_cleaned():
    reader = LogReader(CATALOGUE, clean=lambda text: text.replace("ada", "~"))
    reader.feed("stderr", b"Metal device set to: ada's GPU\nhello ada\n", "")
    notes = reader.finish()
    assert "ada" not in repr(notes)
    assert notes.lines[0].meaning == "The GPU is ~'s GPU."


@pytest.mark.parametrize(
    ("text", "origin"),
    [
        ("WARNING:absl:Metal device set to: A\nsecond", "absl"),
        ("/p/f.py:3: UserWarning: Metal device set to: A\n  warn('x')\n", "UserWarning"),
        ("Metal device set to: A", "absl"),
    ],
)
def test_messages_of_python_come_whole_with_their_level(text, origin):
    reader = LogReader(CATALOGUE)
    reader.add("logging", text, level="WARNING", origin=origin, time="12:01")
    (line,) = reader.finish().lines
    assert (line.id, line.fields) == ("device", {"device": "A"})
    assert (line.stream, line.time, line.text) == ("logging", "12:01", text.strip())


def test_what_the_capture_lost_is_a_note():
    reader = LogReader(CATALOGUE)
    reader.lost("3 MB came after the file was full.")
    reader.lost("3 MB came after the file was full.")
    assert reader.finish().notes == ("3 MB came after the file was full.",)


def test_a_line_that_was_cut_is_a_note():
    notes = read(b"x" * 100_000 + b"\n")
    assert notes.notes == ("1 line was too long to keep whole: 91,808 bytes were left out.",)
    assert "more bytes not kept" in notes.lines[0].text


def test_new_lines_can_be_taken_while_the_cell_runs():
    reader = LogReader(CATALOGUE)
    reader.feed("stderr", b"one\ntwo\nthree\nfo", "")
    assert [line.text for line in reader.take_new(2)] == ["one", "two"]
    assert [line.text for line in reader.take_new(9)] == ["three"]
    reader.feed("stderr", b"ur\none\n", "")
    assert [line.text for line in reader.take_new(9)] == ["four"]
    assert [line.count for line in reader.finish().lines] == [2, 1, 1, 1]


def test_nothing_at_all_is_no_lines_no_facts_and_no_notes():
    assert read() == Notes((), {}, ())
    assert read("") == Notes((), {}, ())


def test_any_bytes_are_read():
    chance = random.Random(1)
    notes = read(chance.randbytes(300_000), b"\x00\x1b[31m\x1b]0;", bytes(range(256)))
    assert sum(line.count for line in notes.lines) > 0


# Placement and subgraphs need the real catalogue's messages.


def test_placement_lines_are_one_a_device_and_a_table():
    notes = read(
        "MatMul: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0\n"
        "2025-04-15 10:28:21.932027: I tensorflow/core/common_runtime/placer.cc:19] "
        "a: (Const)/job:localhost/replica:0/task:0/device:CPU:0\n"
        "b: (Const): /job:localhost/replica:0/task:0/device:GPU:0\n"
        "I tensorflow/core/common_runtime/simple_placer.cc:289] c: /job:localhost/replica:0/task:0/gpu:0\n",
        catalogue=Catalogue.load(),
    )
    assert [line.count for line in notes.lines] == [2, 1, 1]
    assert notes.facts["placement"].value == {"MatMul": "gpu:0", "a": "cpu:0", "b": "gpu:0", "c": "gpu:0"}


def test_eager_placement_lines_are_one_a_device():
    line = "Executing op {} in device /job:localhost/replica:0/task:0/device:{}\n"
    notes = read(
        *(line.format(op, device) for op in ("MatMul", "AddV2") for device in ("GPU:0", "GPU:0")),
        line.format("RangeDataset", "CPU:0"),
        catalogue=Catalogue.load(),
    )
    assert [count for _, count in counts(notes)] == [4, 1]
    assert notes.facts["placement"].value == {"MatMul": "gpu:0", "AddV2": "gpu:0", "RangeDataset": "cpu:0"}


def test_the_table_of_placements_is_bounded_and_counts_the_rest():
    line = "op{}: (MatMul): /job:localhost/replica:0/task:0/device:GPU:0\n"
    notes = read(*(line.format(number) for number in range(LIMIT + 50)), catalogue=Catalogue.load())
    assert len(notes.facts["placement"].value) == LIMIT
    assert counts(notes)[0][1] == LIMIT + 50
    assert notes.notes == (
        "The placement table lists the first 200 operations; messages about others: 50 on gpu:0.",
    )


def test_the_device_of_another_machine_keeps_its_name():
    notes = read("a: (Const): /job:worker/replica:0/task:1/device:GPU:0\n", catalogue=Catalogue.load())
    assert notes.facts["placement"].value == {"a": "worker/replica:0/task:1/device:GPU:0"}


MLC = "2021-03-01 10:00:00.123456: I tensorflow/compiler/tf2mlcompute/{}:12] {}\n"


def test_subgraphs_of_ml_compute_are_counted_and_linked_to_their_nodes():
    failed = (
        "Compute: Failed in processing TensorFlow graph {} with frame_id = 0 and iter_id = 0 with error: {}"
    )
    notes = read(
        MLC.format(
            "convert/mlc_convert_nodes.cc",
            "Created a new MLCGraphInfo with id = 3 for subgraph MLCSubgraphOp_0_0.",
        ),
        MLC.format(
            "convert/mlc_convert_graph.cc",
            "Finished converting subgraph MLCSubgraphOp_0_0 with id = 3 for TensorFlow graph with id = 0.",
        ),
        MLC.format(
            "kernels/mlc_subgraph_op.cc",
            failed.format(
                "MLCSubgraphOp_0_1",
                "Internal: AddLayerToMLCGraph: Failed to add layer to MLCGraph for node: "
                "n10 = dropout/RealDiv (RealDiv). (error will be reported 5 times unless TF_MLC_LOGGING=1).",
            ),
        ),
        MLC.format(
            "kernels/mlc_subgraph_op.cc",
            failed.format(
                "train/gradients/MLCSubgraphOp_0_7",
                "Internal: PerformGradientPassNodeRoutine: Failed to find forward-pass output for node: "
                "Reshape_1 (error will be reported 5 times unless TF_MLC_LOGGING=1).",
            ),
        ),
        catalogue=Catalogue.load(),
    )
    assert notes.facts["mlc_subgraphs"].value == {
        "count": 3,
        "converted": ["MLCSubgraphOp_0_0"],
        "fell_back": ["MLCSubgraphOp_0_1", "train/gradients/MLCSubgraphOp_0_7"],
        "nodes": {
            "MLCSubgraphOp_0_1": {"dropout/RealDiv": "RealDiv"},
            "train/gradients/MLCSubgraphOp_0_7": {"Reshape_1": None},
        },
    }


def test_without_ml_compute_there_is_no_fact_about_subgraphs():
    assert "mlc_subgraphs" not in read("hello\n").facts
