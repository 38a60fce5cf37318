"""What the receipt says of weights on another device, copies, fallbacks, threads, and the only device."""

import pytest

from tests.support.shared_kernels import NO_DEVICE

pytestmark = pytest.mark.kernel

MODEL = """
import keras, numpy as np
images, labels = np.zeros((64, 8, 8, 1), "float32"), np.zeros(64, "int64")
def make_model():
    model = keras.Sequential([
        keras.layers.Input((8, 8, 1)), keras.layers.Conv2D(8, 3, activation="relu"),
        keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model
def train():
    model.fit(images, labels, verbose=0)
"""

needs = pytest.mark.needs


def plain_text(result):
    return next(data["text/plain"] for kind, data in result.outputs if kind == "display_data")


@pytest.fixture
def two(two_cpus):
    two_cpus.run(NO_DEVICE, silent=True)
    yield two_cpus
    two_cpus.run(NO_DEVICE, silent=True)


def test_a_model_made_on_one_device_and_fitted_on_another_is_said_with_the_copies(two):
    two.run(MODEL)
    two.run("model = make_model()")
    two.run("%mlc_device cpu:1")
    fitted = two.run("train()", timeout=180)
    stays, copies = sorted(fitted.receipt["notes"], key=lambda note: "copied" in note)
    assert stays.startswith("The 4 weights of `model` live on cpu:0, not on cpu:1.")
    assert "To move it, create `model` again after `%mlc_device cpu:1`." in stays
    # Seen with TensorFlow 2.19.1 and Keras 3.15.1: other versions may copy a few more or less.
    assert copies.startswith("Variable values copied between devices in each of 2 calls to ")
    assert " from cpu:0 to cpu:1 and " in copies
    assert " from cpu:1 to cpu:0" in copies
    assert stays in plain_text(fitted)
    assert set(fitted.ran_on) == {"cpu:0", "cpu:1"}


def test_a_model_made_on_the_device_asked_for_is_not_mentioned(two):
    two.run(MODEL)
    two.run("%mlc_device cpu:1")
    fitted = two.run("model = make_model()\ntrain()", timeout=180)
    assert fitted.receipt["notes"] == []


def test_a_cell_that_names_no_such_value_says_nothing_nor_does_one_without_a_device_asked_for(two):
    two.run("weight = tf.Variable([1.0, 2.0])")
    assert two.run("weight + 1.0").receipt["notes"] == []
    two.run("%mlc_device cpu:1")
    assert two.run("y = tf.ones(2) + 1.0").receipt["notes"] == []
    (note,) = two.run("weight + 1.0").receipt["notes"]
    assert note.startswith("`weight` lives on cpu:0, not on cpu:1.")


def test_operations_that_ran_elsewhere_inside_a_function_are_named_with_their_number(two):
    two.run(
        "@tf.function\n"
        "def partly(x):\n"
        "    with tf.device('/CPU:0'):\n"
        "        d = tf.linalg.det(x)\n"
        "    return tf.sin(tf.reduce_sum(x)) + d\n"
        "x = tf.ones((4, 4))"
    )
    two.run("%mlc_device cpu:1")
    for _ in range(2):  # prepared by TensorFlow in the first cell, known from then on
        result = two.run("for _ in range(3): y = partly(x)")
        (elsewhere,) = result.receipt["notes"]
        counted = sum(result.ran_on.values())
        assert counted > result.ran_on["cpu:0"] == 3
        assert elsewhere == f"3 of {counted} operations ran on cpu:0, not on cpu:1: MatrixDeterminant 3."


def test_variables_that_a_graph_reads_and_assigns_on_another_device_are_counted_as_copies(two):
    two.run(
        "a, b, c = (tf.Variable(tf.ones((4, 4))) for _ in range(3))\n"
        "@tf.function\n"
        "def update(x):\n"
        "    a.assign(tf.linalg.matmul(b, x))\n"
        "    return tf.reduce_sum(tf.linalg.matmul(c, x))\n"
        "x = tf.ones((4, 4))"
    )
    two.run("%mlc_device cpu:1")
    stays, copies = sorted(
        two.run("for _ in range(4): y = update(x)").receipt["notes"], key=lambda note: "copied" in note
    )
    assert stays.startswith("`a`, `b` and `c` live on cpu:0, not on cpu:1.")
    # By hand: b and c are read, and a is assigned. The input x is not a variable, and is not counted.
    assert copies == (
        "Variable values copied between devices in each of 4 calls to update: 2 from cpu:0 "
        "to cpu:1 and 1 from cpu:1 to cpu:0."
    )


def test_an_eager_operation_inside_the_users_own_device_ran_where_it_was_asked(two):
    two.run("%mlc_device cpu:1")
    assert two.run("with tf.device('/CPU:0'):\n    y = tf.ones((2, 2)) + 1.0").receipt["notes"] == []


def test_graphs_called_by_the_users_own_threads_are_said(two):
    two.run("import threading\nf = tf.function(lambda x: x + 1.0)\nx = tf.ones(2)\ny = f(x)")
    two.run("%mlc_device cpu:1")
    device = two.run("t = threading.Thread(target=f, args=(x,)); t.start(); t.join()").receipt["device"]
    assert device["ran_on"] is None
    assert device["why_missing"].startswith("Other threads used TensorFlow while this cell ran")


def test_looking_at_the_users_values_runs_nothing_of_theirs_and_harms_no_cell(two):
    two.run(
        "class Untouchable:\n"
        "    def __getattribute__(self, name): raise SystemExit(name)\n"
        "    __iter__ = __len__ = __getattribute__\n"
        "thing = Untouchable()"
    )
    two.run("%mlc_device cpu:1")
    result = two.run("keep = [thing]")
    assert result.status == "ok"
    assert result.text == ""
    assert result.receipt["notes"] == []


@pytest.fixture
def two_jax_cpus(start_kernel):
    return start_kernel(XLA_FLAGS="--xla_force_host_platform_device_count=2", JAX_PLATFORMS="cpu")


@needs("jax")
def test_jax_arrays_committed_to_another_device_are_said(two_jax_cpus):
    two_jax_cpus.run("import jax\nw = jax.device_put(jax.numpy.ones(3), jax.devices()[0])")
    two_jax_cpus.run("%mlc_device cpu:1")
    result = two_jax_cpus.run("y = w + 1")
    (note,) = result.receipt["notes"]
    assert note == (
        "`w` lives on cpu:0, not on cpu:1: JAX computes where the data is. `w = "
        "jax.device_put(w, jax.devices('cpu')[1])` moves it."
    )
    assert [(one["device"], one["evidence"]) for one in result.receipt["device"]["ran_on"]] == [
        ("cpu:0", "results")
    ]
    assert "asked for cpu:1, used cpu:0" in plain_text(result)
    two_jax_cpus.run("w = jax.device_put(w, jax.devices('cpu')[1])")
    assert two_jax_cpus.run("y = w + 1").receipt["notes"] == []


@needs("jax")
def test_where_a_jax_cells_new_arrays_are_is_where_it_worked(two_jax_cpus):
    two_jax_cpus.run("import jax")
    assert "used cpu:0" in plain_text(two_jax_cpus.run("x = jax.numpy.ones(3) + 1"))
    idle = two_jax_cpus.run("1 + 1")
    assert idle.receipt["device"]["ran_on"] is None
    assert "device not known" not in plain_text(idle)  # nothing shows that there was any work


@needs("jax")
def test_with_very_many_arrays_it_is_not_claimed_which_are_new(two_jax_cpus):
    two_jax_cpus.run("import jax\nmany = [jax.numpy.asarray(float(one)) for one in range(600)]")
    receipt = two_jax_cpus.run("x = many[0] + 1").receipt
    assert receipt["device"]["ran_on"] is None
    assert receipt["device"]["why_missing"] == "No work of a framework was seen in this cell."


@needs("torch")
def test_a_torch_cell_without_a_gpu_claims_work_only_where_there_is_a_sign_of_it(start_kernel):
    notebook = start_kernel(CUDA_VISIBLE_DEVICES="")
    notebook.run("import torch\nmodel = torch.nn.Linear(2, 2)\nx = torch.ones(1, 2)")
    idle = notebook.run("a = 1")
    assert idle.receipt["device"]["ran_on"] is None
    assert idle.receipt["device"]["only"] == {"torch": "cpu:0"}
    assert "PyTorch: cpu:0 only" in plain_text(idle)
    trained = notebook.run("model(x).sum().backward()")
    assert [(one["device"], one["evidence"]) for one in trained.receipt["device"]["ran_on"]] == [
        ("cpu:0", "only device")
    ]
    assert "ran on cpu:0" in plain_text(trained)


@needs("mlx")
def test_an_mlx_cell_claims_work_only_where_memory_was_given_out(start_kernel):
    notebook = start_kernel()
    notebook.run("import mlx.core as mx")
    listed = notebook.run("print(mx.device_count(mx.gpu))").text
    if listed != "0\n":
        pytest.skip("MLX has a GPU here, so more than one device")
    assert "MLX: cpu:0 only" in plain_text(notebook.run("a = 1"))
    assert "ran on cpu:0" in plain_text(notebook.run("x = mx.ones((64, 64)) + 1\nmx.eval(x)"))
