"""The plan of real functions, models and training steps, read from TensorFlow's graphs and never run."""

import importlib
import warnings

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.errors import PlanError
from jupyter_mlgpu.planning import bundle


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


pytestmark = pytest.mark.usefixtures("two_devices")


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
        ("", "Shape"): "default",
        ("", "strided_slice/stack"): "default",
        ("", "strided_slice/stack_1"): "default",
        ("", "strided_slice/stack_2"): "default",
        ("", "strided_slice"): "cpu",
        ("", "Identity"): "core",
        ("", "Identity_1"): "default",
    }
    assert [one.nodes for one in plan.subgraphs] == [("truediv/y", "truediv", "Softmax", "Cast")]
    assert {one.reason for one in plan.fallbacks} == {
        "Einsum: no Metal kernel in tensorflow-metal 1.2.0",
        "Sigmoid float16: Metal has float32 only",
        "StridedSlice int32: Metal has bfloat16, float16, float32 only",
    }
    # q 2*3*4*4, k 2*5*4*4, scores 2*3*5*4 back, their float16 over and back 2*3*5*2.
    assert [one.bytes for one in plan.crossings] == [96, 160, 120, 60, 60]


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
    assert plan.crossings == ()


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
    assert "Relu: the code asks for the CPU" in [one.reason for one in plan.fallbacks]


def test_unknown_shapes_give_unknown_bytes():
    plan = jupyter_mlgpu.plan(tf.function(lambda x: tf.einsum("ij->ji", x)), spec(None, 3))
    assert plan.known_bytes == 0
    assert {one.why_missing for one in plan.unknown_sizes} == {"the shape is not known before it runs"}


def test_cuda_and_ml_compute_are_planned_too():
    model = compiled()
    assert jupyter_mlgpu.plan(model, target="cuda").fallbacks == ()
    plan = jupyter_mlgpu.plan(model, target="mlcompute")
    # Two products, two biases, relu and softmax are layers; weights, input and result only hold tensors.
    assert (plan.counts["mlcompute"], plan.counts["cpu"]) == (6, 0)
    assert "Apple's TensorFlow fork" in plan.summary()


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
    assert shown[bundle.MIME_TYPE]["counts"]["cpu"] == 1
    assert "Einsum" in [box[2] for box in shown[bundle.MIME_TYPE]["drawings"][0]["boxes"]]
    assert (
        two_cpus.run("p = %mlc_plan f tf.TensorSpec((4, 4)), --target cuda\nprint(p.counts['cpu'])").text
        == "0\n"
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("%mlc_plan", "%mlc_plan needs a model or a function"),
        ("%mlc_plan nothing_here", "NameError"),
        ("%mlc_plan f --target", "--target needs a name"),
        ("%mlc_plan f --device gpu", "Unknown option '--device'"),
        ("%mlc_plan f x --target tpu", "Choose metal, cuda or mlcompute"),
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
