"""Fine-tuning in lesson 13: the encoder with a new head, trained on few labels; and TF-IDF with the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jupyter_mlgpu.teach.lessons import bert

#: Tokens of a sentence that are looked at, and sentences in a batch.
LENGTH, BATCH = 32, 16

#: Adam's rate. Small, so that a few hundred sentences do not wipe out what a million words have taught.
RATE = 5e-4


class Classifier:
    """An encoder, a pool over its tokens and a dense layer: `[sentences, LENGTH]` to a number for each class.

    It is made and compiled once; `train` begins anew each time, so that runs cost no second compiling.
    """

    def __init__(self, vocabulary: int, classes: int, pool: Callable[[Any, Any], Any]) -> None:
        import keras

        self._vocabulary = vocabulary
        self._encoder = bert.encoder(vocabulary, length=LENGTH)
        x = pool(self._encoder.output, self._encoder.input)
        self._head = keras.layers.Dense(classes, name="head")
        self.model = keras.Model(self._encoder.input, self._head(keras.layers.Dropout(0.1)(x)))
        self.model.compile(
            keras.optimizers.Adam(RATE, global_clipnorm=1.0),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
        self.model.optimizer.build(self.model.trainable_variables)
        self._fresh_optimizer = self._optimizer_state()

    def train(self, start: Sequence[Any] | None, rows: Any, labels: Any, *, steps: int, seed: int) -> None:
        """Begin with the encoder's weights `start` (None: random ones, by the seed), then train."""
        import keras
        import numpy as np

        keras.utils.set_random_seed(seed)
        weights = bert.encoder(self._vocabulary, length=LENGTH).get_weights() if start is None else start
        self._encoder.set_weights(weights)
        draw = np.random.default_rng(seed)
        shapes = [one.shape for one in self._head.get_weights()]
        self._head.set_weights([0.02 * draw.standard_normal(shape).astype("float32") for shape in shapes])
        for variable, value in zip(self.model.optimizer.variables, self._fresh_optimizer, strict=True):
            variable.assign(value)
        # Whole rounds through the labels, each in another order, cut to the number of steps.
        rounds = -(-steps * BATCH // len(rows))
        order = np.concatenate([draw.permutation(len(rows)) for _ in range(rounds)])[: steps * BATCH]
        self.model.fit(rows[order], labels[order], batch_size=BATCH, shuffle=False, verbose=0)

    def right(self, rows: Any, labels: Any) -> Any:
        """For which of these sentences the largest number is that of the right class: True or False each."""
        import numpy as np

        return np.asarray(self.model.predict(rows, batch_size=128, verbose=0)).argmax(axis=1) == labels

    def _optimizer_state(self) -> list[Any]:
        import keras

        return [keras.ops.convert_to_numpy(one).copy() for one in self.model.optimizer.variables]


def tfidf_right(
    sentences: Sequence[str], labels: Any, test_sentences: Sequence[str], test_labels: Any
) -> Any:
    """For which test sentences logistic regression on TF-IDF is right: True or False each.

    TF-IDF counts words, rare ones more, and forgets their order. Both as scikit-learn has them by default: a
    strong and quick method that every other has to beat first.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    method = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
    return method.fit(sentences, labels).predict(test_sentences) == test_labels
