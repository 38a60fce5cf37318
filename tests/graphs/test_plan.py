"""The plan of real functions, models and training steps, read from TensorFlow's graphs and never run."""

import importlib
import sys
import threading
import warnings

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.show.page.view import MIME_TYPE


class Later:
    """A module that is imported when a test first uses it, not while tests are collected."""

    def __init__(self, name):
        self._name = name

    def __getattr__(self, attribute):
        if attribute.startswith(("_", "pytest")):  # what pytest asks of every name while it collects
            raise AttributeError(attribute)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TensorFlow's own, while it is imported
            module = importlib.import_module(self._name)
        return getattr(module, attribute)


np, tf = Later("numpy"), Later("tensorflow")
keras, layers = Later("keras"), Later("keras.layers")


pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("two_devices")]


def compiled(**options):
    """A small classifier of four numbers."""
    model = keras.Sequential([keras.Input((4,)), layers.Dense(8, "relu"), layers.Dense(2, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], **options)
    return model


def spec(*shape, kind="float32"):
    return tf.TensorSpec(shape, kind)


def placed(plan):
    """Where each operation is, by function (without the number in its name; "" for the whole) and name."""
    whole = plan.graph.bodies[0].name
    return {
        ("" if one.function == whole else one.function.rpartition("_")[0], one.node): one.where
        for one in plan.placements
    }


# --- Graphs counted by hand -------------------------------------------------------------------------


def test_a_dense_layer_has_kernels_for_all_of_it():
    weights = tf.Variable(tf.ones((4, 2)))

    @tf.function
    def dense(x):
        return tf.nn.sigmoid(tf.matmul(x, weights) + 1.0)

    plan = jupyter_mlgpu.plan(dense, spec(3, 4))
    assert placed(plan) == {
        ("", "x"): "default",
        ("", "MatMul/ReadVariableOp/resource"): "default",
        ("", "MatMul/ReadVariableOp"): "default",
        ("", "MatMul"): "metal",
        ("", "add/y"): "default",
        ("", "add"): "metal",
        ("", "Sigmoid"): "metal",
        ("", "Identity"): "core",
        ("", "NoOp"): "default",
    }
    assert [one.operations for one in plan.subgraphs] == [9]
    assert plan.fallbacks == plan.crossings == ()


def test_attention_scores_leave_the_device_for_the_einsum_and_the_float16_sigmoid():
    @tf.function
    def scores(q, k):
        found = tf.einsum("bqd,bkd->bqk", q, k)
        return tf.sigmoid(tf.cast(tf.nn.softmax(found / 4.0), tf.float16)), tf.shape(found)[0]

    plan = jupyter_mlgpu.plan(scores, spec(2, 3, 4), spec(2, 5, 4))
    assert placed(plan) == {
        ("", "q"): "default",
        ("", "k"): "default",
        ("", "einsum/Einsum"): "cpu",
        ("", "truediv/y"): "default",
        ("", "truediv"): "metal",
        ("", "Softmax"): "metal",
        ("", "Cast"): "metal",
        ("", "Sigmoid"): "cpu",
        ("", "Shape"): "beside",
        # Beside the slicing, which is all that reads them; and identities beside what they pass on.
        ("", "strided_slice/stack"): "beside",
        ("", "strided_slice/stack_1"): "beside",
        ("", "strided_slice/stack_2"): "beside",
        ("", "strided_slice"): "cpu",
        ("", "Identity"): "beside",
        ("", "Identity_1"): "beside",
    }
    assert [one.nodes for one in plan.subgraphs] == [("truediv/y", "truediv", "Softmax", "Cast")]
    assert {one.reason for one in plan.fallbacks} == {
        "Einsum: no Metal kernel in tensorflow-metal 1.2.0",
        "Sigmoid float16: Metal supports only float32",
        "StridedSlice int32: Metal supports only bfloat16, float16, float32",
    }
    # q 2*3*4*4, k 2*5*4*4, scores 2*3*5*4 back, their float16 over 2*3*5*2, where it stays.
    assert [one.bytes for one in plan.crossings] == [96, 160, 120, 60]


def test_a_loop_is_planned_with_its_condition_and_its_body():
    @tf.function
    def halve(x):
        count = tf.constant(0)
        while tf.reduce_max(x) > 1.0:
            x = x / 2.0
            count += 1
        return x, count

    plan = jupyter_mlgpu.plan(halve, spec(8))
    main, cond, body = "", "while_cond", "while_body"
    assert placed(plan) == {
        (main, "x"): "default",
        (main, "Const"): "default",
        (main, "while/maximum_iterations"): "default",
        (main, "while/loop_counter"): "default",
        (main, "while"): "default",
        (main, "Identity"): "core",
        (main, "Identity_1"): "default",
        (cond, "while/Const"): "default",
        (cond, "while/Max"): "metal",
        (cond, "while/Greater/y"): "default",
        (cond, "while/Greater"): "metal",
        (cond, "while/Identity"): "core",
        (body, "while/truediv/y"): "default",
        (body, "while/truediv"): "metal",
        (body, "while/add/y"): "default",
        (body, "while/add"): "default",
        (body, "while/add_1/y"): "default",
        (body, "while/add_1"): "default",
        (body, "while/Identity"): "default",
        (body, "while/Identity_1"): "default",
        (body, "while/Identity_2"): "default",
        (body, "while/Identity_3"): "core",
    }
    # The count is an int32, which stays in the host's memory with all that is done to it.
    assert [one.operations for one in plan.subgraphs] == [5, 3]
    # The host goes around it, and asks each time whether to go on.
    assert [(one.tensor, one.to, one.bytes) for one in plan.crossings] == [("while/Identity:0", "host", 1)]


# --- Models, functions, and what is left alone ------------------------------------------------------


def test_a_model_is_planned_for_its_forward_pass_with_or_without_an_input():
    model = compiled()
    alone = jupyter_mlgpu.plan(model)
    given = jupyter_mlgpu.plan(model, spec(8, 4))
    assert alone.counts == given.counts
    assert alone.subject == f"forward pass of Keras model {model.name}"


def test_a_model_with_named_inputs_is_planned_without_any_given():
    left, right = keras.Input((3,), name="left"), keras.Input((3,), name="right")
    model = keras.Model({"left": left, "right": right}, layers.Dense(1)(left + right))
    assert "MatMul" in [one.operation for one in jupyter_mlgpu.plan(model).placements]


def test_arrays_serve_as_inputs_and_nothing_is_run():
    runs = []

    class Counts(layers.Layer):
        def call(self, x):
            tf.py_function(lambda: runs.append(1), [], [])
            return x

    model = keras.Sequential([keras.Input((4,)), Counts(), layers.Dropout(0.5), layers.Dense(2)])
    model.compile("sgd", "mse")
    variables = list(model.variables)  # seeds of dropout among them
    before = [one.numpy().copy() for one in variables]
    train, jit = model.train_function, model.jit_compile
    jupyter_mlgpu.plan(model, tf.ones((8, 4)).numpy(), tf.zeros((8, 2)).numpy())
    assert runs == []
    assert all((one.numpy() == old).all() for one, old in zip(variables, before, strict=True))
    assert (model.train_function, model.jit_compile) == (train, jit)


def test_a_model_trains_as_usual_after_it_was_planned():
    model = compiled()
    jupyter_mlgpu.plan(model, spec(None, 4), spec(None, kind="int64"))
    history = model.fit(tf.ones((16, 4)), tf.zeros((16,), tf.int64), epochs=2, verbose=0)
    assert history.history["loss"][1] < history.history["loss"][0]
    assert int(model.optimizer.iterations) == 2


def test_a_model_of_several_inputs_and_outputs_is_planned_as_fit_takes_them():
    left, right = keras.Input((3,)), keras.Input((4,))
    model = keras.Model([left, right], [layers.Dense(1)(left), layers.Dense(2)(right)])
    model.compile("sgd", ["mse", "mse"])
    plan = jupyter_mlgpu.plan(model, [spec(2, 3), spec(2, 4)], [spec(2, 1), spec(2, 2)])
    assert plan.counts["metal"] > 20


def test_ragged_and_sparse_inputs_are_planned_by_what_they_are():
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert jupyter_mlgpu.plan(tf.function(lambda x: x.to_tensor()), ragged).placements
    assert jupyter_mlgpu.plan(tf.function(lambda x: tf.sparse.to_dense(x)), tf.sparse.eye(3)).placements


def test_sample_weights_are_the_third_input():
    model = compiled()
    weighed = jupyter_mlgpu.plan(model, spec(8, 4), spec(8), spec(8))
    assert len(weighed.placements) > len(jupyter_mlgpu.plan(model, spec(8, 4), spec(8)).placements)


def test_a_function_of_an_object_or_of_a_saved_model_is_planned(tmp_path):
    class Doubler(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec((None,))])
        def double(self, x):
            return x * 2.0

    assert jupyter_mlgpu.plan(Doubler().double).counts["metal"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tf.saved_model.save(Doubler(), str(tmp_path))
        loaded = tf.saved_model.load(str(tmp_path))
    assert jupyter_mlgpu.plan(loaded.signatures["serving_default"]).counts["metal"] == 1


def test_several_steps_an_execution_are_planned_with_their_loop():
    plan = jupyter_mlgpu.plan(compiled(steps_per_execution=3), spec(8, 4), spec(8))
    assert any(one.operation in ("While", "StatelessWhile") for one in plan.placements)


def test_a_concrete_function_is_planned_as_it_is():
    concrete = tf.function(lambda x: tf.nn.relu(x)).get_concrete_function(spec(None, 3))
    plan = jupyter_mlgpu.plan(concrete)
    assert plan.counts["metal"] == 1


def test_a_device_asked_for_in_the_notebook_is_not_taken_for_the_codes_own():
    with tf.device("cpu:1"):
        plan = jupyter_mlgpu.plan(tf.function(tf.nn.relu), spec(2))
    assert plan.counts["metal"] == 1


def test_a_device_scope_inside_the_function_is_respected():
    @tf.function
    def pinned(x):
        with tf.device("cpu:0"):
            return tf.nn.relu(x)

    plan = jupyter_mlgpu.plan(pinned, spec(2))
    assert "Relu: the code requests the CPU" in [one.reason for one in plan.fallbacks]


@pytest.mark.parametrize(
    ("shape", "data_format", "metal"),
    [
        ((2, 8, 8, 4), "NHWC", True),
        ((2, 8, 8, 8, 4), "NDHWC", False),
        ((None, None, None, None, 4), "NDHWC", False),
    ],
)
def test_batch_normalization_of_volumes_has_no_kernel_on_metal(shape, data_format, metal):
    @tf.function
    def normalize(x):
        one = tf.ones(4)
        return tf.raw_ops.FusedBatchNormV3(
            x=x, scale=one, offset=one, mean=one, variance=one, is_training=False, data_format=data_format
        ).y

    plan = jupyter_mlgpu.plan(normalize, spec(*shape))
    assert [one.where for one in plan.placements if one.operation == "FusedBatchNormV3"] == [
        "metal" if metal else "cpu"
    ]
    assert [one.operation for one in plan.fallbacks] == ([] if metal else ["FusedBatchNormV3"])
    assert jupyter_mlgpu.plan(normalize, spec(*shape), target="cuda").fallbacks == ()


def test_unknown_shapes_give_unknown_bytes():
    plan = jupyter_mlgpu.plan(tf.function(lambda x: tf.einsum("ij->ji", x)), spec(None, 3))
    assert plan.known_bytes == 0
    assert {one.why_missing for one in plan.unknown_sizes} == {"the shape is not known until it runs"}


def test_cuda_and_ml_compute_are_planned_too():
    model = compiled()
    assert jupyter_mlgpu.plan(model, target="cuda").fallbacks == ()
    plan = jupyter_mlgpu.plan(model, target="mlcompute")
    # Two products, two biases, relu and softmax are layers; weights, input and result only hold tensors.
    assert (plan.counts["mlcompute"], plan.counts["cpu"]) == (6, 0)
    assert "Apple's TensorFlow fork" in plan.summary()


def test_the_two_plug_ins_for_metal_serve_a_small_cnn_differently():
    parts = [keras.Input((8, 8, 3)), layers.Conv2D(4, 3, activation="relu"), layers.MaxPooling2D()]
    model = keras.Sequential([*parts, layers.Flatten(), layers.Dense(2)])
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    pair = spec(8, 8, 8, 3), spec(8, kind="int64")
    apples, communitys = (
        jupyter_mlgpu.plan(model, *pair, target=target) for target in ("metal", "metal-community")
    )
    assert operations(apples) == operations(communitys)
    forward = {"Conv2D", "MaxPool", "MatMul", "Conv2DBackpropFilter", "MaxPoolGrad"}
    for plan, own in ((apples, "metal"), (communitys, "metal-community")):
        assert {one.where for one in plan.placements if one.operation in forward} == {own}
    # Adam's updates: Apple's plug-in has kernels of its own, the community's leaves them to TensorFlow.
    updates = [
        {one.where for one in plan.placements if one.operation == "AssignAddVariableOp"}
        for plan in (apples, communitys)
    ]
    assert updates == [{"metal"}, {"default"}]
    only = {one.operation for one in communitys.fallbacks} - {one.operation for one in apples.fallbacks}
    assert only >= {"DivNoNan", "BroadcastTo"}


def test_an_optimiser_of_tensorflows_own_is_on_the_cpu_with_the_communitys_plug_in():
    weights, moments = tf.Variable([1.0]), [tf.Variable([0.0]), tf.Variable([0.0])]

    @tf.function
    def step(slope):
        handles = [one.handle for one in (weights, *moments)]
        tf.raw_ops.ResourceApplyAdam(
            var=handles[0], m=handles[1], v=handles[2], beta1_power=0.9, beta2_power=0.999, lr=0.1,
            beta1=0.9, beta2=0.999, epsilon=1e-7, grad=slope,
        )  # fmt: skip

    where = {
        target: placed(jupyter_mlgpu.plan(step, spec(1), target=target))["", "ResourceApplyAdam"]
        for target in ("metal", "metal-community")
    }
    assert where == {"metal": "metal", "metal-community": "cpu"}


# --- As fit does it, and as on a machine with a GPU --------------------------------------------------


def batch(plan):
    """The bytes of the first tensor that a batch brings to the device."""
    return next(
        one.bytes for one in plan.crossings if one.tensor == "IteratorGetNext:0" and one.to == "device"
    )


def test_arrays_are_cut_into_batches_as_fit_cuts_them():
    model = compiled()
    full, cut = (
        jupyter_mlgpu.plan(model, np.ones((rows, 4), "f"), np.zeros(rows, "i8")) for rows in (64, 70)
    )
    assert batch(full) == batch(cut) == 32 * 4 * 4
    # Where the last batch is smaller, Keras leaves their size open, and shapes are worked out in the graph.
    assert (
        len(cut.placements)
        > len(full.placements)
        == len(jupyter_mlgpu.plan(model, spec(32, 4), spec(32, kind="int64")).placements)
    )
    assert len(cut.placements) == len(
        jupyter_mlgpu.plan(model, spec(None, 4), spec(None, kind="int64")).placements
    )


def test_a_spec_is_a_batch_already_and_an_open_one_has_no_bytes():
    model = compiled()
    assert batch(jupyter_mlgpu.plan(model, spec(8, 4), spec(8, kind="int64"))) == 8 * 4 * 4
    assert batch(jupyter_mlgpu.plan(model, spec(None, 4), spec(None, kind="int64"))) is None


def test_arrays_of_float64_are_planned_in_the_type_that_fit_makes_of_them():
    plan = jupyter_mlgpu.plan(compiled(), np.ones((32, 4)), np.zeros(32, "i8"))
    assert batch(plan) == 32 * 4 * 4


def recurrent(train_step=None):
    parts = [keras.Input((5, 3)), layers.LSTM(4), layers.Dense(1)]
    model = keras.Sequential(parts)
    if train_step is not None:
        kind = type("Own", (keras.Sequential,), {"train_step": train_step})
        model = kind(parts)
    model.compile("sgd", "mse", jit_compile=False)
    return model


SERIES, ENDS = (32, 5, 3), (32, 1)


def operations(plan):
    return {one.operation for one in plan.placements}


def test_a_recurrent_layer_is_planned_as_keras_makes_it_where_there_is_a_gpu():
    model = recurrent()
    for target, there in (("metal", True), ("metal-community", True), ("cuda", True), ("mlcompute", False)):
        plan = jupyter_mlgpu.plan(model, spec(*SERIES), spec(*ENDS), target=target)
        assert ("CudnnRNNV3" in operations(plan), "While" in operations(plan)) == (there, not there)
    assert "CudnnRNNV3" in operations(jupyter_mlgpu.plan(model))


@pytest.mark.slow
def test_what_was_planned_for_a_gpu_still_runs_here_on_the_cpu():
    @tf.function
    def own_step(self, data):
        return super(type(self), self).train_step(data)

    @tf.function
    def whole(x):
        return model(x)

    x, y = np.ones(SERIES, "f"), np.ones(ENDS, "f")
    for model in (recurrent(), recurrent(own_step)):
        assert "CudnnRNNV3" in operations(jupyter_mlgpu.plan(model, x, y))
        assert model.fit(x, y, verbose=0).history["loss"][0] > 0
    assert "CudnnRNNV3" in operations(jupyter_mlgpu.plan(whole, tf.constant(x)))
    assert whole._list_all_concrete_functions() == []  # which saving would save
    assert whole(tf.constant(x)).shape == (32, 1)


def test_other_threads_hear_the_truth_while_a_plan_is_traced():
    rnn, heard = sys.modules["keras.src.backend.tensorflow.rnn"], []

    def asking(x):
        heard.append(rnn._is_gpu_available())
        other = threading.Thread(target=lambda: heard.append(rnn._is_gpu_available()))
        other.start()
        other.join()
        return x

    jupyter_mlgpu.plan(tf.function(asking, autograph=False), spec(2))
    assert heard == [True, False]


def test_what_keras_is_told_is_put_back_also_where_tracing_fails():
    rnn, nn = (sys.modules[f"keras.src.backend.tensorflow.{name}"] for name in ("rnn", "nn"))
    before = rnn._is_gpu_available, nn._cpu_only

    def failing(x):
        assert (rnn._is_gpu_available, nn._cpu_only) != before
        raise ValueError("not today")

    with pytest.raises(PlanError, match="not today"):
        jupyter_mlgpu.plan(tf.function(failing, autograph=False), spec(2))
    assert (rnn._is_gpu_available, nn._cpu_only) == before


# --- Bad input --------------------------------------------------------------------------------------


def add():
    @tf.function
    def add(x, y):
        return x + y

    return add


def unbuilt():
    return keras.Sequential([layers.Dense(2)])


def uncompiled():
    return keras.Sequential([keras.Input((4,)), layers.Dense(2)])


def eager():
    model = uncompiled()
    model.compile("sgd", "mse", run_eagerly=True)
    return model


def said_to_be_built():
    class Mine(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(2)

        def call(self, x):
            return self.dense(x)

    model = Mine()
    model.built = True
    return model


def dividing():
    return tf.function(lambda x: x + 1 / 0)


def subclassed():
    class Mine(keras.Model):
        def call(self, x):
            return x

    model = Mine()
    model.built = True
    return model


@pytest.mark.parametrize(
    ("subject", "shapes", "words"),
    [
        (lambda: 7, (), "An object of type int cannot be planned. It takes a tf.function"),
        (lambda: "model", (), "An object of type str cannot be planned"),
        (lambda: len, (), "cannot be planned"),
        (lambda: spec, (), "spec is a plain Python function and has no graph: wrap it in tf.function first."),
        (add, (), "add could not be traced with 0 inputs"),
        (add, ((2,),), "add could not be traced with 1 input"),
        (add, ((2,), (3,)), "add could not be traced with 2 inputs"),
        (unbuilt, (), "is not built, so its weights have no shapes"),
        (unbuilt, ((2, 4),), "is not built"),
        (uncompiled, ((2, 4), (2, 2)), "is not compiled, so it has no training step"),
        (uncompiled, ((1,), (1,), (1,), (1,)), "was given 4 inputs"),
        (uncompiled, ((2, 9),), "could not be traced with 1 input"),
        (eager, ((2, 4), (2, 2)), "run_eagerly=True"),
        (subclassed, (), "does not say what it takes"),
        (said_to_be_built, ((2, 4),), "is not built"),
        (dividing, ((2,),), "could not be traced with 1 input: ZeroDivisionError: division by zero."),
        (uncompiled, ((2, 9),), "expected axis -1 of input shape to have value 4"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_one_sentence(subject, shapes, words):
    with pytest.raises(PlanError) as refused:
        jupyter_mlgpu.plan(subject(), *[spec(*shape) for shape in shapes])
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_an_unbuilt_model_stays_unbuilt():
    model = unbuilt()
    with pytest.raises(PlanError):
        jupyter_mlgpu.plan(model, spec(2, 4))
    assert not model.built


def test_inputs_with_a_concrete_function_are_refused():
    concrete = add().get_concrete_function(spec(2), spec(2))
    with pytest.raises(PlanError, match="has its inputs already"):
        jupyter_mlgpu.plan(concrete, spec(2))


def test_a_training_step_that_fails_leaves_the_model_as_it_was():
    model = uncompiled()
    model.compile("sgd", "mse")
    before = model.train_function, model.jit_compile
    with pytest.raises(PlanError, match="training step"):
        jupyter_mlgpu.plan(model, spec(2, 4), spec(2, 7, 9))
    assert (model.train_function, model.jit_compile) == before


def test_inputs_of_a_type_that_tensorflow_has_not_are_refused_in_one_sentence():
    model = uncompiled()
    model.compile("sgd", "mse")
    words = np.array(["a", "b"])
    with pytest.raises(PlanError, match="could not be traced with 2 inputs"):
        jupyter_mlgpu.plan(model, words, words)


# --- In a notebook ----------------------------------------------------------------------------------


def test_the_magic_shows_a_table_and_a_picture_and_gives_the_plan(two_cpus):
    two_cpus.run("f = tf.function(lambda x: tf.einsum('ij->ji', x))\nx = tf.ones((2, 3))")
    result = two_cpus.run("%mlc_plan f x")
    shown = next(data for kind, data in result.outputs if kind == "execute_result")
    assert "<table>" in shown["text/html"]
    assert "data:image/svg+xml" in shown["text/html"]
    assert "no Metal kernel" in shown["text/plain"]
    (graph,) = [one["data"] for one in shown[MIME_TYPE]["parts"] if "data" in one]
    assert graph["counts"]["cpu"] == 2  # with the identity that passes it on
    assert "Einsum" in [box[2] for box in graph["drawings"][0]["boxes"]]
    assert (
        two_cpus.run("p = %mlc_plan f tf.TensorSpec((4, 4)), --target cuda\nprint(p.counts['cpu'])").text
        == "0\n"
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%mlc_plan", "%mlc_plan needs a model or a function"),
        ("%mlc_plan nothing_here", "is not defined: run the cell that makes it"),
        ("%mlc_plan f --target", "Targets are metal, metal-community, cuda, mlcompute"),
        ("%mlc_plan f --device gpu", "Unknown word '--device'"),
        ("%mlc_plan f x --target tpu", "Choose metal, metal-community, cuda, mlcompute or mps"),
        ("%mlc_plan f(", "is not a name or an expression"),
        ("%mlc_plan 7", "An object of type int cannot be planned"),
        ("%mlc_plan f", "could not be traced with 0 inputs"),
    ],
)
def test_a_mistake_in_the_magic_is_one_sentence(two_cpus, line, words):
    two_cpus.run("f = tf.function(lambda x: x + 1.0)\nx = tf.ones((2, 3))")
    result = two_cpus.run(line)
    assert result.status == "error"
    assert words in result.text
    assert len(result.text.strip().splitlines()) == 1
