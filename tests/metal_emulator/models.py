"""Twelve models as learners build them, compiled, each with a few batches: what the plan is judged by.

Keras's `jit_compile="auto"` would choose XLA on the emulated device, as it does not on a Mac: all say False.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf
from keras import layers

#: Rows of data, a whole number of the batches that `fit` makes where nobody says how large.
ROWS = 64


class Lesson(NamedTuple):
    """A compiled model and what it is fitted to."""

    model: Any
    x: Any
    y: Any


def made(name: str) -> Lesson:
    """The model of this name, its layers named as if it were the first of its process."""
    keras.utils.clear_session()
    keras.utils.set_random_seed(0)
    return MODELS[name](np.random.RandomState(0))


def mlp(draw: np.random.RandomState) -> Lesson:
    model = keras.Sequential(
        [keras.Input((32,)), layers.Dense(16, "relu"), layers.Dense(10, "softmax")], name="mlp"
    )
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
    return Lesson(model, _floats(draw, 32), draw.randint(0, 10, ROWS))


def cnn(draw: np.random.RandomState) -> Lesson:
    model = keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            layers.Conv2D(8, 3),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.MaxPooling2D(),
            layers.Conv2D(8, 3),
            layers.Flatten(),
            layers.Dense(16),
            layers.Dropout(0.2),
            layers.Dense(10),
        ],
        name="cnn",
    )
    model.compile("adam", _logits(), metrics=["accuracy"], jit_compile=False)
    return Lesson(model, _floats(draw, 16, 16, 3), draw.randint(0, 10, ROWS))


def cnn_float16(draw: np.random.RandomState) -> Lesson:
    return _in_float16(lambda: cnn(draw))


def attention(draw: np.random.RandomState) -> Lesson:
    tokens = keras.Input((12,), dtype="int32")
    embedded = layers.Embedding(50, 16)(tokens)
    mixed = embedded + layers.MultiHeadAttention(2, 8)(embedded, embedded, use_causal_mask=True)
    hidden = layers.Dense(16, "gelu")(layers.LayerNormalization()(mixed))
    model = keras.Model(tokens, layers.Dense(2)(layers.GlobalAveragePooling1D()(hidden)), name="attention")
    model.compile(keras.optimizers.AdamW(clipnorm=1.0), _logits(), metrics=["accuracy"], jit_compile=False)
    return Lesson(model, draw.randint(0, 50, (ROWS, 12)), draw.randint(0, 2, ROWS))


def lstm(draw: np.random.RandomState) -> Lesson:
    model = keras.Sequential(
        [
            keras.Input((12,), dtype="int32"),
            layers.Embedding(50, 16),
            layers.LSTM(16),
            layers.Dense(1, "sigmoid"),
        ],
        name="lstm",
    )
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"], jit_compile=False)
    return Lesson(model, draw.randint(0, 50, (ROWS, 12)), draw.randint(0, 2, (ROWS, 1)))


def bert(draw: np.random.RandomState) -> Lesson:
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
    model.compile("adam", _logits(), metrics=["accuracy"], jit_compile=False)
    tokens = {
        "token_ids": draw.randint(0, 100, (ROWS, 16)).astype("int32"),
        "segment_ids": np.zeros((ROWS, 16), "int32"),
        "padding_mask": np.ones((ROWS, 16), "int32"),
    }
    return Lesson(model, tokens, draw.randint(0, 2, ROWS))


def unet(draw: np.random.RandomState) -> Lesson:
    """Two floors down and up again, with the shortcuts; a class for each pixel."""

    def twice(filters: int, x: Any) -> Any:
        for _ in range(2):
            x = layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        return x

    image = keras.Input((16, 16, 3))
    first = twice(8, image)
    second = twice(16, layers.MaxPooling2D()(first))
    bottom = twice(32, layers.MaxPooling2D()(second))
    up = layers.Conv2DTranspose(16, 2, strides=2)(bottom)
    up = twice(16, layers.Concatenate()([up, second]))
    up = layers.UpSampling2D()(up)
    up = twice(8, layers.Concatenate()([up, first]))
    model = keras.Model(image, layers.Conv2D(4, 1)(up), name="unet")
    model.compile("adam", _logits(), metrics=["accuracy"], jit_compile=False)
    return Lesson(model, _floats(draw, 16, 16, 3), draw.randint(0, 4, (ROWS, 16, 16)))


def gru_attention(draw: np.random.RandomState) -> Lesson:
    """A GRU whose states an attention layer weighs, as in early translation."""
    tokens = keras.Input((12,), dtype="int32")
    states = layers.GRU(16, return_sequences=True)(layers.Embedding(50, 16)(tokens))
    weighed = layers.Attention(use_scale=True)([states, states])
    joined = layers.Concatenate()([states, weighed])
    model = keras.Model(
        tokens, layers.Dense(3, "softmax")(layers.GlobalMaxPooling1D()(joined)), name="gru_attention"
    )
    model.compile("rmsprop", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
    return Lesson(model, draw.randint(0, 50, (ROWS, 12)), draw.randint(0, 3, ROWS))


def resnet_float16(draw: np.random.RandomState) -> Lesson:
    """A residual block with its batch normalisations, in mixed_float16."""

    def build() -> Lesson:
        image = keras.Input((16, 16, 8))
        x = layers.Conv2D(8, 3, padding="same", use_bias=False)(image)
        x = layers.ReLU()(layers.BatchNormalization()(x))
        x = layers.BatchNormalization()(layers.Conv2D(8, 3, padding="same", use_bias=False)(x))
        x = layers.ReLU()(layers.Add()([x, image]))
        out = layers.Dense(10, "softmax", dtype="float32")(layers.GlobalAveragePooling2D()(x))
        model = keras.Model(image, out, name="resnet")
        optimizer = keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)
        model.compile(optimizer, "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
        return Lesson(model, _floats(draw, 16, 16, 8), draw.randint(0, 10, ROWS))

    return _in_float16(build)


def decoder(draw: np.random.RandomState) -> Lesson:
    """A block of a language model: causal attention, a feed-forward part, the next token of each place."""
    tokens = keras.Input((12,), dtype="int32")
    places = layers.Embedding(12, 16)(tf.range(12)[None])
    x = layers.Embedding(50, 16)(tokens) + places
    mixed = layers.MultiHeadAttention(2, 8, dropout=0.1)(x, x, use_causal_mask=True)
    x = layers.LayerNormalization()(x + layers.Dropout(0.1)(mixed))
    x = layers.LayerNormalization()(x + layers.Dense(16)(layers.Dense(32, "relu")(x)))
    model = keras.Model(tokens, layers.Dense(50)(x), name="decoder")
    schedule = keras.optimizers.schedules.CosineDecay(1e-3, 100, warmup_steps=10, warmup_target=2e-3)
    model.compile(
        keras.optimizers.AdamW(schedule, global_clipnorm=1.0),
        _logits(),
        metrics=["accuracy"],
        jit_compile=False,
    )
    return Lesson(model, draw.randint(0, 50, (ROWS, 12)), draw.randint(0, 50, (ROWS, 12)))


class Sampling(layers.Layer):
    """Draws from the normal distribution that an encoder describes, and adds its divergence to the loss."""

    def __init__(self) -> None:
        super().__init__()
        self.seeds = keras.random.SeedGenerator(1)

    def call(self, described: Any) -> Any:
        mean, log_variance = described
        spread = keras.ops.exp(log_variance) + keras.ops.square(mean) - 1 - log_variance
        self.add_loss(0.5 * keras.ops.mean(keras.ops.sum(spread, axis=1)))
        noise = keras.random.normal(keras.ops.shape(mean), seed=self.seeds)
        return mean + keras.ops.exp(0.5 * log_variance) * noise


def vae(draw: np.random.RandomState) -> Lesson:
    """A variational autoencoder of images."""
    image = keras.Input((16, 16, 1))
    x = layers.Conv2D(8, 3, strides=2, padding="same", activation="relu")(image)
    x = layers.Dense(16, "relu")(layers.Flatten()(x))
    drawn = Sampling()([layers.Dense(4)(x), layers.Dense(4)(x)])
    x = layers.Reshape((8, 8, 4))(layers.Dense(256, "relu")(drawn))
    x = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="relu")(x)
    model = keras.Model(image, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(x), name="vae")
    model.compile("adam", "binary_crossentropy", jit_compile=False)
    images = _floats(draw, 16, 16, 1)
    return Lesson(model, images, images)


class Repeated(layers.Layer):
    """A layer of one's own: halves what is too large until it fits, and takes one of two ways."""

    def build(self, shape: Any) -> None:
        self.kernel = self.add_weight(shape=(shape[-1], shape[-1]))

    def call(self, x: Any) -> Any:
        x = tf.matmul(x, self.kernel)
        _, x = tf.while_loop(
            lambda count, x: tf.logical_and(count < 4, tf.reduce_max(tf.abs(x)) > 1.0),
            lambda count, x: (count + 1, x * 0.5),
            (tf.constant(0), x),
        )
        return tf.cond(tf.reduce_mean(x) > 0.0, lambda: tf.nn.relu(x), lambda: tf.nn.softplus(x))


def control_flow(draw: np.random.RandomState) -> Lesson:
    given = keras.Input((32,))
    hidden = Repeated()(layers.Dense(16)(given))
    model = keras.Model(given, layers.Dense(10, "softmax")(hidden), name="control_flow")
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=False)
    return Lesson(model, _floats(draw, 32), draw.randint(0, 10, ROWS))


MODELS: dict[str, Callable[[np.random.RandomState], Lesson]] = {
    one.__name__: one
    for one in (
        mlp,
        cnn,
        attention,
        lstm,
        bert,
        cnn_float16,
        unet,
        gru_attention,
        resnet_float16,
        decoder,
        vae,
        control_flow,
    )
}


def _floats(draw: np.random.RandomState, *shape: int) -> Any:
    return draw.rand(ROWS, *shape).astype("float32")


def _logits() -> Any:
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def _in_float16(build: Callable[[], Lesson]) -> Lesson:
    keras.mixed_precision.set_global_policy("mixed_float16")
    try:
        return build()
    finally:
        keras.mixed_precision.set_global_policy("float32")
