"""Training steps of real models, against the counts in docs/measurements/plan.md."""

import warnings

import pytest

import jupyter_mlgpu
from jupyter_mlgpu.graphs.planning import kernels
from tests.support import kernel_table

pytestmark = [pytest.mark.kernel, pytest.mark.slow]


@pytest.fixture(scope="module", autouse=True)
def frameworks(two_devices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # TensorFlow's own, while it is imported
        import keras_hub  # noqa: F401


def spec(*shape, kind="float32"):
    import tensorflow as tf

    return tf.TensorSpec(shape, kind)


def logits():
    import keras

    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def classes():
    return spec(None, kind="int64")


def mlp():
    import keras

    model = keras.Sequential(
        [keras.Input((32,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(10, "softmax")]
    )
    return model, spec(None, 32), classes(), "sparse_categorical_crossentropy"


def cnn(last=None):
    import keras

    model = keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            keras.layers.Conv2D(8, 3),
            keras.layers.BatchNormalization(),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(8, 3, activation="relu"),
            keras.layers.Flatten(),
            keras.layers.Dense(16, "relu"),
            keras.layers.Dropout(0.5),
            keras.layers.Dense(10, dtype=last),
        ]
    )
    return model, spec(None, 16, 16, 3), classes(), logits()


def cnn_float16():
    import keras

    keras.config.set_dtype_policy("mixed_float16")
    try:
        return cnn(last="float32")
    finally:
        keras.config.set_dtype_policy("float32")


def bert():
    from keras_hub.models import BertBackbone, BertTextClassifier

    backbone = BertBackbone(
        vocabulary_size=100,
        num_layers=2,
        num_heads=2,
        hidden_dim=32,
        intermediate_dim=64,
        max_sequence_length=16,
    )
    model = BertTextClassifier(backbone, num_classes=2, preprocessor=None)
    tokens = spec(None, 16, kind="int32")
    return model, dict.fromkeys(("token_ids", "segment_ids", "padding_mask"), tokens), classes(), logits()


def attention():
    import keras

    tokens = keras.Input((16,), dtype="int32")
    embedded = keras.layers.Embedding(100, 32)(tokens)
    mixed = embedded + keras.layers.MultiHeadAttention(2, 16)(embedded, embedded, use_causal_mask=True)
    hidden = keras.layers.Dense(32, "gelu")(keras.layers.LayerNormalization()(mixed))
    model = keras.Model(tokens, keras.layers.Dense(10)(keras.layers.GlobalAveragePooling1D()(hidden)))
    return model, spec(None, 16, kind="int32"), classes(), logits()


def lstm():
    import keras

    model = keras.Sequential(
        [
            keras.Input((16,), dtype="int32"),
            keras.layers.Embedding(100, 16),
            keras.layers.LSTM(16),
            keras.layers.Dense(1, "sigmoid"),
        ]
    )
    return model, spec(None, 16, kind="int32"), spec(None, 1), "binary_crossentropy"


@pytest.mark.parametrize(
    ("make", "metal", "core", "neither", "beside"),
    [
        (mlp, 139, 129, 12, 16),
        (cnn, 338, 325, 24, 23),
        (cnn_float16, 380, 350, 48, 34),
        (bert, 1504, 1641, 122, 147),
        (attention, 685, 666, 53, 81),
        (lstm, 258, 310, 24, 48),
    ],
)
def test_a_training_step_has_the_counts_that_were_measured_before(make, metal, core, neither, beside):
    import keras

    model, x, y, loss = make()
    optimizer = keras.optimizers.AdamW(clipnorm=1.0) if make is attention else "adam"
    model.compile(optimizer, loss, metrics=["accuracy"])
    counts = jupyter_mlgpu.plan(model, x, y).counts
    assert (counts["metal"], counts["core"] + counts["default"]) == (metal, core)
    assert (counts["cpu"], counts["beside"]) == (neither, beside)


FLOATS = ("float32", "float16", "bfloat16", "float64")


@pytest.mark.parametrize("make", [mlp, cnn, bert, lstm])
def test_in_float32_no_operation_on_floats_falls_back(make):
    model, x, y, loss = make()
    model.compile("adam", loss, metrics=["accuracy"])
    for one in jupyter_mlgpu.plan(model, x, y).placements:
        if one.where == "cpu" and one.operation != "Bitcast":  # how the accuracy tells 0.0 from -0.0
            floats = [kind for kind in one.types if kind.partition("=")[2] in FLOATS]
            assert not floats, one


def test_loss_scaling_puts_an_is_finite_for_each_gradient_on_the_cpu():
    model, x, y, loss = cnn_float16()
    model.compile("adam", loss)
    found = {one.operation: one.count for one in jupyter_mlgpu.plan(model, x, y).fallbacks}
    assert found["IsFinite"] == len(model.trainable_variables)


def test_the_packaged_table_for_cuda_is_what_this_wheel_registers():
    import tensorflow as tf

    if tf.__version__ != kernels.load("cuda").version or not tf.test.is_built_with_cuda():
        pytest.skip("made from another build of TensorFlow")
    made = {
        "name": "",
        "version": "",
        "origin": "",
        "kernels": kernel_table.compact(kernel_table.registered()),
    }
    assert kernels.from_json(made).kernels == kernels.load("cuda").kernels


def test_every_operation_of_these_steps_has_a_kernel_for_cuda():
    model, x, y, loss = attention()
    model.compile("adam", loss, metrics=["accuracy"])
    assert jupyter_mlgpu.plan(model, x, y, target="cuda").fallbacks == ()
