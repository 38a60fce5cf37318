"""Times per operation in a real kernel: whatever the cell does, the profiler is off after it."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import pytest

from tests.support.later import Later

pytestmark = pytest.mark.kernel

jsonschema = Later("jsonschema")

SCHEMA = json.loads(files("jupyter_mlgpu").joinpath("record/record.schema.json").read_text())
OFF = "import tensorflow as tf\ntf.profiler.experimental.start('')\ntf.profiler.experimental.stop(save=False)"
FITTED = (
    "import keras\n"
    "model = keras.Sequential([keras.layers.Dense(8, activation='relu'), keras.layers.Dense(1)])\n"
    "model.compile('adam', 'mse', jit_compile=False)\n"
    "model.fit(x, x[:, :1], verbose=0)"
)


@pytest.fixture
def tensorflow(two_cpus):
    """Two devices and a function; after each test the profiler is off, and no file of ours is left."""
    prepared = two_cpus.run(
        "import os, tempfile, time\n"
        "x = tf.ones((64, 64))\n"
        "@tf.function\n"
        "def product(x): return tf.reduce_sum(tf.sin(x) @ x)\n"
        "product(x)\n"
        "def ours(): return [n for n in os.listdir(tempfile.gettempdir()) if n.startswith('jupyter_mlgpu-')]"
    )
    assert prepared.status == "ok", prepared
    yield two_cpus
    assert two_cpus.run(OFF).status == "ok", "the profiler was left on"
    assert two_cpus.run("print(ours())").text == "[]\n"


def counts(receipt) -> dict[str, int]:
    return {row["name"]: row["count"] for row in receipt["ops"]}


def wait_for_output(notebook) -> None:
    while notebook.client.get_iopub_msg(timeout=60)["msg_type"] != "stream":
        pass


def test_eager_operations_are_counted(tensorflow):
    result = tensorflow.run("%%mlc_trace --ops\nfor _ in range(3): tf.nn.relu(x)\nprint('mine')\n6 * 7")
    assert result.text == "mine\n"
    assert [kind for kind, _ in result.outputs] == ["stream", "execute_result", "display_data"]
    assert counts(result.receipt)["Relu (eager)"] == 3
    jsonschema.validate(result.receipt, SCHEMA)


def test_the_operations_of_a_graph_are_counted(tensorflow):
    receipt = tensorflow.run("%%mlc_trace --ops\nfor _ in range(4): product(x)").receipt
    assert (counts(receipt)["Sin"], counts(receipt)["Sum"]) == (4, 4)
    assert receipt["mode"] == "profiled"
    assert sum(row["share"] for row in receipt["ops"]) == pytest.approx(1)


def test_a_keras_fit_is_profiled_batch_by_batch(tensorflow):
    """All of its operations are in the kernel's record: the receipt holds the longest ones, for its size."""
    assert tensorflow.run(FITTED).status == "ok"
    receipt = tensorflow.run("%%mlc_trace --ops\nmodel.fit(x, x[:, :1], batch_size=16, verbose=0);").receipt
    assert receipt["device"]["ran_on"][0]["device"] == "cpu:0"
    products = tensorflow.run(
        "import jupyter_mlgpu\n"
        "print(*(row.count for row in jupyter_mlgpu.records()[-1].ops if 'MatMul' in row.name))"
    ).text.split()
    assert set(products) == {"4"}, "64 rows in batches of 16, so each product 4 times"


def test_the_time_is_never_shown_as_a_timing(tensorflow):
    result = tensorflow.run("%%mlc_trace --ops\nproduct(x);")
    shown = next(data for kind, data in result.outputs if kind == "display_data")["text/plain"]
    assert shown.startswith("[mlgpu] profiled: ")
    assert "with the profiler on" in shown.splitlines()[0]
    assert "no timing of the cell" in shown
    row = tensorflow.run("%mlc_trace show").text.splitlines()[-1]
    assert re.search(r"\] +profiled +profiled ", row), row  # a column is as wide as its longest time


def test_a_cell_that_raises_keeps_its_exception_and_its_profile(tensorflow):
    result = tensorflow.run("%%mlc_trace --ops\nproduct(x)\nraise ValueError('mine')")
    assert result.error == "ValueError: mine"
    assert result.receipt["outcome"] == "error"
    assert counts(result.receipt)["Sin"] == 1


def test_a_cell_that_is_interrupted_keeps_its_profile(tensorflow):
    message = tensorflow.send("%%mlc_trace --ops\nproduct(x)\nprint('started', flush=True)\ntime.sleep(60)")
    wait_for_output(tensorflow)
    tensorflow.manager.interrupt_kernel()
    result = tensorflow.wait(message)
    assert result.error == "KeyboardInterrupt: "
    assert result.receipt["outcome"] == "interrupted"
    assert counts(result.receipt)["Sin"] == 1


def test_a_cell_may_await_under_the_profiler(tensorflow):
    result = tensorflow.run("%%mlc_trace --ops\nimport asyncio\nawait asyncio.sleep(0)\nproduct(x);")
    assert result.status == "ok"
    assert counts(result.receipt)["Sin"] == 1


def test_a_profiler_of_the_users_own_is_left_running(tensorflow, tmp_path):
    tensorflow.run(f"tf.profiler.experimental.start({str(tmp_path)!r})")
    result = tensorflow.run("%%mlc_trace --ops\nproduct(x);")
    assert result.receipt["ops"] == []
    assert result.receipt["mode"] == "profiled"
    assert "ours was not started" in result.receipt["notes"][0]
    assert tensorflow.run("tf.profiler.experimental.stop()").status == "ok"
    assert list(tmp_path.rglob("*.xplane.pb"))


def test_the_tensorboard_callback_in_the_cell_gets_its_profile_and_ours_gives_way(tensorflow, tmp_path):
    tensorflow.run(FITTED)
    result = tensorflow.run(
        "%%mlc_trace --ops\n"
        "product(x)\n"
        f"board = keras.callbacks.TensorBoard({str(tmp_path)!r}, profile_batch=(2, 3))\n"
        "model.fit(x, x[:, :1], batch_size=8, verbose=0, callbacks=[board]);"
    )
    assert result.status == "ok", result
    assert list(tmp_path.rglob("*.xplane.pb"))
    assert any("started its own profiler" in note for note in result.receipt["notes"])
    assert counts(result.receipt)["Sin"] == 1
    # After a trace TensorFlow goes on collecting graphs, with us or without.
    tensorflow.run(
        "from tensorflow.python.eager import context\ncontext.context().disable_graph_collection()"
    )


@pytest.mark.slow
def test_a_framework_imported_in_the_cell_is_profiled_from_there(start_kernel):
    notebook = start_kernel()
    result = notebook.run("%%mlc_trace --ops\nimport tensorflow as tf\ntf.nn.relu(tf.ones(3));")
    assert counts(result.receipt)["Relu (eager)"] == 1


def test_with_repeat_there_is_one_output_and_one_receipt_of_all_runs(tensorflow):
    result = tensorflow.run("%%mlc_trace --ops --repeat 3\nproduct(x)\nprint('mine')\n6 * 7")
    assert result.text == "mine\n"
    assert [kind for kind, _ in result.outputs] == ["stream", "execute_result", "display_data"]
    assert result.receipt["mode"] == "profiled"
    assert counts(result.receipt)["Sin"] == 1
    told = result.receipt["repeat"]
    assert (told["number"], told["of"], len(told["walls"])) == (4, 3, 4)
    jsonschema.validate(result.receipt, SCHEMA)
    shown = next(data for kind, data in result.outputs if kind == "display_data")
    for drawn in (shown["text/plain"], shown["text/html"]):
        assert ", median of 3 runs" in drawn
        assert "Timing, median of 3 light runs: " in drawn
        assert "Everything else here is from one more run, with the profiler on." in drawn
    assert not shown["text/plain"].startswith("[mlgpu] profiled")
    assert "with the profiler on" not in shown["text/plain"].splitlines()[0]


def test_the_runs_of_a_repeated_cell_are_records_that_can_be_named(tensorflow):
    result = tensorflow.run("%%mlc_trace --ops --repeat 2\nproduct(x);")
    number = result.execution_count
    rows = [line.split() for line in tensorflow.run("%mlc_trace show").text.splitlines()[-4:]]
    assert [row[0] for row in rows] == [f"[{number}.{turn}]" for turn in range(4)]
    assert "warm-up" in " ".join(rows[0])
    assert rows[3][1] == "profiled"
    said = tensorflow.run(f"%mlc_trace why {number}").text
    assert f"choose {number}.0, {number}.1, {number}.2, {number}.3." in said
    assert tensorflow.run(f"%mlc_trace why {number}.3").status == "ok"


def test_what_is_done_once_is_in_the_run_that_warms_up_and_not_in_the_timing(plain):
    plain.run(
        "from jupyter_mlgpu.testing import FakeClock\n"
        "recorder = get_ipython()._jupyter_mlgpu.runtime.recorder\n"
        "system, recorder.clock, compiled = recorder.clock, FakeClock(), set()",
        silent=True,
    )
    cell = "recorder.clock.advance(1 if 'it' in compiled else 100)\ncompiled.add('it')"
    result = plain.run(f"%%mlc_trace --ops --repeat 2\n{cell}")
    plain.run("recorder.clock = system\ndel FakeClock, recorder, system, compiled", silent=True)
    assert result.receipt["repeat"]["walls"] == [100, 1, 1]
    (shown,) = [data["text/plain"] for kind, data in result.outputs if kind == "display_data"]
    assert "warm-up 1 min 40 s · runs 1 s | 1 s\n" in shown
    assert "Timing, median of 2 light runs: 1 s (1 s to 1 s). " in shown
    assert shown.startswith("[mlgpu] 1 s, median of 2 runs")


def test_repeats_find_what_the_run_before_left_and_the_first_ones_output_is_the_cells(plain):
    plain.run("count = 0")
    result = plain.run("%%mlc_trace --ops --repeat 2\ncount += 1\ncount")
    assert [data["text/plain"] for kind, data in result.outputs if kind == "execute_result"] == ["1"]
    assert plain.run("print(count)").text == "4\n"
    assert "could not be profiled" in str(result.outputs)


def test_log_lines_of_all_runs_stand_in_the_one_receipt(plain):
    result = plain.run(
        "%%mlc_trace --ops --repeat 1\nimport os\nos.write(2, b'Metal device set to: Apple M1 Max\\n');"
    )
    (line,) = result.receipt["logs"]
    assert line["id"] == "metal-device-set"


def test_a_repeated_cell_that_raises_shows_its_own_exception_once_and_stops(plain):
    plain.run("count = 0")
    result = plain.run("%%mlc_trace --ops --repeat 5\ncount += 1\n1 / (2 - count)")
    assert result.status == "error"
    assert [data for kind, data in result.outputs if kind == "error"] == [
        "ZeroDivisionError: division by zero"
    ]
    assert result.receipt["outcome"] == "error"
    assert len(result.receipt["repeat"]["walls"]) == 1
    assert "run 2 of 7" in result.text
    assert plain.run("undefined").error == "NameError: name 'undefined' is not defined"


def test_what_a_failing_run_has_printed_stands_above_its_traceback(plain):
    plain.run("count = 0")
    result = plain.run("%%mlc_trace --ops --repeat 5\ncount += 1\nprint('run', count)\n1 / (3 - count)")
    assert result.text.startswith("run 1\nrun 3\n")
    kinds = [kind for kind, _ in result.outputs]
    assert kinds.index("error") > kinds.index("stream")


def test_a_repeated_cell_that_is_interrupted_stops(plain):
    message = plain.send("%%mlc_trace --ops --repeat 5\nimport time\nprint('on', flush=True)\ntime.sleep(60)")
    wait_for_output(plain)
    plain.manager.interrupt_kernel()
    result = plain.wait(message)
    assert result.error == "KeyboardInterrupt: "
    assert result.receipt["outcome"] == "interrupted"
    assert plain.run("1").receipt["outcome"] == "ok"


def test_a_repeated_cell_is_measured_also_while_tracing_is_off(plain):
    plain.run("%mlc_trace off")
    assert len(plain.run("%%mlc_trace --ops --repeat 1\n1").receipts) == 1
    assert len(plain.run("%mlc_trace show").text.splitlines()) >= 1 + 3
    assert plain.run("1").receipts == []
    plain.run("%mlc_trace on")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%%mlc_trace --opps", "Unknown word '--opps' after %%mlc_trace"),
        ("%%mlc_trace --repeat 3", "--repeat requires --ops"),
        ("%%mlc_trace --ops --repeat none", "--repeat takes a whole number from 1 to 1,000"),
        ("%%mlc_trace --opps\n%%time", "Unknown word '--opps' after %%mlc_trace"),
        ("%%mlc_device cpu\n%%mlc_trace --ops", "put it above everything else"),
        ("%%mlc_trace --ops --repeat 2\nawait sleep()", "--repeat cannot run a cell with `await`"),
    ],
)
def test_a_mistyped_word_is_told_before_the_cell_runs(plain, line, words):
    result = plain.run(f"{line}\nprint('it ran')")
    assert result.status == "error"
    assert words in result.text
    assert "it ran" not in result.text
    assert "Traceback" not in result.text
    # Where its own first line is refused, there is nothing to measure.
    assert result.receipts == [] or line.startswith("%%mlc_device")


def test_a_profiler_that_fails_inside_us_costs_the_profile_and_the_cell_runs(start_kernel):
    notebook = start_kernel()
    notebook.run(
        "import tensorflow as tf\n"
        "from jupyter_mlgpu.measure.frameworks.tensorflow.profiler import TensorFlowSession\n"
        "def broken(self): raise RuntimeError('planted')\n"
        "TensorFlowSession._read = broken"
    )
    result = notebook.run("%%mlc_trace --ops\ntf.ones(3)\nprint('mine')")
    assert result.status == "ok"
    assert result.text == "mine\n"
    assert "The tensorflow profile was lost (RuntimeError: planted)." in result.receipt["notes"][0]
    assert notebook.run(OFF).status == "ok"


@pytest.mark.slow
def test_a_full_disk_costs_the_profile_and_the_cell_runs(start_kernel, tmp_path):
    folder = tmp_path / "temporary"
    folder.mkdir()
    notebook = start_kernel(TMPDIR=str(folder))
    notebook.run("import tensorflow as tf, tempfile\ntempfile.tempdir = '/proc'")
    result = notebook.run("%%mlc_trace --ops\ntf.ones(3)\nprint('mine')")
    assert result.text == "mine\n"
    assert result.receipt["mode"] == "light"
    assert "TensorFlow's profiler needs a temporary folder" in result.receipt["notes"][0]


@pytest.mark.slow
def test_unloading_in_a_profiled_cell_turns_the_profiler_off(start_kernel):
    notebook = start_kernel()
    notebook.run("import tensorflow as tf")
    result = notebook.run("%%mlc_trace --ops\n%unload_ext jupyter_mlgpu\ntf.ones(3)\nprint('mine')")
    assert "mine\n" in result.text
    assert notebook.run(OFF).status == "ok"


def test_a_cell_that_says_how_many_items_it_works_on_is_told_its_rate(plain):
    result = plain.run("%%mlc_trace --items 6400\nimport time; time.sleep(0.05)")
    assert result.receipt["facts"]["items"] == {"value": 6400, "source": "%%mlc_trace --items"}
    (note,) = [note for note in result.receipt["notes"] if "items" in note]
    (wall,) = [one["value"] for one in result.receipt["readings"] if one["quantity"] == "wall_time"]
    rate = 6400 / wall
    assert note.startswith(f"6,400 items: {rate:,.0f} per second; ")


def test_the_number_of_items_may_stand_in_a_variable(plain):
    plain.run("n = 320")
    assert plain.run("%%mlc_trace --items {2 * n}\npass").receipt["facts"]["items"]["value"] == 640
    assert plain.run("%%mlc_trace --items $n\npass").receipt["facts"]["items"]["value"] == 320


def test_the_number_of_items_is_asked_of_the_users_code_once(plain):
    plain.run("numbers = iter([10, 20, 30])")
    assert plain.run("%%mlc_trace --items {next(numbers)}\npass").receipt["facts"]["items"]["value"] == 10
    assert plain.run("print(next(numbers))").text.strip() == "20"


def test_a_cell_that_fails_has_no_rate(plain):
    result = plain.run("%%mlc_trace --items 6400\n1 / 0")
    assert "items" not in result.receipt["facts"]


def test_a_number_of_items_that_is_none_is_refused_before_the_cell_runs(plain):
    said = plain.run("%%mlc_trace --items many\nprint('it ran')").text
    assert (
        "--items takes a whole number from 1 to 1,000,000,000,000, not 'many'. The cell was not run."
    ) in said
    assert "it ran" not in said
