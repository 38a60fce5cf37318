"""The four models in Keras on JAX or TensorFlow.

The convolutional networks are those of keras.applications. Its ResNet50 is the first version (the stride is
in the 1x1 convolution), and its convolutions have a bias: 25,583,592 trained values. The encoders are written
here, because keras-hub requires TensorFlow.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection
from typing import Any

from jupyter_mlgpu.measure.frameworks.models import Encoder, Model, Network
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.record.extras import installed

_EPSILON = 1e-12  # of the layer normalisations, as published
_POLICIES = {"bf16": "mixed_bfloat16", "fp16": "mixed_float16"}


def run_on(wanted: str) -> None:
    """Start Keras on a framework if it has not started yet; raises BenchError if it runs on another."""
    if not installed("keras"):
        raise BenchError(
            "Keras is not installed here, and this case needs it: `pip install keras` installs it."
        )
    if "keras" not in sys.modules:
        os.environ.setdefault("KERAS_BACKEND", wanted)
    if why := wrong_backend(wanted):
        raise BenchError(why)


def wrong_backend(wanted: str) -> str | None:
    """Return why Keras cannot be used with `wanted` in this process, else None. Imports Keras."""
    import keras

    found = keras.backend.backend()
    if found == wanted:
        return None
    return (
        f"Keras runs on {found} in this process, and this needs it on {wanted}: set "
        f"KERAS_BACKEND={wanted} before Python starts."
    )


def build(model: Model, options: Collection[str]) -> Any:
    """Return the Keras model, with random weights and without a last softmax.

    `OPTIONS` of each framework describe the options.
    """
    import keras

    policy = next((_POLICIES[one] for one in options if one in _POLICIES), "float32")
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy(policy)
    try:
        if isinstance(model.shape, Encoder):
            return encoder(model.classes, model.shape, "flash" in options)
        found = _network(model, model.shape)
        return _with_other_layers(found, options)
    finally:
        keras.config.set_dtype_policy(before)


def _network(model: Model, shape: Network) -> Any:
    import keras

    arguments: dict[str, Any] = {"weights": None, "classes": model.classes, "classifier_activation": None}
    arguments["input_shape"] = (shape.side, shape.side, 3)
    if model.name == "resnet50":  # has no narrower version: a small model only has small images
        return keras.applications.ResNet50(**arguments)
    return keras.applications.MobileNetV2(alpha=1.0 if shape.shrink == 1 else 0.35, **arguments)


def _with_other_layers(model: Any, options: Collection[str]) -> Any:
    """Return the same network, with layers replaced as the options say."""
    import keras

    if not {"no_bias", "one_pass_norm", "shifted_depthwise"} & set(options):
        return model
    from jupyter_mlgpu.measure.frameworks.jax.keras_layers import one_pass_norm, shifted_depthwise

    def replacement(layer: Any) -> Any:
        config = layer.get_config()
        if "no_bias" in options and isinstance(layer, keras.layers.Conv2D):
            return type(layer).from_config({**config, "use_bias": False})
        if "one_pass_norm" in options and isinstance(layer, keras.layers.BatchNormalization):
            return one_pass_norm().from_config(config)
        if "shifted_depthwise" in options and isinstance(layer, keras.layers.DepthwiseConv2D):
            return shifted_depthwise().from_config(config)
        return type(layer).from_config(config)

    return keras.models.clone_model(model, clone_function=replacement)


def encoder(classes: int, shape: Encoder, flash: bool = False) -> Any:
    """Return DistilBERT or BERT with a layer of `classes` outputs over its first token.

    With `flash`, attention is one fused kernel, which in Keras has no dropout of its weights.
    """
    import keras
    from keras import layers

    class KerasBertEmbedding(layers.Layer):  # type: ignore[misc]
        """Embeddings of words and their positions, and of which of two texts they belong to."""

        def build(self, input_shape: Any) -> None:
            self.words = self._table(shape.vocabulary, "words")
            self.places = self._table(shape.positions, "places")
            self.segments = self._table(shape.segments, "segments") if shape.segments else None

        def _table(self, rows: int, name: str) -> Any:
            start = keras.initializers.RandomNormal(stddev=0.02)
            return self.add_weight(shape=(rows, shape.width), initializer=start, name=name)

        def call(self, tokens: Any) -> Any:
            x = keras.ops.take(self.words, tokens, axis=0) + self.places[: shape.tokens]
            if self.segments is None:
                return x
            return x + self.segments[0]  # one text: all tokens are of the first

        def compute_output_shape(self, input_shape: Any) -> Any:
            return (*input_shape, shape.width)

    def dense(width: int, activation: str | None = None) -> Any:
        start = keras.initializers.RandomNormal(stddev=0.02)
        return layers.Dense(width, activation, kernel_initializer=start)

    def add_and_normalise(x: Any, change: Any) -> Any:
        added = layers.add([x, layers.Dropout(shape.dropout)(change)])
        return layers.LayerNormalization(epsilon=_EPSILON)(added)

    tokens = keras.Input((shape.tokens,), dtype="int32")
    x = layers.LayerNormalization(epsilon=_EPSILON)(KerasBertEmbedding()(tokens))
    x = layers.Dropout(shape.dropout)(x)
    for _ in range(shape.layers):
        attention = layers.MultiHeadAttention(
            shape.heads,
            shape.width // shape.heads,
            dropout=0.0 if flash else shape.dropout,
            kernel_initializer=keras.initializers.RandomNormal(stddev=0.02),
            flash_attention=flash or None,
        )
        x = add_and_normalise(x, attention(x, x))
        x = add_and_normalise(x, dense(shape.width)(dense(shape.inner, "gelu")(x)))
    x = x[:, 0]
    if shape.pooler:
        x = dense(shape.width, "tanh")(x)
    return keras.Model(tokens, dense(classes)(layers.Dropout(shape.dropout)(x)))


def optimizer(model: Model, rate: float | None = None) -> Any:
    """Return the optimizer with which a model is measured: SGD with momentum 0.9, or Adam."""
    import keras

    if model.optimizer == "sgd":
        return keras.optimizers.SGD(0.01 if rate is None else rate, momentum=0.9)
    return keras.optimizers.Adam(2e-5 if rate is None else rate, epsilon=1e-8)


def draw(model: Model, batch: int) -> tuple[Any, Any]:
    """Return a random batch: images [batch, side, side, 3] in float32 or tokens, and labels."""
    import numpy as np

    random, shape = np.random.default_rng(0), model.shape
    labels = random.integers(0, model.classes, batch).astype("int32")
    if isinstance(shape, Encoder):
        return random.integers(0, shape.vocabulary, (batch, shape.tokens)).astype("int32"), labels
    return random.standard_normal((batch, shape.side, shape.side, 3)).astype("float32"), labels
