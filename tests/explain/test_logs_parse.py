"""What stands before a message is told from its body, and lines that belong together are one message."""

import time
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue, Definition
from jupyter_mlgpu.explain.logs.parse import MAX_LINES, Message, Parser
from jupyter_mlgpu.explain.logs.stream import messages


def definition(name: str, patterns: list[str], *more: str) -> Definition:
    head = "\n".join([f"patterns = {patterns!r}", 'verdict = "info"', *more])
    return Definition.from_text(Path(f"any/{name}.toml"), f'{head}\n[en]\nmeaning = "m"\nadvice = "a"\n')


CATALOGUE = Catalogue(
    [
        definition("set", ["Metal device set to: {device}"]),
        definition("rebuild", ["This binary is optimized"], "continues = ['To enable them {*}']"),
        definition("enable", ["To enable them in other operations"]),
        definition("memory", ["systemMemory: {size:size}"]),
        definition("from-op", ["End of sequence"], "sources = ['op_kernel.cc', 'OutOfRangeError']"),
        definition("missing", ["No module named '{module}'"], "sources = ['ModuleNotFoundError']"),
    ]
)


def parsed(text: str) -> list[Message]:
    return [message for message, _ in messages([text.encode()], CATALOGUE)]


def texts(text: str) -> list[str]:
    return [message.text for message in parsed(text)]


@pytest.mark.parametrize(
    ("line", "level", "origin"),
    [
        ("2021-06-14 09:32:11.123456: I tensorflow/core/x.cc:12] BODY", "INFO", "x.cc"),
        ("2021-06-14 09:32:11.123456: W ./tensorflow/core/x.h:12] BODY", "WARNING", "x.h"),
        ("I tensorflow/core/common_runtime/gpu/gpu_device.cc:885] BODY", "INFO", "gpu_device.cc"),
        (r"2018-02-08 18:14:25.438352: E C:\tf\tensorflow\core\gpu.cc:406] BODY", "ERROR", "gpu.cc"),
        ("... I ./tensorflow/compiler/tf2mlcompute/convert/mlc_pass.h:99] BODY", "INFO", "mlc_pass.h"),
        ("2022-05-31 17:12:54.316188: F external/local_tsl/tsl/x.cc:1] BODY", "FATAL", "x.cc"),
        ("I0000 00:00:1755238054.678694   12345 service.cc:99] BODY", "INFO", "service.cc"),
        ("E0000 00:00:1755238054.678694 12345 meta_optimizer.cc:967] BODY", "ERROR", "meta_optimizer.cc"),
        ("I0308 09:32:11.441840 123456 train.py:55] BODY", "INFO", "train.py"),
        ("W20240308 09:32:11.441840 123456 x.cc:55] BODY", "WARNING", "x.cc"),
        ("WARNING:absl:BODY", "WARNING", "absl"),
        ("INFO:tensorflow:BODY", "INFO", "tensorflow"),
        ("CRITICAL:a.b.c:BODY", "FATAL", "a.b.c"),
        ("WARNING:2025-12-26 18:33:48,117:jax._src.xla_bridge:881: BODY", "WARNING", "jax._src.xla_bridge"),
        ("2025-12-26 18:33:48,117 - tensorflow - WARNING - BODY", "WARNING", "tensorflow"),
        ("[2025-12-26 18:33:48,117][jax._src.xla_bridge][ERROR] - BODY", "ERROR", "jax._src.xla_bridge"),
        ("[WARNING|logging.py:314] 2025-12-26 18:33:48,117 >> BODY", "WARNING", "logging.py"),
        ("/p/f.py:3: UserWarning: BODY", "WARNING", "UserWarning"),
        ("<ipython-input-3-1a2b>:3: FutureWarning: BODY", "WARNING", "FutureWarning"),
        ("UserWarning: BODY", "WARNING", "UserWarning"),
        ("RuntimeError: BODY", "ERROR", "RuntimeError"),
        ("Exception: BODY", "ERROR", "Exception"),
        ("tensorflow.python.framework.errors_impl.NotFoundError: BODY", "ERROR", "NotFoundError"),
        ("torch._dynamo.exc.Unsupported: BODY", "ERROR", "Unsupported"),
        ("2021-06-14 09:32:11.123 Python[123:456] BODY", None, None),
        ("2021-06-14 09:32:11.123456+0200 python3.9[123:456] BODY", None, None),
        ("[W Module.cpp:513] Warning: BODY", "WARNING", "Module.cpp"),
        ("[W1225 12:00:00.123456789 file.cpp:77] Warning: BODY", "WARNING", "file.cpp"),
        ("[rank0]:[W1225 12:00:00.123456789 file.cpp:77] BODY", "WARNING", "file.cpp"),
        ("[W 2024-01-01 09:32:11.123 ServerApp] BODY", "WARNING", "ServerApp"),
        ("[I 09:32:11.123 LabApp] BODY", "INFO", "LabApp"),
        ("W1225 12:00:00.123000 1234 torch/_dynamo/x.py:55] [0/0] BODY", "WARNING", "x.py"),
        ("V1225 12:00:00.123000 1 torch/x.py:5] [0/1_2] [__recompiles] BODY", "DEBUG", "x.py"),
        ("host-1:123:456 [0] NCCL INFO BODY", "INFO", "NCCL"),
        ("node7:123:456 [3] NCCL WARN BODY", "WARNING", "NCCL"),
        ("[rank1]: RuntimeError: BODY", "ERROR", "RuntimeError"),
        ("(train pid=4242) WARNING:absl:BODY", "WARNING", "absl"),
        ("> WARNING:absl:BODY", "WARNING", "absl"),
        ("`WARNING:absl:BODY`", "WARNING", "absl"),
        ("**2021-06-14 09:32:11.123456: W tensorflow/x.cc:12] BODY**", "WARNING", "x.cc"),
        ("tensorflow/stream_executor/cuda/cuda_driver.cc:859] BODY", None, "cuda_driver.cc"),
        ("581 computation_placer.cc:177] BODY", None, "computation_placer.cc"),
        (
            "[rank0]:[W403 11:42:02.380967152 ProcessGroupNCCL.cpp:1250] BODY",
            "WARNING",
            "ProcessGroupNCCL.cpp",
        ),
        ("STAGE:2023-11-17 11:25:32 12:12 Controller.cpp:312] BODY", "INFO", "Controller.cpp"),
        ("[libprotobuf FATAL google/protobuf/message_lite.cc:353] BODY", "FATAL", "message_lite.cc"),
        ("ERROR 04-01 23:46:56 [engine.py:160] BODY", "ERROR", "engine.py"),
        ("WARNING: tensorflow:BODY", "WARNING", "tensorflow"),
        ("numpy.core._exceptions._ArrayMemoryError: BODY", "ERROR", "_ArrayMemoryError"),
        ("  /p/f.py:3: UserWarning: BODY", "WARNING", "UserWarning"),
        ("BODY", None, None),
    ],
)
def test_the_prefix_of_a_line_gives_level_and_origin(line, level, origin):
    assert parsed(line) == [Message(line, "BODY", origin, level)]


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 1/3: loss 0.5",
        "INFO: starting",
        "key: value",
        "http://example.org: not found",
        "Error: nothing",
        "x = [W for W in words]",
        "[1]    4458 segmentation fault  python",
        "I am here] really",
        "*** a heading ***",
        "ERROR: numpy-1.18.5.whl is not a supported wheel on this platform.",
        "dyld: Library not loaded: @rpath/x.dylib",
        "libc++abi: terminating due to uncaught exception",
    ],
)
def test_what_only_looks_like_a_prefix_stays_in_the_body(line):
    assert parsed(line) == [Message(line, line)]


def test_an_empty_line_is_no_message():
    assert texts("\n \n\t\n") == []


def test_an_indented_line_belongs_to_the_native_message_above_it():
    text = "2021-06-14 09:32:11.123456: W tensorflow/x.cc:12] Out of range: End\n\t [[{{node Next}}]]"
    (message,) = parsed(f"{text}\nprinted\n")[:1]
    assert (message.text, message.body) == (text, "Out of range: End\n\t [[{{node Next}}]]")


def test_after_a_colon_lines_belong_to_the_native_message_until_one_is_known():
    text = "W tensorflow/x.cc:12] Error message: input 1:\ntype_id: TFT_OPTIONAL\nargs {\n}"
    assert texts(f"{text}\nsystemMemory: 64.00 GB") == [text, "systemMemory: 64.00 GB"]


def test_a_native_message_that_says_nothing_takes_the_lines_below():
    text = "2022-05-31 17:12:54.316188: E tensorflow/slow.cc:65] \n*****\n[Compiling module x]"
    assert texts(text) == [text]


def test_lines_that_the_catalogue_names_belong_to_their_message_even_if_they_are_known_alone():
    text = "I x/y.cc:1] This binary is optimized\nTo enable them in other operations, rebuild."
    assert texts(text) == [text]
    assert texts("printed\nTo enable them in other operations") == [
        "printed",
        "To enable them in other operations",
    ]


def test_a_known_line_without_prefix_takes_indented_lines():
    assert texts("Metal device set to: Apple M1\n  more of it\nprinted") == [
        "Metal device set to: Apple M1\n  more of it",
        "printed",
    ]


def test_after_an_empty_line_an_indented_one_is_a_message_of_its_own():
    assert texts("Metal device set to: Apple M1\n\n   a  b\n0  1  2") == [
        "Metal device set to: Apple M1",
        "   a  b",
        "0  1  2",
    ]


def test_an_unknown_line_without_prefix_takes_nothing():
    assert texts("printed\n  indented\n") == ["printed", "  indented"]


def test_a_traceback_is_one_message_read_at_its_last_line():
    text = (
        "Traceback (most recent call last):\n"
        '  File "a.py", line 1, in <module>\n    import nothing\n'
        "ModuleNotFoundError: No module named 'nothing'"
    )
    first, second = parsed(f"{text}\nprinted\n")
    assert (first.text, first.body, first.origin) == (
        text,
        "No module named 'nothing'",
        "ModuleNotFoundError",
    )
    assert second.text == "printed"


def test_a_chained_traceback_is_one_message():
    text = (
        "Traceback (most recent call last):\n  File 1\nKeyError: 'a'\n\n"
        "During handling of the above exception, another exception occurred:\n\n"
        "Traceback (most recent call last):\n  File 2\nValueError: bad"
    )
    first, second = parsed(text)
    assert (first.origin, first.body) == ("KeyError", "'a'")
    assert (second.origin, second.body) == ("ValueError", "bad")
    assert "\n".join([first.text, "", second.text]) == text


def test_a_traceback_may_end_with_a_bare_exception():
    (message,) = parsed("Traceback (most recent call last):\n  File 1\nKeyboardInterrupt\n")
    assert (message.origin, message.body) == ("KeyboardInterrupt", "KeyboardInterrupt")


def test_a_native_line_within_a_traceback_is_not_its_end():
    native = "2021-06-14 09:32:11.123456: I tensorflow/x.cc:12] hello"
    found = parsed(f"Traceback (most recent call last):\n  File 1\n{native}\n")
    assert [message.origin for message in found] == [None, "x.cc"]


def test_the_source_line_of_a_warning_belongs_to_it():
    text = "/p/f.py:3: UserWarning: End of sequence\n  warnings.warn('x')"
    assert parsed(text)[0].body == "End of sequence"


def test_a_message_in_the_middle_of_a_line_begins_anew():
    native = "2021-06-14 09:32:11.123456: I tensorflow/x.cc:12] hello"
    assert texts(f"100/100 [====] - 1s - loss: 0.5{native}") == ["100/100 [====] - 1s - loss: 0.5", native]
    assert texts(f"{native}{native}") == [native, native]
    assert texts(" 5%|5/100 [00:01]Traceback (most recent call last):\n  File\nKeyError: 1")[1:] == [
        "Traceback (most recent call last):\n  File\nKeyError: 1"
    ]
    warning = "/p/conv.py:456: UserWarning: Applied workaround"
    assert texts(f"  0%|    | 0/203 [00:00<?, ?it/s]{warning}")[1:] == [warning]
    assert texts("step 3 WARNING:tensorflow:slow") == ["step 3 ", "WARNING:tensorflow:slow"]


def test_a_warning_whose_first_line_is_empty_says_what_stands_below():
    (message,) = parsed("/p/f.py:3: UserWarning: \nMetal device set to: M1\n  warnings.warn(x)")
    assert message.body == "Metal device set to: M1\n  warnings.warn(x)"


def test_python_code_that_prints_its_prefix_before_each_line_has_written_one_message():
    prefix = "E1121 12:03:51.709000 745 torch/_inductor/select.py:3541] [0/0] "
    lines = [prefix + text for text in ("no valid configs", "Traceback (most recent call last):", "  File x")]
    later = lines[0].replace("51.709", "51.816")
    assert texts("\n".join([*lines, later])) == ["\n".join(lines), later]


def test_a_message_that_another_one_reports_is_known_as_itself():
    def known(line: str) -> list[str | None]:
        return [found and found.id for _, found in messages([line.encode()], CATALOGUE)]

    assert known("ERROR 04-01 23:46:56 [engine.py:160] x.ModuleNotFoundError: No module named 'a'") == [
        "missing"
    ]
    assert known("ModuleNotFoundError (see above for traceback): No module named 'a'") == ["missing"]
    assert known("WARNING: Metal device set to: M1") == ["set"]
    assert known("ModuleNotFoundError is what it said: No module named 'a'") == [None]


def test_states_of_a_progress_bar_are_marked_and_belong_to_nothing():
    found = parsed("W tensorflow/x.cc:1] Devices:\n 10%\r 20%\rdone\n")
    assert [(message.text, message.overwritten) for message in found[:3]] == [
        ("W tensorflow/x.cc:1] Devices:", False),
        (" 10%", True),
        (" 20%", True),
    ]


def test_the_allocators_dump_is_one_message_without_its_chunks():
    def line(body: str, level: str = "I") -> str:
        return (
            f"2021-06-14 09:32:11.123456: {level} tensorflow/core/common_runtime/bfc_allocator.cc:99] {body}"
        )

    chunks = [line(f"InUse at 7f{number:06x} of size 256 next {number}") for number in range(400)]
    dump = [line("BFCAllocator dump for GPU_0_bfc"), *chunks, line("Stats: ")]
    stats = ["Limit:           7023887104", "InUse:           6871947674", "MaxInUse:        6971947674"]
    after = line("****____***x", "W")
    (message,) = [
        message for message, _ in messages(["\n".join([*dump, *stats, "", after]).encode()], Catalogue.load())
    ]
    assert message.text.endswith("[380 more lines of chunks not kept]")
    known = Catalogue.load().explain(message)
    assert known is not None
    assert known.fields == {
        "allocator": "GPU_0_bfc",
        "limit": 7023887104,
        "in_use": 6871947674,
        "peak": 6971947674,
    }


def test_a_message_has_a_bounded_number_of_lines():
    text = "W tensorflow/x.cc:1] Devices:\n" + "  of one kind\n" * (MAX_LINES + 5)
    first, *others = parsed(text)
    assert first.text.count("\n") == MAX_LINES - 1
    assert len(others) == 6


def test_a_pattern_with_sources_matches_messages_from_there_only():
    found = messages(
        [b"W a/op_kernel.cc:1] End of sequence\nW a/other.cc:1] End of sequence\nEnd of sequence\n"],
        CATALOGUE,
    )
    assert [known.id if known else None for _, known in found] == ["from-op", None, None]


def test_lines_that_only_seem_to_belong_do_not_hide_a_message():
    exact = Catalogue([definition("exact", ["Starting new session{end}"])])
    text = b"I x/y.cc:1] Starting new session\n   accuracy  loss\n"
    assert [known.id for _, known in messages([text], exact) if known] == ["exact"]


def test_a_parser_gives_a_message_out_when_the_next_one_begins():
    parser = Parser(CATALOGUE)
    assert parser.push("W tensorflow/x.cc:1] first") == []
    assert [message.body for message in parser.push("W tensorflow/x.cc:1] second")] == ["first"]
    assert [message.body for message in parser.finish()] == ["second"]
    assert parser.finish() == []


@pytest.mark.parametrize(
    "text",
    [
        "I " + "a" * 60_000,
        "I " + "a." * 30_000,
        "I " + "a/" * 30_000,
        "W0000 00:00:1755238054.678694 " + "1 " * 30_000,
        "[W " + "a.cpp" * 12_000,
        "A" * 60_000 + ":",
        "a." * 30_000 + "A",
        "x:1: " * 12_000,
        "`*>" * 20_000,
        "WARNING:" * 7_000,
        "I tensorflow/" * 4_000,
        "2021-06-14 09:32:11.123456: I " * 2_000,
        "] " * 30_000,
        "Traceback (most recent call last):" * 1_800,
    ],
    ids=lambda text: text[:12],
)
def test_no_line_takes_long_to_read(text):
    parsed("I tensorflow/x.cc:1] warm\n")
    started = time.process_time()
    parsed(text)
    assert time.process_time() - started < 1
