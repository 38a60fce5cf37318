"""Three small classifiers of scikit-learn's digits, each as a graph of mlcompute and as the same model in
Keras.

Both begin with the same weights and see the same batches in the same order, so that what differs is the
library. A digit is 8 x 8: a picture for LeNet, a sequence of 8 rows of 8 for the other two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import jupyter_mlgpu.mlcompute as mlc

Array = NDArray[Any]
BATCH, RATE = 32, 2e-3
TRAINED = 1408  # 44 whole batches; the rest of the 1,797 is for testing


@dataclass
class Model:
    """A training graph, an inference graph with the same tensors, and a compiled Keras model."""

    training: Any
    inference: Any
    result: Any
    keras: Any

    def learn(self, x: Array, y: Array) -> None:
        """One batch."""
        self.training.execute({"x": x}, {"y": y})

    def accuracy(self, x: Array, y: Array) -> float:
        """The share of digits that the graph names rightly."""
        right = 0
        for start in range(0, len(x), BATCH):
            some = x[start : start + BATCH]
            self.inference.execute({"x": some}, len(some) % BATCH)
            right += int((self.result.numpy().argmax(1) == y[start : start + BATCH]).sum())
        return right / len(x)

    def keras_accuracy(self, x: Array, y: Array) -> float:
        """The same of the model in Keras."""
        return float((np.asarray(self.keras(x)).argmax(1) == y).mean())


def digits(seed: int) -> tuple[Array, Array, Array, Array]:
    """Pictures [count, 8, 8] and numbers to learn from, and those to test with."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(seed).permutation(len(data.target))
    x, y = (data.images[order] / 16).astype(np.float32), data.target[order].astype(np.int32)
    return x[:TRAINED], y[:TRAINED], x[TRAINED:], y[TRAINED:]


class _Weights:
    """Tensors with random weights, noted in the order in which they are made."""

    def __init__(self, seed: int) -> None:
        self._seeds = iter(np.random.SeedSequence(seed).generate_state(1000).tolist())

    def dense(self, outputs: int, inputs: int) -> Any:
        return mlc.tensor([outputs, inputs], random="glorot_uniform", seed=next(self._seeds))

    def filters(self, outputs: int, inputs: int, size: int) -> Any:
        return mlc.tensor([outputs, inputs, size, size], random="glorot_uniform", seed=next(self._seeds))

    def zeros(self, size: int) -> Any:
        return mlc.tensor([size], fill=0)

    def ones(self, size: int) -> Any:
        return mlc.tensor([size], fill=1)


def _finish(graph: Any, x: Any, result: Any, keras: Any) -> Model:
    labels = mlc.tensor([BATCH], "Int32")
    training = mlc.training_graph([graph], mlc.loss_layer("softmax_cross_entropy"), mlc.adam_optimizer(RATE))
    training.add_inputs({"x": x}, {"y": labels})
    inference = mlc.inference_graph([graph])
    inference.add_inputs({"x": x})
    for one in (training, inference):
        one.compile(mlc.device("cpu"))
    return Model(training, inference, result, keras)


def _keras(layers: Any, inputs: Any, outputs: Any) -> Any:
    model = layers.Model(inputs, outputs)
    loss = layers.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(layers.optimizers.Adam(RATE), loss)
    return model


def lenet(seed: int) -> Model:
    """Two convolutions with pooling, three fully connected layers (LeCun et al., 1998, made smaller)."""
    import keras

    made, graph = _Weights(seed), mlc.graph()
    x = mlc.tensor([BATCH, 1, 8, 8])
    filters = [made.filters(6, 1, 3), made.filters(16, 6, 3)]
    value = x
    for one in filters:
        layer = mlc.convolution_layer(one, made.zeros(one.shape[0]), padding_policy="same")
        value = graph.add_layer(layer, value)
        value = graph.add_layer(mlc.activation_layer("relu"), value)
        value = graph.add_layer(mlc.pooling_layer("max", 2), value)
    value = graph.add_layer(mlc.reshape_layer([BATCH, 64]), value)
    matrices = [made.dense(120, 64), made.dense(84, 120), made.dense(10, 84)]
    for place, matrix in enumerate(matrices):
        value = graph.add_layer(mlc.fully_connected_layer(matrix, made.zeros(matrix.shape[0])), value)
        if place < 2:
            value = graph.add_layer(mlc.activation_layer("relu"), value)

    inputs = keras.Input((8, 8, 1), BATCH)
    other = inputs
    more = {"padding": "same", "activation": "relu"}
    convolutions = [keras.layers.Conv2D(one.shape[0], 3, **more) for one in filters]
    for convolution in convolutions:
        other = keras.layers.MaxPooling2D(2)(convolution(other))
    other = keras.layers.Flatten()(other)
    dense = [keras.layers.Dense(one.shape[0], activation="relu") for one in matrices[:2]]
    dense.append(keras.layers.Dense(10))
    for one in dense:
        other = one(other)
    model = _keras(keras, inputs, other)
    for convolution, one in zip(convolutions, filters, strict=True):
        convolution.set_weights([one.numpy().transpose(2, 3, 1, 0), np.zeros(one.shape[0])])
    # Keras has channels last: [height, width, channels] where we have [channels, height, width].
    first = matrices[0].numpy().reshape(120, 16, 2, 2).transpose(0, 2, 3, 1).reshape(120, 64)
    for layer, matrix in zip(dense, [first, *(one.numpy() for one in matrices[1:])], strict=True):
        layer.set_weights([matrix.T, np.zeros(matrix.shape[0])])
    return _finish(graph, x, value, model)


def lstm(seed: int) -> Model:
    """An LSTM reads the rows from top to bottom; its last output names the digit."""
    import keras

    made, graph, size = _Weights(seed), mlc.graph(), 64
    x = mlc.tensor([BATCH, 8, 8])
    inner = [made.dense(size, 8) for _ in range(4)]
    hidden = [made.dense(size, size) for _ in range(4)]
    biases = [made.zeros(size) for _ in range(4)]
    layer = mlc.lstm_layer(
        8, size, input_weights=inner, hidden_weights=hidden, biases=biases, returns_sequences=False
    )
    matrix = made.dense(10, size)
    value = graph.add_layer(layer, x)
    value = graph.add_layer(mlc.fully_connected_layer(matrix, made.zeros(10)), value)

    inputs = keras.Input((8, 8), BATCH)
    recurrent, dense = keras.layers.LSTM(size), keras.layers.Dense(10)
    model = _keras(keras, inputs, dense(recurrent(inputs)))
    both = [np.concatenate([one.numpy() for one in four]).T for four in (inner, hidden)]
    recurrent.set_weights([*both, np.zeros(4 * size)])
    dense.set_weights([matrix.numpy().T, np.zeros(10)])
    return _finish(graph, x, value, model)


def transformer(seed: int) -> Model:
    """An encoder of two blocks over the rows (Vaswani et al., 2017), the mean of whose outputs names the
    digit.
    """
    import keras

    made, graph, size, heads, wide = _Weights(seed), mlc.graph(), 32, 4, 64
    x = mlc.tensor([BATCH, 8, 8])
    enter, leave = made.dense(size, 8), made.dense(10, size)
    places = mlc.tensor([1, 8, size], data=np.sin(np.arange(8 * size).reshape(1, 8, size)).astype(np.float32))
    value = graph.add_layer(mlc.fully_connected_layer(enter, made.zeros(size)), x)
    value = graph.add_layer(mlc.arithmetic_layer("add"), [value, places])
    inputs = keras.Input((8, 8), BATCH)
    first = keras.layers.Dense(size)
    other = first(inputs) + places.numpy()
    settings: list[tuple[Any, list[Array]]] = [(first, [enter.numpy().T, np.zeros(size)])]
    for _ in range(2):
        four = [made.dense(size, size) for _ in range(4)]
        zeros = [made.zeros(size) for _ in range(4)]
        attention = mlc.multihead_attention_layer(size, heads, weights=four, biases=zeros)
        value = _added(graph, made, graph.add_layer(attention, [value] * 3), value, size)
        up, down = made.dense(wide, size), made.dense(size, wide)
        more = graph.add_layer(mlc.fully_connected_layer(up, made.zeros(wide)), value)
        more = graph.add_layer(mlc.activation_layer("relu"), more)
        more = graph.add_layer(mlc.fully_connected_layer(down, made.zeros(size)), more)
        value = _added(graph, made, more, value, size)

        attend = keras.layers.MultiHeadAttention(heads, size // heads)
        other = keras.layers.LayerNormalization(epsilon=1e-5)(other + attend(other, other))
        wider, back = keras.layers.Dense(wide, activation="relu"), keras.layers.Dense(size)
        other = keras.layers.LayerNormalization(epsilon=1e-5)(other + back(wider(other)))
        split = [one.numpy().T.reshape(size, heads, size // heads) for one in four[:3]]
        out = four[3].numpy().T.reshape(heads, size // heads, size)
        zero = np.zeros((heads, size // heads))
        settings.append((attend, [split[0], zero, split[1], zero, split[2], zero, out, np.zeros(size)]))
        settings += [(wider, [up.numpy().T, np.zeros(wide)]), (back, [down.numpy().T, np.zeros(size)])]
    value = graph.add_layer(mlc.reduction_layer("mean", 1), value)
    value = graph.add_layer(mlc.reshape_layer([BATCH, size]), value)
    value = graph.add_layer(mlc.fully_connected_layer(leave, made.zeros(10)), value)
    last = keras.layers.Dense(10)
    model = _keras(keras, inputs, last(keras.layers.GlobalAveragePooling1D()(other)))
    for layer, weights in [*settings, (last, [leave.numpy().T, np.zeros(10)])]:
        layer.set_weights(weights)
    return _finish(graph, x, value, model)


def _added(graph: Any, made: _Weights, more: Any, value: Any, size: int) -> Any:
    """What a block adds, and the layer normalisation after it."""
    value = graph.add_layer(mlc.arithmetic_layer("add"), [value, more])
    return graph.add_layer(
        mlc.layer_normalization_layer([size], beta=made.zeros(size), gamma=made.ones(size)), value
    )


MODELS: dict[str, Callable[[int], Model]] = {"LeNet": lenet, "LSTM": lstm, "transformer": transformer}


def shaped(name: str, x: Array) -> tuple[Array, Array]:
    """The pictures as the graph and as Keras take them."""
    return (x[:, None], x[..., None]) if name == "LeNet" else (x, x)


def batches(x: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """The data in its order."""
    for start in range(0, len(x), BATCH):
        yield x[start : start + BATCH], y[start : start + BATCH]
