"""TensorFlow's work lands on the device asked for, and the record names where it really ran."""

import pytest

from tests.support.shared_kernels import NO_DEVICE

pytestmark = pytest.mark.kernel

MODEL = """
import keras, numpy as np
from sklearn.datasets import load_digits
images, labels = load_digits(return_X_y=True)
images = (images / 16).reshape(-1, 8, 8, 1).astype("float32")
def make_model():
    model = keras.Sequential([
        keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model
"""


@pytest.fixture(autouse=True)
def no_device_asked_for(two_cpus):
    two_cpus.run(NO_DEVICE, silent=True)
    yield
    two_cpus.run(NO_DEVICE, silent=True)


@pytest.mark.slow
def test_devices_may_still_be_configured_after_loading_the_extension_and_tracing_cells(two_cpus):
    assert "cpu:1" in two_cpus.run("%mlc_device list").text


def test_eager_operations_land_on_the_device_asked_for(two_cpus):
    two_cpus.run("%mlc_device cpu:1")
    result = two_cpus.run("x = tf.random.normal((4, 4))\ny = x @ x\nprint(y.device[-5:])")
    assert result.text == "CPU:1\n"
    assert result.receipt["device"]["requested"] == {"*": "cpu:1"}
    assert set(result.ran_on) == {"cpu:1"}
    assert result.ran_on["cpu:1"] >= 2


def test_operations_that_tensorflow_runs_the_slow_way_are_seen_too(two_cpus):
    result = two_cpus.run("y = tf.reshape(tf.constant((1.0, 2.0)), (2, 1))")
    assert result.ran_on == {"cpu:0": 1}


def test_of_a_graph_that_is_being_built_the_users_own_callbacks_hear_and_ours_is_left_out(two_cpus):
    two_cpus.run(
        "from tensorflow.python.eager import context\n"
        "from tensorflow.python.framework import op_callbacks\n"
        "heard, asked = [], op_callbacks.should_invoke_op_callbacks\n"
        "def hear(op_type, inputs, attrs, outputs, op_name=None, graph=None):\n"
        "    heard.append((op_type, graph is not None))\n"
        "def build():\n"
        "    tf.function(lambda: print(bool(asked())) or tf.zeros(2) + 1).get_concrete_function()"
    )
    ours = two_cpus.run("build()\nx = tf.ones(2) + 1")
    assert (ours.text, ours.ran_on) == ("False\n", {"cpu:0": 2})
    both = two_cpus.run(
        "op_callbacks.add_op_callback(hear)\nbuild()\nx = tf.ones(2) + 1\n"
        "op_callbacks.remove_op_callback(hear)"
    )
    assert (both.text, both.ran_on) == ("True\n", {"cpu:0": 2})
    assert two_cpus.run("print(('AddV2', True) in heard, ('AddV2', False) in heard)").text == "True True\n"
    before_and_after = "print(type(context.context().op_callbacks), context.context().op_callbacks)"
    two_cpus.run("%mlc_trace off")
    assert two_cpus.run(before_and_after).text == "<class 'list'> []\n"
    two_cpus.run("%mlc_trace on")


def test_a_tf_function_lands_on_the_device_asked_for(two_cpus):
    two_cpus.run("x = tf.ones((4, 4))\nf = tf.function(lambda x: tf.reduce_sum(x @ x))")
    two_cpus.run("%mlc_device cpu:1")
    result = two_cpus.run("print(f(x).device[-5:])")
    assert result.text == "CPU:1\n"
    assert set(result.ran_on) == {"cpu:1"}


def test_a_keras_fit_lands_on_the_device_asked_for(two_cpus):
    two_cpus.run(MODEL)
    two_cpus.run("%mlc_device cpu:1")
    result = two_cpus.run("model = make_model()\nmodel.fit(images, labels, verbose=0)", timeout=180)
    shares = {entry["device"]: entry["share"] for entry in result.receipt["device"]["ran_on"]}
    assert shares["cpu:1"] > 0.5
    where = two_cpus.run("print({weight.value.device[-5:] for weight in model.weights})").text
    assert where == "{'CPU:1'}\n"


def test_the_record_names_the_device_where_a_function_ran_also_when_another_was_asked_for(two_cpus):
    two_cpus.run(
        "@tf.function\n"
        "def elsewhere(x):\n"
        "    with tf.device('/CPU:0'):\n"
        "        return x @ x + 1.0\n"
        "x = tf.ones((4, 4))"
    )
    two_cpus.run("%mlc_device cpu:1")
    first = two_cpus.run("z = elsewhere(x)")
    again = two_cpus.run("z = elsewhere(x)")
    for result in (first, again):
        assert result.receipt["device"]["requested"] == {"*": "cpu:1"}
        assert set(result.ran_on) == {"cpu:0"}


def test_the_record_names_the_device_where_eager_operations_ran_also_when_another_was_asked_for(two_cpus):
    two_cpus.run("%mlc_device cpu:1")
    result = two_cpus.run("with tf.device('/CPU:0'):\n    y = tf.ones((2, 2)) + 1.0")
    assert set(result.ran_on) == {"cpu:0"}
    plain_text = next(data["text/plain"] for kind, data in result.outputs if kind == "display_data")
    assert "asked for cpu:1, ran on cpu:0" in plain_text


def test_a_function_split_over_two_devices_is_counted_on_both(two_cpus):
    result = two_cpus.run(
        "@tf.function\n"
        "def split(x):\n"
        "    with tf.device('/CPU:0'):\n"
        "        y = x @ x\n"
        "    with tf.device('/CPU:1'):\n"
        "        return tf.exp(y)\n"
        "split(tf.ones((2, 2)))"
    )
    assert {"cpu:0", "cpu:1"} <= set(result.ran_on)


def test_a_graph_called_n_times_counts_n_times(two_cpus):
    two_cpus.run("g = tf.function(lambda x: x @ x)\nx = tf.ones((2, 2))")
    assert two_cpus.run("y = g(x)").ran_on == {"cpu:0": 1}
    assert two_cpus.run("for _ in range(5): y = g(x)").ran_on == {"cpu:0": 5}


def test_a_graph_first_called_before_tracing_is_not_known_and_says_so(two_cpus):
    two_cpus.run("%mlc_trace off")
    two_cpus.run("early = tf.function(lambda x: x @ x)\nx = tf.ones((2, 2))\ny = early(x)")
    two_cpus.run("%mlc_trace on")
    receipt = two_cpus.run("y = early(x)").receipt
    assert receipt["device"]["ran_on"] is None
    assert "prepared the graph while not being observed" in receipt["device"]["why_missing"]


@pytest.mark.slow  # a kernel of its own: one device
def test_with_one_device_a_graph_that_is_not_known_ran_there_all_the_same(start_kernel):
    notebook = start_kernel()
    notebook.run("import tensorflow as tf")
    notebook.run("%mlc_trace off")
    notebook.run("early = tf.function(lambda x: x @ x)\nx = tf.ones((2, 2))\ny = early(x)")
    notebook.run("%mlc_trace on")
    device = notebook.run("y = early(x)").receipt["device"]
    (entry,) = device["ran_on"]
    assert (entry["device"], entry["operations"], entry["evidence"]) == ("cpu:0", None, "only device")
    assert device["why_missing"].startswith("It is not known how many operations of <lambda> ran")


def test_more_operations_than_are_watched_leave_no_invented_count(two_cpus):
    receipt = two_cpus.run("c = tf.constant(1.0)\nfor _ in range(1500): c = c + 1.0").receipt
    (entry,) = receipt["device"]["ran_on"]
    assert (entry["device"], entry["operations"], entry["share"]) == ("cpu:0", None, None)
    assert entry["why_missing"] == "At least 400 operations ran here."
    assert "Only the first 400 eager operations" in receipt["device"]["why_missing"]
    assert two_cpus.run("c = c + 1.0").ran_on == {"cpu:0": 1}


def test_graphs_are_seen_also_after_the_last_eager_operation_that_is_watched(two_cpus):
    two_cpus.run("g = tf.function(lambda x: x @ x)\nx = tf.ones((2, 2))\nc = tf.constant(1.0)")
    receipt = two_cpus.run(
        "for _ in range(1500): c = c + 1.0\nwith tf.device('cpu:1'):\n    for _ in range(3): y = g(x)"
    ).receipt
    used = {entry["device"]: entry["why_missing"] for entry in receipt["device"]["ran_on"]}
    assert used.keys() == {"cpu:0", "cpu:1"}
    assert used["cpu:1"] == "At least 3 operations ran here."


def test_a_cell_without_operations_ran_on_no_device(two_cpus):
    assert two_cpus.run("1 + 1").receipt["device"]["ran_on"] == []


def test_a_tf_device_left_open_is_closed_and_said(two_cpus):
    two_cpus.run("%mlc_device cpu:1")
    result = two_cpus.run("left = tf.device('/CPU:0')\nleft.__enter__()")
    assert result.status == "ok"
    assert "left a tf.device(...) open" in result.receipt["notes"][0]
    assert two_cpus.run("print(tf.constant(1.0).device[-5:])").text == "CPU:1\n"


def test_a_nested_run_cell_keeps_the_device_of_its_outer_cell(two_cpus):
    two_cpus.run("%mlc_device cpu:1")
    result = two_cpus.run(
        "get_ipython().run_cell('a = tf.ones(2) + 1')\nb = tf.ones(2) + 1\nprint(b.device[-5:])"
    )
    assert result.text == "CPU:1\n"
    assert set(result.ran_on) == {"cpu:1"}


def test_a_cell_that_raises_leaves_the_device_as_it_was(two_cpus):
    two_cpus.run("%mlc_device cpu:1")
    two_cpus.run("with tf.device('/CPU:0'):\n    1 / 0")
    assert two_cpus.run("print(tf.constant(1.0).device[-5:])").text == "CPU:1\n"


def test_a_missing_device_is_refused_in_one_sentence_and_nothing_changes(two_cpus):
    two_cpus.run("%mlc_device cpu:1")
    for word in ("gpu", "cpu:7"):
        result = two_cpus.run(f"%mlc_device {word}\nprint('ran on')")
        assert result.status == "error"
        assert "found cpu:0, cpu:1" in result.text
        assert "Traceback" not in result.text
        assert "ran on" not in result.text
    assert two_cpus.run("print(tf.constant(1.0).device[-5:])").text == "CPU:1\n"


def test_the_rest_of_the_cell_runs_on_the_device_just_chosen(two_cpus):
    result = two_cpus.run("%mlc_device cpu:1\ny = tf.ones(2) + 1\nprint(y.device[-5:])")
    assert result.text.endswith("CPU:1\n")
    assert set(result.ran_on) == {"cpu:1"}


def test_automatic_leaves_tensorflow_to_itself_again(two_cpus):
    two_cpus.run("import tensorflow as tf\n%mlc_device cpu:1")
    assert "chooses its own device" in two_cpus.run("%mlc_device auto").text
    assert set(two_cpus.run("z = tf.ones(5) + 1").ran_on) == {"cpu:0"}


def test_a_users_own_graph_collection_is_left_alone(two_cpus):
    result = two_cpus.run(
        "import tempfile\n"
        "h = tf.function(lambda x: x @ x)\n"
        "writer = tf.summary.create_file_writer(tempfile.mkdtemp())\n"
        "tf.summary.trace_on(graph=True)\n"
        "h(tf.ones((2, 2)))\n"
        "with writer.as_default():\n"
        "    tf.summary.trace_export('h', step=0)\n"
        "print('exported')"
    )
    assert result.text.endswith("exported\n")
    # TensorFlow goes on collecting after a trace (seen on 2.19.1).
    two_cpus.run("from tensorflow.python.eager import context\ncontext.context().disable_graph_collection()")


def test_a_callback_gives_a_record_an_epoch_within_the_cells_own(two_cpus):
    two_cpus.run(MODEL)
    result = two_cpus.run(
        "import jupyter_mlgpu\n"
        "model = make_model()\n"
        "model.fit(images, labels, epochs=2, verbose=0, callbacks=[jupyter_mlgpu.KerasCallback()])\n"
        "epochs = [r for r in jupyter_mlgpu.records() if r.cell.name.startswith('epoch')]\n"
        "print([r.cell.name for r in epochs], all(r.device.ran_on for r in epochs))\n"
        "epoch_time = sum(r.reading('wall_time').value for r in epochs)",
        timeout=180,
    )
    assert "['epoch 1', 'epoch 2'] True" in result.text
    assert float(two_cpus.run("print(epoch_time)").text) < result.value("wall_time")


def test_an_epoch_that_raises_is_the_users_own_error_and_the_next_cell_is_fine(two_cpus):
    two_cpus.run(MODEL)
    result = two_cpus.run(
        "import jupyter_mlgpu\n"
        "class Stop(keras.callbacks.Callback):\n"
        "    def on_train_batch_end(self, batch, logs=None): raise ValueError('stop')\n"
        "model = make_model()\n"
        "model.fit(images, labels, verbose=0, callbacks=[jupyter_mlgpu.KerasCallback(), Stop()])",
        timeout=180,
    )
    assert result.error == "ValueError: stop"
    assert result.receipt["outcome"] == "error"
    assert two_cpus.run("y = tf.ones(2) + 1").ran_on.keys() == {"cpu:0"}


def test_the_cell_that_imports_tensorflow_is_traced_and_placed_at_once(start_kernel):
    notebook = start_kernel()
    assert "once a framework is imported" in notebook.run("%mlc_device cpu").text
    result = notebook.run("import tensorflow as tf\ny = tf.ones((2, 2)) @ tf.ones((2, 2))")
    assert result.ran_on.keys() == {"cpu:0"}
    assert result.receipt["device"]["requested"] == {"*": "cpu:0"}
    assert "tensorflow" in result.receipt["versions"]


def test_without_tensorflow_plain_python_is_traced_and_the_way_to_install_is_said(start_kernel):
    notebook = start_kernel()
    notebook.run("import sys\nsys.modules['tensorflow'] = None", silent=True)
    result = notebook.run("sum(range(10))")
    assert result.value("wall_time") > 0
    assert "No framework" in result.receipt["device"]["why_missing"]
    refused = notebook.run("%mlc_device gpu")
    assert 'pip install "jupyter_mlgpu[tensorflow]"' in refused.text
    assert "Traceback" not in refused.text


def test_graphs_that_were_prepared_in_another_thread_are_let_go_with_the_cell(two_cpus):
    two_cpus.run(
        "import threading\n"
        "@tf.function\n"
        "def aside(value): return value * 3 + 1\n"
        "thread = threading.Thread(target=lambda: aside(tf.ones(3)))\n"
        "thread.start(); thread.join()"
    )
    result = two_cpus.run(
        "from tensorflow.python.eager import context\n"
        "print(len(context.context().export_run_metadata().function_graphs))"
    )
    assert result.text == "0\n"


def test_the_first_run_of_a_graph_that_xla_compiles_is_timed_and_no_other(two_cpus):
    two_cpus.run(
        "from jupyter_mlgpu.measure.frameworks import registry\n"
        "first_runs = lambda: registry.backend('tensorflow').compiled().first_runs\n"
        "by_xla = tf.function(lambda x: tf.nn.softmax(x @ x) + 1, jit_compile=True)\n"
        "holds_it, other = tf.function(lambda x: by_xla(x) * 2), tf.function(lambda x: x + 1)\n"
        "x = tf.ones((8, 8))"
    )

    def seconds(line):
        before = two_cpus.evaluate("first_runs()")
        assert two_cpus.run(line).status == "ok"
        return two_cpus.evaluate("first_runs()") - before

    assert seconds("by_xla(x)") > 0
    assert seconds("by_xla(x)") == 0, "it is compiled"
    assert seconds("other(x)") == 0
    assert seconds("holds_it(x)") > 0


def test_where_only_a_graph_could_be_counted_the_reader_is_told_to_make_one(two_cpus):
    two_cpus.run(
        "product = tf.function(lambda a: a @ a)\nsquare = tf.ones((300, 300))\nonce = product(square)"
    )
    eager = two_cpus.run("%%mlc_trace --ops --shapes\nresult = square @ square").receipt
    graph = two_cpus.run("%%mlc_trace --ops --shapes\nresult = product(square)").receipt
    assert any("`tf.function`" in note for note in eager["notes"])
    assert not any("`tf.function`" in note for note in graph["notes"])
