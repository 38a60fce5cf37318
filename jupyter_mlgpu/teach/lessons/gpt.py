"""The small GPT of lesson 15: a decoder of lesson 12's blocks, its training, and its weights for lesson 16.

The block is that of `bert`, with three differences. No token may attend to a later one. The loss counts at
every place, where the model predicts the next token. And the matrices have no biases, and those of queries,
keys and values lie side by side in one, so that a layer has four plain matrices. `Parameters` holds the same
weights as NumPy arrays, for the forward pass that the lesson writes itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.teach.lessons import bert, keeping, text, wordpieces
from jupyter_mlgpu.teach.lessons.keeping import Pretrained

LENGTH, WIDTH, HEADS, LAYERS = 64, 128, 2, 2

#: Number of words to read from the libraries, and of tokens in the vocabulary.
WORDS, VOCABULARY = 400_000, 1000

#: Rows in a batch, and batches of a training that takes less than a minute on two cores.
BATCH, STEPS = 16, 600

#: The highest learning rate. With lesson 12's, 3e-3, the test loss was 3.65 instead of 3.52.
RATE = 8e-3

#: Increased whenever saved models of earlier versions can no longer be used.
_FORM = 1

Shift = Callable[[Any], tuple[Any, Any]]


def decoder(vocabulary: int, start: Any = None, length: int = LENGTH) -> Any:
    """Return a model with a score for each next token: `[rows, length]` to `[rows, length, vocabulary]`.

    `start` holds the initial token vectors, `[vocabulary, WIDTH]`; without it they are random. The weights
    are the token vectors, and then for each layer four matrices: that of queries, keys and values side by
    side `[WIDTH, 3 * WIDTH]`, that behind the attention `[WIDTH, WIDTH]`, and the two of the feed-forward
    network, `[WIDTH, 4 * WIDTH]` and `[4 * WIDTH, WIDTH]`.
    """
    import keras
    import numpy as np
    from keras import layers, ops

    later = np.triu(np.ones((length, length), bool), 1)  # True where the key stands after the query

    def initializer() -> Any:
        return keras.initializers.RandomNormal(stddev=bert.SPREAD)  # an initializer draws only once

    def constant(values: Any) -> Any:
        return lambda shape, dtype=None: ops.cast(ops.convert_to_tensor(values), dtype)

    def dense(width: int, activation: str | None = None) -> Any:
        return layers.Dense(width, activation, use_bias=False, kernel_initializer=initializer())

    def norm(x: Any) -> Any:
        return layers.LayerNormalization(epsilon=1e-6, center=False, scale=False)(x)

    def heads(x: Any) -> Any:
        return ops.swapaxes(ops.reshape(x, (-1, length, HEADS, WIDTH // HEADS)), 1, 2)

    def attention(x: Any) -> Any:
        queries, keys, values = (heads(one) for one in ops.split(dense(3 * WIDTH)(x), 3, axis=-1))
        scores = ops.matmul(queries, ops.swapaxes(keys, -1, -2)) / (WIDTH // HEADS) ** 0.5
        mixed = ops.matmul(ops.softmax(ops.where(later, -1e9, scores)), values)
        return dense(WIDTH)(ops.reshape(ops.swapaxes(mixed, 1, 2), (-1, length, WIDTH)))

    vectors = initializer() if start is None else constant(start)
    words = layers.ReversibleEmbedding(vocabulary, WIDTH, embeddings_initializer=vectors, name="words")
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    x = norm(words(tokens) + ops.convert_to_tensor(bert.positions(length)))
    for _ in range(LAYERS):
        x = x + attention(norm(x))
        x = x + dense(WIDTH)(dense(4 * WIDTH, "gelu")(norm(x)))
    return keras.Model(tokens, words(norm(x), reverse=True), name="gpt")


@dataclass(frozen=True)
class Parameters:
    """The weights of a GPT as NumPy arrays, and its number of heads.

    `words` holds the token vectors, `[vocabulary, width]`, and `places` those of 1,024 positions. Each of
    `blocks` is a list of four matrices, in the order of `decoder`.
    """

    words: Any
    places: Any
    blocks: Sequence[Sequence[Any]]
    heads: int

    @property
    def nbytes(self) -> int:
        """The bytes that every token needs: all weights without the positions, of which it needs one."""
        return int(self.words.nbytes + sum(one.nbytes for block in self.blocks for one in block))

    def empty_cache(self, length: int) -> Any:
        """Return room for a key and a value of each token: `[layers, 2, heads, length, size of a head]`."""
        import numpy as np

        size = self.words.shape[1] // self.heads
        return np.zeros((len(self.blocks), 2, self.heads, length, size), "float32")


def parameters(weights: Sequence[Any], heads: int = HEADS) -> Parameters:
    """Return the weights of a `decoder`, as `get_weights` gives them, by name."""
    words, *matrices = weights
    blocks = [matrices[first : first + 4] for first in range(0, len(matrices), 4)]
    return Parameters(words, bert.positions(1024, words.shape[1]), blocks, heads)


def random_parameters(vocabulary: int, width: int, layers: int, heads: int) -> Parameters:
    """Return random weights of a GPT of any size, in float32, as small as GPT-2's at its start."""
    import numpy as np

    draw = np.random.default_rng(15)
    shapes = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width)] * layers
    weights = [draw.standard_normal(shape, "float32") for shape in [(vocabulary, width), *shapes]]
    for one in weights:
        one *= np.float32(0.02)
    return parameters(weights, heads)


def bigrams(shown: Any, following: Any, vocabulary: int = VOCABULARY) -> Any:
    """Return the probability of each next token after each token: `[vocabulary, vocabulary]`.

    It is the share with which one followed the other in the text. Each row is mixed with 50 tokens of the
    whole text's shares, so that no pair has the probability 0.
    """
    import numpy as np

    share = (np.bincount(following.ravel(), minlength=vocabulary) + 1) / (following.size + vocabulary)
    numbers = shown.ravel().astype(int) * vocabulary + following.ravel()
    pairs = np.bincount(numbers, minlength=vocabulary**2).reshape(vocabulary, vocabulary)
    return (pairs + 50 * share) / (pairs.sum(axis=1, keepdims=True) + 50)


def rows(tokenizer: Any, sentences: Sequence[str], length: int = LENGTH + 1) -> Any:
    """Return the whole text, cut into rows of `length` tokens: int32 `[rows, length]`.

    A [SEP] ends each sentence. A row begins with the last token of the row before, so that every token except
    the first is predicted once.
    """
    import numpy as np

    encodings = tokenizer.encode_batch(list(sentences), add_special_tokens=False)
    tokens = np.array([token for one in encodings for token in (*one.ids, wordpieces.SEP)], "int32")
    firsts = np.arange(0, len(tokens) - length + 1, length - 1)
    return tokens[firsts[:, None] + np.arange(length)]


def training_data(rows: Any, shift: Shift, steps: int, seed: int = 0) -> dict[str, Any]:
    """Return `x`, `y` and `batch_size` for `model.fit`: `steps` batches of BATCH rows, drawn in a new order.

    `shift` makes two of the rows: what the model is shown, and the token that follows each of its tokens.
    """
    import numpy as np

    if len(rows) < BATCH:
        raise ValueError(f"A batch is made of {BATCH} rows, found {len(rows)} in all: read more text.")
    draw = np.random.default_rng(seed)
    passes = -(-steps * BATCH // len(rows))
    order = np.concatenate([draw.permutation(len(rows)) for _ in range(passes)])[: steps * BATCH]
    shown, following = shift(rows[order])
    return {"x": shown, "y": following, "batch_size": BATCH}


def keep(tokenizer: Any, model: Any, steps: int) -> str:
    """Save the weights of the trained GPT for lesson 16, and return a sentence that says so."""
    return keeping.keep(_name(), tokenizer, model, steps)


def pretrained(sentences: Sequence[str], steps: int = STEPS) -> Pretrained:
    """Return the GPT that lesson 15 saved for the same text, otherwise one trained now.

    `sentences` is the text to train on, the same part as in lesson 15; `steps` is the length of the training.
    `decoder(VOCABULARY).set_weights(...)` takes the weights.
    """
    kept, found = keeping.kept(_name())
    if kept is not None:
        tokenizer, weights, steps = kept
        origin = joined(found, say("Lesson 15 made it, in {steps} steps.", steps=steps))
        return Pretrained(tokenizer, weights, steps, translate(origin))
    import keras

    tokenizer = wordpieces.train_tokenizer(sentences, VOCABULARY)
    text_rows = rows(tokenizer, sentences)
    keras.utils.set_random_seed(0)
    model = decoder(VOCABULARY, bert.vectors_from_counts(text_rows, VOCABULARY))
    bert.ready_to_train(model, steps, RATE)
    model.fit(
        **training_data(text_rows, lambda one: (one[:, :-1], one[:, 1:]), steps), shuffle=False, verbose=0
    )
    origin = joined(found, say("So one was trained here, in {steps} steps.", steps=steps))
    return Pretrained(tokenizer, model.get_weights(), steps, translate(origin))


def _name() -> str:
    """Return the file name, which changes with the libraries whose text was read."""
    key = json.dumps([_FORM, WORDS, VOCABULARY, dict(text.libraries())])
    return f"gpt-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
