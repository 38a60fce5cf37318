"""Fine-tuning in lesson 13: the encoder with a new head, trained on few labels, and a TF-IDF baseline."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jupyter_mlgpu.teach.lessons import bert, wordpieces

#: Tokens used of each sentence, and sentences in a batch.
LENGTH, BATCH = 32, 16

#: Adam's learning rate. It is small, so that a few hundred sentences do not erase what was learned from a
#: million words.
RATE = 5e-4


class Classifier:
    """A classifier from tokens `[sentences, LENGTH]` to a number for each class.

    It consists of an encoder, a pool over the tokens and a dense layer. The model is compiled once; `train`
    resets it, so repeated runs do not compile again.
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
        """Reset the model to the encoder weights `start` (None: random, from the seed), then train it."""
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
        # Repeated passes over the labels, each in another order, cut to the number of steps.
        rounds = -(-steps * BATCH // len(rows))
        order = np.concatenate([draw.permutation(len(rows)) for _ in range(rounds)])[: steps * BATCH]
        self.model.fit(rows[order], labels[order], batch_size=BATCH, shuffle=False, verbose=0)

    def right(self, rows: Any, labels: Any) -> Any:
        """Return a boolean for each sentence: True if the largest number is that of the right class."""
        import numpy as np

        return np.asarray(self.model.predict(rows, batch_size=128, verbose=0)).argmax(axis=1) == labels

    def _optimizer_state(self) -> list[Any]:
        import keras

        return [keras.ops.convert_to_numpy(one).copy() for one in self.model.optimizer.variables]


def from_counts(vocabulary: int, tokenizer: Any, sentences: Iterable[str]) -> list[Any]:
    """Return encoder weights as they are before pre-training: token vectors from counts, the rest random.

    With them, a comparison shows how much of the pre-trained model's lead the counts of lesson 10 give.
    """
    import keras

    vectors = bert.vectors_from_counts(wordpieces.rows(tokenizer, sentences), vocabulary)
    keras.utils.set_random_seed(0)
    weights: list[Any] = bert.encoder(vocabulary, vectors, length=LENGTH).get_weights()
    return weights


def tfidf_right(
    sentences: Sequence[str], labels: Any, test_sentences: Sequence[str], test_labels: Any
) -> Any:
    """Return a boolean for each test sentence: True if logistic regression on TF-IDF is right.

    TF-IDF counts words, gives rare words more weight, and ignores their order. Both steps use scikit-learn's
    defaults. This is a strong and fast baseline.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    method = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=1000))
    return method.fit(sentences, labels).predict(test_sentences) == test_labels
