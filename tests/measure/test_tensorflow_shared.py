"""What TensorFlow's own tools collect is the user's, and the record says what it does not see."""

import pytest

from tests.support.kernel_fixtures import TWO_CPUS
from tests.support.shared_kernels import NO_DEVICE

pytestmark = pytest.mark.kernel

PREPARE = """
from tensorflow.python.eager import context
ctx = context.context()
def square(): return tf.function(lambda x: x @ x)
def collected():
    found = ctx.export_run_metadata()
    return len(found.partition_graphs), [
        [node.name for node in one.pre_optimization_graph.node] for one in found.function_graphs]
x = tf.ones((2, 2))
"""

#: The graph of `square`, as TensorFlow tells of it.
SQUARE = ["x", "matmul", "Identity", "identity_RetVal"]


@pytest.fixture(autouse=True)
def prepared(two_cpus):
    two_cpus.run(NO_DEVICE, silent=True)
    two_cpus.run(PREPARE)
    yield
    two_cpus.run("from tensorflow.python.eager import context\ncontext.context().disable_graph_collection()")
    two_cpus.run(NO_DEVICE, silent=True)


@pytest.mark.parametrize("switch", ["enable_graph_collection", "enable_run_metadata"])
def test_graphs_that_the_user_collects_are_theirs_over_several_cells_and_ours_too(two_cpus, switch):
    two_cpus.run(f"ctx.{switch}()")
    two_cpus.run("f, g = square(), square()")
    assert two_cpus.run("y = f(x)").ran_on == {"cpu:0": 1}
    assert two_cpus.run("y = g(x)").ran_on == {"cpu:0": 1}
    assert two_cpus.run("print(collected())").text == f"(2, {[SQUARE, SQUARE]})\n"


def test_after_a_trace_tensorflow_goes_on_collecting_and_the_next_trace_gets_it(two_cpus):
    two_cpus.run("writer, f = tf.summary.create_file_writer('logs'), square()")
    two_cpus.run(
        "tf.summary.trace_on(graph=True)\nf(x)\n"
        "with writer.as_default(): tf.summary.trace_export('first', step=0)"
    )
    two_cpus.run("g = square()\ny = g(x)\nctx.export_run_metadata()\nh = square()\ny = h(x)")
    result = two_cpus.run(
        "tf.summary.trace_on(graph=True)\nh(x)\nprint(collected()[1])\ntf.summary.trace_off()"
    )
    assert result.text == f"{[SQUARE]}\n"


def test_a_graph_called_first_under_a_trace_is_known_and_stays_known(two_cpus):
    two_cpus.run("f = square()")
    first = two_cpus.run("tf.summary.trace_on(graph=True)\ny = f(x)\ntf.summary.trace_off()")
    assert first.ran_on == {"cpu:0": 1}
    assert two_cpus.run("y = f(x)").ran_on == {"cpu:0": 1}


def test_a_user_may_switch_collection_from_within_a_graph(two_cpus):
    two_cpus.run(
        "def switch(): ctx.disable_graph_collection()\n"
        "@tf.function\n"
        "def f(x):\n"
        "    tf.py_function(switch, [], [])\n"
        "    return x @ x\n"
        "g = square()"
    )
    two_cpus.run("ctx.enable_graph_collection()\ny = f(x)")
    assert two_cpus.run("y = g(x)").ran_on == {"cpu:0": 1}
    assert two_cpus.run("print(collected())").text == "(0, [])\n"


FIT = """
import keras, numpy as np
from tensorboard.compat.proto.event_pb2 import Event
model = keras.Sequential([keras.layers.Input((4,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
data = np.ones((8, 4), "float32"), np.ones((8, 1), "float32")
callback = keras.callbacks.TensorBoard("{folder}", profile_batch=1, write_graph=False)
"""


def test_a_first_fit_under_tensorboards_profile_is_known(two_cpus):
    two_cpus.run(FIT.format(folder="board"))
    fits = [
        two_cpus.run("model.fit(*data, batch_size=4, verbose=0, callbacks=[callback])", timeout=180).receipt,
        two_cpus.run("model.fit(*data, batch_size=4, verbose=0)").receipt,
    ]
    for receipt in fits:
        assert "prepared the graph" not in (receipt["device"]["why_missing"] or "")
    assert fits[1]["device"]["ran_on"][0]["share"] == 1


@pytest.mark.slow
def test_what_a_user_collects_is_byte_for_byte_what_a_plain_kernel_collects(start_kernel):
    cells = [
        TWO_CPUS,
        PREPARE,
        "f, g, h = square(), square(), square()\ny = f(x)",
        "ctx.enable_graph_collection()\ny = f(x) + g(x)",
        "y = h(x)\nsizes = [ctx.export_run_metadata().ByteSize()]",
        "ctx.disable_graph_collection()\ny = square()(x)\nsizes.append(ctx.export_run_metadata().ByteSize())",
        "writer, f = tf.summary.create_file_writer('logs'), square()\n"
        "tf.summary.trace_on(graph=True)\ny = f(x)",
        "with writer.as_default(): tf.summary.trace_export('first', step=0)",
        "g = square()\ny = g(x)",
        "tf.summary.trace_on(graph=True)\ny = g(x)\nsizes.append(ctx.export_run_metadata().ByteSize())",
        "tf.summary.trace_off()\ny = square()(x)",
        FIT.format(folder="board"),
        "model.fit(*data, batch_size=4, verbose=0, callbacks=[callback])\n"
        "sizes.append(ctx.export_run_metadata().ByteSize())",
        "from glob import glob\n"
        "import os\n"
        "for path in glob('board/**/events*', recursive=True):\n"
        "    sizes.append(os.path.getsize(path))",
    ]
    sizes = []
    for extension in (False, True):
        notebook = start_kernel(extension=extension, TF_CPP_MAX_VLOG_LEVEL="0")
        for cell in cells:
            result = notebook.run(cell, timeout=180)
            assert result.status == "ok", result
        sizes.append(notebook.run("print(sizes)").text)
        notebook.run("import shutil\nshutil.rmtree('board')")
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize(
    "switch",
    [
        "ctx.enable_graph_collection()",
        pytest.param("tf.summary.trace_on(graph=True)", marks=pytest.mark.slow),
    ],
)
def test_what_was_switched_on_before_the_extension_came_stays_the_users(start_kernel, switch):
    notebook = start_kernel(extension=False, TF_CPP_MAX_VLOG_LEVEL="0")
    notebook.run(TWO_CPUS)
    notebook.run(PREPARE)
    notebook.run(f"f = square()\n{switch}")
    notebook.run("%load_ext jupyter_mlgpu")
    assert notebook.run("y = f(x)").ran_on == {"cpu:0": 1}
    assert notebook.run("print(collected()[1])").text == f"{[SQUARE]}\n"


def test_other_threads_that_work_leave_no_share_and_the_record_says_so(two_cpus):
    two_cpus.run(
        "import threading\n"
        "def work():\n"
        "    with tf.device('cpu:1'):\n"
        "        for _ in range(3): tf.reduce_sum(x + x)\n"
        "threads = [threading.Thread(target=work) for _ in range(2)]"
    )
    receipt = two_cpus.run(
        "for one in threads: one.start()\nfor one in threads: one.join()\ny = x + 1.0"
    ).receipt
    (entry,) = receipt["device"]["ran_on"]
    assert (entry["device"], entry["operations"], entry["share"]) == ("cpu:0", None, None)
    assert "Other threads used TensorFlow" in receipt["device"]["why_missing"]


def test_a_cell_whose_threads_alone_work_claims_no_device(two_cpus):
    two_cpus.run("import threading\nthread = threading.Thread(target=lambda: x + x)")
    receipt = two_cpus.run("thread.start()\nthread.join()").receipt
    assert receipt["device"]["ran_on"] is None
    assert "Other threads used TensorFlow" in receipt["device"]["why_missing"]


def test_threads_that_do_nothing_with_tensorflow_take_nothing_from_the_record(two_cpus):
    two_cpus.run("import threading\nthread = threading.Thread(target=sum, args=([1, 2],))")
    (entry,) = two_cpus.run("thread.start()\nthread.join()\ny = x + 1.0").receipt["device"]["ran_on"]
    assert (entry["operations"], entry["share"]) == (1, 1)


def test_a_session_is_not_seen_and_the_record_says_so(two_cpus):
    two_cpus.run(
        "def run_session():\n"
        "    with tf.Graph().as_default(), tf.compat.v1.Session() as session:\n"
        "        return session.run(tf.constant(2.0) * 3.0)"
    )
    receipt = two_cpus.run("print(run_session())").receipt
    assert receipt["device"]["ran_on"] is None
    assert "A tf.compat.v1.Session was used" in receipt["device"]["why_missing"]
    (entry,) = two_cpus.run("run_session()\ny = x + 1.0").receipt["device"]["ran_on"]
    assert (entry["device"], entry["share"]) == ("cpu:0", None)
    (entry,) = two_cpus.run("y = x + 1.0").receipt["device"]["ran_on"]
    assert entry["share"] == 1


@pytest.mark.parametrize(
    "first",
    [
        "import threading\nthread = threading.Thread(target=f, args=(x,))\nthread.start()\nthread.join()",
        "import threading, time\n"
        "thread = threading.Thread(target=lambda: (time.sleep(0.2), f(x)))\nthread.start()",
        "import asyncio\nasync def later(): return f(x)\ntask = asyncio.ensure_future(later())",
    ],
    ids=["in a thread", "in a thread after the cell", "in a task"],
)
def test_a_graph_called_first_where_no_cell_is_watched_is_known_in_the_next(two_cpus, first):
    two_cpus.run("%mlc_device cpu:0")
    two_cpus.run("f = square()")
    two_cpus.run(first)
    two_cpus.evaluate("'thread' in globals() and thread.join()")
    assert two_cpus.run("y = f(x)").ran_on == {"cpu:0": 1}


def test_a_graph_called_first_in_a_silent_cell_is_known_in_the_next(two_cpus):
    two_cpus.run("f = square()")
    two_cpus.run("y = f(x)", silent=True)
    assert two_cpus.run("y = f(x)").ran_on == {"cpu:0": 1}


def test_a_graph_called_first_with_no_device_chosen_is_known_on_the_one_it_ran_on(two_cpus):
    two_cpus.run("f = square()")
    two_cpus.run("y = f(x)")
    two_cpus.run("%mlc_device cpu:0")
    assert two_cpus.run("y = f(x)").ran_on == {"cpu:0": 1}


def test_a_graph_that_failed_is_not_taken_for_the_next_one_nor_left_to_the_user(two_cpus):
    two_cpus.run(
        "fails = tf.function(lambda x: tf.debugging.check_numerics(x / 0.0, 'infinite'))\n"
        "f = tf.function(lambda x: tf.identity(x))"
    )
    assert two_cpus.run("y = fails(x)").status == "error"
    two_cpus.run("ctx.enable_graph_collection()\ny = f(x)")
    assert (
        two_cpus.run("print([[name for name in one if 'Numerics' in name] for one in collected()[1]])").text
        == "[[]]\n"
    )


def test_where_operations_are_handed_out_nothing_is_learned_for_that_would_be_to_wait(two_cpus):
    two_cpus.run("f = square()\ntf.config.experimental.set_synchronous_execution(False)")
    receipt = two_cpus.run("y = f(x)").receipt
    two_cpus.run("tf.config.experimental.set_synchronous_execution(True)")
    assert "prepared the graph while not being observed" in receipt["device"]["why_missing"]


def test_the_traceback_of_a_graph_that_fails_is_tensorflows_own(two_cpus):
    two_cpus.run(
        "import traceback\n"
        "f = tf.function(lambda x: tf.debugging.check_numerics(x / 0.0, 'infinite'))\n"
        "def told():\n"
        "    try: f(x)\n"
        "    except tf.errors.InvalidArgumentError as error:\n"
        "        return [one.name for one in traceback.extract_tb(error.__traceback__)]"
    )
    first, again = two_cpus.run("print(told())").text, two_cpus.run("print(told())").text
    two_cpus.run("%mlc_trace off")
    plain = two_cpus.run("print(told())").text
    two_cpus.run("%mlc_trace on")
    assert first == again == plain == "['told', 'error_handler', 'quick_execute']\n"


def test_with_tracing_off_nothing_of_tensorflow_stays_covered(two_cpus):
    two_cpus.run("from types import ModuleType\nfrom tensorflow.python import pywrap_tfe")
    plain = "print('call_function' not in vars(ctx), type(pywrap_tfe) is ModuleType)"
    assert two_cpus.run(plain).text == "False False\n"
    two_cpus.run("%mlc_trace off")
    assert two_cpus.run(plain).text == "True True\n"
    assert two_cpus.run(f"%%mlc_trace\n{plain}").text == "False False\n"
    assert two_cpus.run(plain).text == "True True\n"
    two_cpus.run("%mlc_trace on")


def test_in_the_runs_of_a_race_that_count_nothing_of_tensorflow_is_covered(two_cpus):
    two_cpus.run("from types import ModuleType\nfrom tensorflow.python import pywrap_tfe\nseen = []")
    two_cpus.run(
        "%%mlc_race --repeats 2 --devices cpu:0\n"
        "seen.append(('call_function' in vars(ctx), type(pywrap_tfe) is ModuleType))"
    )
    assert two_cpus.run("print(seen[0], set(seen[1:]))").text == "(True, False) {(False, True)}\n"
