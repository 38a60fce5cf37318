"""Every native line is in the record of the cell in which it came, and is shown where it belonged."""

import json

import pytest

from jupyter_mlgpu.explain.logs.fold import KINDS
from jupyter_mlgpu.record.record import STILL_READING
from tests.support.kernels import MIME_TYPE
from tests.support.reading import receipt_as_read
from tests.support.waiting import until

pytestmark = pytest.mark.kernel

# ipykernel turns its own capture off under pytest; a kernel of a user's has it on.
USERS = {"PYTEST_CURRENT_TEST": None}
BOTH = pytest.mark.parametrize(
    "environment", [USERS, {}], ids=["ipykernel's capture on", "ipykernel's capture off"]
)


def texts(result):
    return [line["text"] for line in result.receipt["logs"]]


def records(notebook):
    """All records of the kernel, as a browser would get them, when nothing moves any more."""
    return notebook.ask("jupyter_mlgpu_snapshot_request")["records"]


def whole(notebook):
    """The last record, when all its lines have been read."""
    until(lambda: STILL_READING not in records(notebook)[-1]["notes"])
    return records(notebook)[-1]


@BOTH
def test_a_line_written_to_either_descriptor_is_in_the_cells_record(reload_kernel, environment):
    notebook = reload_kernel(**environment)
    result = notebook.run(r'import os; os.write(2, b"to two\n"); os.write(1, b"to one\n");')
    assert sorted((line["stream"], line["text"]) for line in result.receipt["logs"]) == [
        ("stderr", "to two"),
        ("stdout", "to one"),
    ]
    assert all(line["verdict"] == "unknown" and line["id"] is None for line in result.receipt["logs"])
    assert not any(line["late"] for line in result.receipt["logs"])


def test_a_line_is_shown_under_its_cell_and_in_order_with_prints(reload_kernel):
    notebook = reload_kernel(**USERS)
    result = notebook.run(
        'import os\nfor n in range(50):\n    print("print", n)\n    os.write(1, b"native %d\\n" % n)'
    )
    shown = result.text.splitlines()
    assert [line for line in shown if not line.startswith("[mlgpu]")] == [
        f"{kind} {n}" for n in range(50) for kind in ("print", "native")
    ]


def test_prints_are_no_native_lines(reload_kernel):
    result = reload_kernel(**USERS).run('import sys; print("out"); print("err", file=sys.stderr)')
    assert result.receipt["logs"] == []


def test_a_known_line_is_explained(reload_kernel):
    result = reload_kernel(**USERS).run(r'import os; os.write(2, b"Metal device set to: Apple M1 Max\n");')
    (line,) = result.receipt["logs"]
    assert (line["id"], line["verdict"]) == ("metal-device-set", "info")
    assert "Apple M1 Max" in line["meaning"]
    assert result.receipt["facts"]["gpu_name"]["value"] == "Apple M1 Max"


def test_a_line_without_an_end_is_still_its_cells(reload_kernel):
    notebook = reload_kernel(**USERS)
    assert texts(notebook.run(r'import os; os.write(2, b"no end");')) == ["no end"]
    assert texts(notebook.run(r'os.write(2, b"another\n");')) == ["another"]


@pytest.mark.parametrize("cells", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_each_of_many_cells_has_the_line_it_printed_at_its_very_end(reload_kernel, cells):
    notebook = reload_kernel(**USERS)
    notebook.run("import os")
    wrong = []
    for number in range(cells):
        result = notebook.run(rf'os.write(2, b"end of cell {number}\n");')
        if texts(result) != [f"end of cell {number}"]:
            wrong.append((number, texts(result)))
    assert wrong == []


@BOTH
def test_a_line_between_two_cells_belongs_to_neither_and_is_marked_late(reload_kernel, environment):
    notebook = reload_kernel(**environment)
    notebook.run(
        "import os, threading, time\n"
        "def later():\n"
        "    while not os.path.exists('go'): time.sleep(0.01)\n"
        "    os.write(2, b'from a thread\\n')\n"
        "threading.Thread(target=later).start()"
    )
    first = notebook.run("1")
    assert first.receipt["logs"] == []
    (notebook.folder / "go").touch()
    until(lambda: records(notebook)[-1]["logs"])
    second = notebook.run("pass")
    assert second.receipt["logs"] == []
    late = records(notebook)[1]["logs"]
    assert [(line["text"], line["late"]) for line in late] == [("from a thread", True)]


def test_a_child_process_that_outlives_its_cell_is_heard_as_late(reload_kernel):
    notebook = reload_kernel(**USERS)
    result = notebook.run(
        "import os, subprocess, time\n"
        "writes = 'echo at once >&2; touch said; until [ -e go ]; do sleep 0.05; done; echo afterwards >&2'\n"
        "child = subprocess.Popen(['sh', '-c', writes])\n"
        "while not os.path.exists('said'): time.sleep(0.01)"
    )
    assert texts(result) == ["at once"]
    (notebook.folder / "go").touch()
    until(lambda: len(records(notebook)[0]["logs"]) == 2)
    assert records(notebook)[0]["logs"][1]["text"] == "afterwards"
    assert records(notebook)[0]["logs"][1]["late"]


def test_twenty_megabytes_written_under_pythons_lock_are_all_counted_and_shown(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run("import ctypes; write = ctypes.PyDLL(None).write; block = (b'x' * 144 + b'\\n') * 1000")
    result = notebook.run("for _ in range(140): write(2, block, len(block))")
    assert result.status == "ok"
    assert sum(line["count"] for line in whole(notebook)["logs"]) == 140_000
    assert result.text.count("\n") == 140_000


def test_a_model_built_at_the_highest_verbosity_does_not_hang_the_kernel(start_kernel):
    notebook = start_kernel(**USERS, TF_CPP_MAX_VLOG_LEVEL="3")
    result = notebook.run(
        "import keras\n"
        "model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(4), keras.layers.Dense(1)])\n"
        "model(__import__('numpy').ones((2, 8)))",
        timeout=300,
    )
    assert result.status == "ok"
    assert sum(line["count"] for line in whole(notebook)["logs"]) > 1_000


def test_logging_and_warnings_come_with_their_level(reload_kernel):
    result = reload_kernel(**USERS).run(
        "import logging, warnings\n"
        "logging.getLogger('absl').warning('from a logger')\n"
        "logging.getLogger('absl').warning(\n"
        "    'At this time, the v2.11+ optimizer `tf.keras.optimizers.Adam` runs slowly on M1/M2 Macs, '\n"
        "    'please use the legacy Keras optimizer instead')\n"
        "warnings.warn('from a warning')"
    )
    assert result.receipt["logs"][1]["verdict"] == "performance"
    found = {line["stream"]: line for line in reversed(result.receipt["logs"])}
    assert found["logging"]["text"] == "WARNING:absl:from a logger"
    assert "UserWarning: from a warning" in found["warnings"]["text"]


def test_off_puts_everything_back_exactly(start_kernel):
    notebook = start_kernel(extension=False, **USERS)
    sample = (
        "import os, sys, logging, warnings\n"
        "state = [os.fstat(1).st_ino, os.fstat(2).st_ino, sys.stdout.write.__qualname__,\n"
        "         sys.stderr.write.__qualname__, logging.Logger.callHandlers.__qualname__,\n"
        "         warnings.showwarning.__qualname__]\n"
        "state"
    )

    def state():
        return [data["text/plain"] for kind, data in notebook.run(sample).outputs if kind == "execute_result"]

    before = state()
    notebook.run("%load_ext jupyter_mlgpu")
    assert state() != before
    notebook.run("%mlc_trace off")
    assert state() == before
    notebook.run("%mlc_trace on")
    assert state() != before
    notebook.run("%unload_ext jupyter_mlgpu")
    assert state() == before


def test_a_line_of_one_traced_cell_is_captured_while_tracing_is_off(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run("%mlc_trace off")
    result = notebook.run('%%mlc_trace\nimport os; os.write(2, b"one cell\\n");')
    assert texts(result) == ["one cell"]
    assert notebook.run(r'os.write(2, b"not traced\n");').receipts == []


def test_a_forked_child_prints_as_without_us_and_the_parent_lives(start_kernel):
    notebook = start_kernel(**USERS)
    result = notebook.run(
        "import multiprocessing, os\n"
        "def work():\n    os.write(2, b'from the child\\n')\n    print('printed by the child')\n"
        "child = multiprocessing.get_context('fork').Process(target=work)\n"
        "child.start(); child.join(); print(child.exitcode)"
    )
    assert "printed by the child" in result.text
    assert "0" in result.text.splitlines()
    assert texts(notebook.run(r'os.write(2, b"parent\n");')) == ["parent"]


@pytest.mark.parametrize(
    ("code", "kept"),
    [
        (r'b"caf\xe9\n"', "caf\\xe9"),
        (r'b"a\x00b\n"', "a\x00b"),
        (r'b"\x1b[31mred\x1b[0m\n"', "red"),
        (r'b"<script>alert(1)</script>\n"', "<script>alert(1)</script>"),
    ],
    ids=["not UTF-8", "NUL", "ANSI codes", "HTML"],
)
def test_odd_bytes_are_kept(plain, code, kept):
    assert texts(plain.run(f"import os; os.write(2, {code});")) == [kept]


def test_fifty_megabytes_on_one_line_are_shown_and_what_is_not_kept_is_said(reload_kernel):
    notebook = reload_kernel(**USERS)
    result = notebook.run("import os; os.write(2, b'x' * 50_000_000 + b'\\n');", timeout=180)
    assert result.status == "ok"
    assert result.text.count("x") >= 50_000_000
    record = whole(notebook)
    (line,) = record["logs"]
    assert len(line["text"]) < 100_000
    assert record["notes"] == ["1 line was too long to keep whole: 49,991,808 bytes were left out."]


def test_of_writers_that_interleave_every_line_is_counted_and_shown(reload_kernel):
    notebook = reload_kernel(**USERS)
    result = notebook.run(
        "import os, subprocess, sys, threading\n"
        "def write(k):\n    for n in range(5000): os.write(2, b'writer %d line %d\\n' % (k, n))\n"
        "child = \"import os\\nfor n in range(5000): os.write(2, b'child line %d\\\\n' % n)\"\n"
        "children = [subprocess.Popen([sys.executable, '-c', child]) for _ in range(2)]\n"
        "threads = [threading.Thread(target=write, args=(k,)) for k in range(4)]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"
        "for one in children: one.wait()"
    )
    assert result.status == "ok"
    assert result.text.count(" line ") == 30_000
    # The receipt is cut to its size, and says so; the record has all.
    assert sum(line["count"] for line in whole(notebook)["logs"]) == 30_000


def test_a_progress_bar_is_one_line_and_hides_nothing_after_it(reload_kernel):
    notebook = reload_kernel(**USERS)
    result = notebook.run(
        "import os\n"
        "for n in range(300): os.write(2, b'\\r%3d%%|####| %d/300' % (n // 3, n))\n"
        "_ = os.write(2, b'\\nMetal device set to: Apple M1\\n')"
    )
    assert [(line["id"], line["count"]) for line in result.receipt["logs"]] == [
        (None, 299),
        (None, 1),
        ("metal-device-set", 1),
    ]


def test_a_descriptor_closed_by_the_user_is_said_and_the_kernel_lives(start_kernel):
    notebook = start_kernel(**USERS)
    result = notebook.run("import os; os.close(2); print('still here')")
    assert "still here" in result.text
    assert any("closed or redirected file descriptor 2 (stderr)" in note for note in result.receipt["notes"])
    assert notebook.run("1 + 1").status == "ok"


def test_the_users_exception_is_its_own_and_its_lines_are_kept(plain):
    result = plain.run('import os; os.write(2, b"before\\n"); 1/0')
    assert result.error == "ZeroDivisionError: division by zero"
    assert texts(result) == ["before"]


def test_live_lines_reach_the_browser_while_the_cell_runs(reload_kernel):
    notebook = reload_kernel(**USERS)
    message = notebook.send(
        "import os, time\n"
        "os.write(2, b'Metal device set to: Apple M1 Max\\n')\n"
        "while not os.path.exists('go'): time.sleep(0.01)"
    )

    def live():
        return [
            line
            for delta in notebook.deltas()
            for event in delta["events"]
            if event["type"] == "logs"
            for line in event["lines"]
        ]

    until(live)
    assert live()[0]["id"] == "metal-device-set"
    running = notebook.ask("jupyter_mlgpu_snapshot_request")["running"]
    assert running["logs"][0]["text"] == "Metal device set to: Apple M1 Max"
    (notebook.folder / "go").touch()
    assert notebook.wait(message).status == "ok"


def test_the_logs_command_explains_shows_raw_lines_and_writes_json(reload_kernel):
    notebook = reload_kernel(**USERS)
    written = notebook.run(r'import os; os.write(2, b"Metal device set to: Apple M1 Max\nplain\n");')
    explained = notebook.run("%mlc_trace logs").text
    assert "info" in explained
    assert "| Metal device set to: Apple M1 Max" in explained
    assert "not known" in explained
    raw = notebook.run("%mlc_trace logs --raw").text
    assert "Metal device set to: Apple M1 Max\nplain" in raw
    lines = [json.loads(line) for line in notebook.run("%mlc_trace logs --json").text.splitlines()]
    assert [line["id"] for line in lines] == ["metal-device-set", None]
    assert (lines[0]["cell"], lines[0]["record"]) == (written.execution_count, 1)


def test_verbose_sets_what_a_framework_reads_and_unloading_takes_it_back(reload_kernel):
    notebook = reload_kernel(**USERS)
    said = notebook.run("%mlc_trace verbose on").text
    assert "TF_CPP_VMODULE" in said
    assert notebook.run("import os; print(os.environ['TF_CPP_VMODULE'])").text.startswith("execute=1")
    notebook.run("%unload_ext jupyter_mlgpu")
    assert notebook.run("print('TF_CPP_VMODULE' in os.environ)").text == "False\n"


#: Lines of which no two have the same shape.
VARIED = """
import os
letters = "abcdefghijklmnopqrstuvwxyz"
for n in range(20_000):
    name = letters[n % 26] + letters[n // 26 % 26] + letters[n // 676 % 26] + letters[n // 17_576]
    os.write(2, f"warning {name}: something happened\\n".encode())
"""


def test_many_lines_are_read_after_their_cell_and_its_receipt_is_completed(reload_kernel):
    notebook = reload_kernel(**USERS)
    result = notebook.run(VARIED)
    assert STILL_READING in result.receipt["notes"]
    update = notebook.hear_until(lambda message: message["msg_type"] == "update_display_data")
    whole = receipt_as_read(update["content"]["data"][MIME_TYPE])
    assert whole["cell"]["sequence"] == result.receipt["cell"]["sequence"]
    assert STILL_READING not in whole["notes"]
    record = next(one for one in records(notebook) if one["cell"] == whole["cell"])
    assert len(record["logs"]) == KINDS
    assert (
        f"{20_000 - KINDS:,} more messages were not kept: there were too many different ones."
        in record["notes"]
    )


def test_a_command_of_ours_waits_until_all_lines_are_read(reload_kernel):
    notebook = reload_kernel(**USERS)
    cell = notebook.run(VARIED).receipt["cell"]
    saved = notebook.folder / "records.jsonl"
    notebook.run(f"%mlc_trace save {saved}")
    found = map(json.loads, saved.read_text().splitlines())
    record = next(one for one in found if one["cell"]["sequence"] == cell["sequence"])
    assert len(record["logs"]) == KINDS


def test_a_cell_that_begins_meanwhile_has_its_own_lines_and_no_others(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run(VARIED)
    assert texts(notebook.run(r'os.write(2, b"mine\n");')) == ["mine"]


def test_lines_of_a_command_of_ours_belong_to_no_record(reload_kernel):
    notebook = reload_kernel(**USERS)
    notebook.run("import os\n_ = 1 + 1")
    notebook.run("%mlc_trace status\n%mlc_device {os.write(2, b'TensorFlow woke up') and 'status'}")
    notebook.run("_ = 1 + 1")
    known = records(notebook)
    assert [texts for record in known if (texts := [line["text"] for line in record["logs"]])] == []


#: IPython's history is a file that grows and would meet the limit first: it is written now, then no more.
LIMIT = """
import os, resource, subprocess
before = resource.getrlimit(resource.RLIMIT_FSIZE)
history = get_ipython().history_manager
history.db_cache_size = 1000
history.writeout_cache()
"""


def test_a_limit_on_the_size_of_files_holds_for_no_line(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(LIMIT)
    notebook.run(r'os.write(1, b"before the limit\n" * 200);')
    result = notebook.run(
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))\n"
        "answers = subprocess.run(['seq', '1001', '1500']).returncode, os.write(2, b'also I\\n')"
    )
    notebook.run("resource.setrlimit(resource.RLIMIT_FSIZE, before)")
    assert notebook.evaluate("answers") == (0, 7)
    assert set(map(str, range(1001, 1501))) <= set(result.text.split())
    record = next(one for one in records(notebook) if one["cell"] == result.receipt["cell"])
    assert sum(line["count"] for line in record["logs"]) == 501


def test_a_child_with_a_limit_of_its_own_lives(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run(LIMIT)
    notebook.run(
        "few = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))\n"
        "answer = subprocess.run(['seq', '1', '500'], preexec_fn=few).returncode"
    )
    assert notebook.evaluate("answer") == 0
