"""What lesson 12 does not build itself: the encoder of Keras's own layers, the head, the start, training.

After Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding"
(2019), with 2 layers in place of 12, width 128 in place of 768, and without the second task there (whether
one sentence follows another). It runs with TensorFlow, JAX and PyTorch.

So small a model, trained for minutes, needs a better start than BERT's own: with matrices drawn as small as
there (0.02) it learns how often each word occurs, and nothing else for hundreds of steps. Here they are drawn
four times as large, positions are fixed sines and cosines, and tokens begin with vectors made of counts. Each
part normalizes what it takes, not what it gives (Xiong et al. 2020, "On Layer Normalization in the
Transformer Architecture"), which learns a little faster, and without a learned factor and shift (as in
Groeneveld et al. 2024, "OLMo"): the matrix behind it can do the same.
"""

from __future__ import annotations

import math
from typing import Any

from jupyter_mlgpu.teach.lessons.wordpieces import PAD

LENGTH, WIDTH, HEADS, LAYERS = 64, 128, 2, 2

#: Four times the standard deviation of BERT's own start.
SPREAD = 4 * 0.02


def encoder(vocabulary: int, start: Any = None, length: int = LENGTH) -> Any:
    """Tokens `[rows, length]` in, a vector for each of them out: `[rows, length, WIDTH]`.

    Lesson 12 builds the same by hand. `start` are the vectors that tokens begin with, `[vocabulary, WIDTH]`;
    without it they are random.
    """
    import keras
    from keras import layers, ops

    def drawn() -> Any:
        return keras.initializers.RandomNormal(stddev=SPREAD)  # a new one each time: it draws only once

    def given(values: Any) -> Any:
        return lambda shape, dtype=None: ops.cast(ops.convert_to_tensor(values), dtype)

    def normalized(x: Any) -> Any:
        return layers.LayerNormalization(epsilon=1e-6, center=False, scale=False)(x)

    words = drawn() if start is None else given(start)
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    x = layers.ReversibleEmbedding(vocabulary, WIDTH, embeddings_initializer=words, name="words")(tokens)
    x = normalized(x + ops.convert_to_tensor(positions(length)))  # the same for every row
    # [rows, 1, length]: from each position one may look at every token that is not [PAD].
    may_look = ops.expand_dims(ops.not_equal(tokens, PAD), axis=1)
    for _ in range(LAYERS):
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, kernel_initializer=drawn())
        before = normalized(x)
        x = x + attention(before, before, attention_mask=may_look)
        wide = layers.Dense(4 * WIDTH, activation="gelu", kernel_initializer=drawn())(normalized(x))
        x = x + layers.Dense(WIDTH, kernel_initializer=drawn())(wide)
    return keras.Model(tokens, normalized(x), name="encoder")


def ready_made(built: Any) -> Any:
    """The encoder of Keras's own layers, with the parameters of one that was built as in lesson 12.

    Both have the same numbers in the same order; Keras's attention keeps the columns of its heads apart.
    """
    own = built.get_weights()
    made = encoder(len(own[0]), length=built.input_shape[1])
    made.set_weights([one.reshape(there.shape) for one, there in zip(own, made.get_weights(), strict=True)])
    return made


def masked_language_model(encoder: Any, guesses: int) -> Any:
    """The encoder with BERT's head for masked words: `[rows, guesses, vocabulary]`, for each of `guesses`
    places of a row a number for every token (larger: more likely).

    Only these places are worked out: the others have no part in the loss, and the vocabulary is wide.
    """
    import keras
    from keras import layers, ops

    places = keras.Input((guesses,), dtype="int32", name="places")
    x = ops.take_along_axis(encoder.output, ops.expand_dims(places, axis=-1), axis=1)
    x = layers.Dense(
        WIDTH, activation="gelu", kernel_initializer=keras.initializers.RandomNormal(stddev=SPREAD)
    )(x)
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    # The same vectors as at the entrance: what a token looks like is also what a guess is compared with.
    return keras.Model([encoder.input, places], encoder.get_layer("words")(x, reverse=True))


def ready_to_train(model: Any, steps: int, rate: float = 3e-3) -> Any:
    """The model with its optimizer, the rate rising for a twentieth of the steps, then falling to 0.

    Muon (Jordan 2024; with Adam's rates, Liu et al. 2025, "Muon is Scalable for LLM Training") turns the step
    of a matrix into one that is as long in every direction. What is no plain matrix keeps Adam's in Keras:
    vectors, embeddings, and those of Keras's own attention, which have three axes. With that attention 28 of
    100 hidden words were right after 1,500 steps, 25 with Adam alone.
    """
    import keras

    rising = max(1, steps // 20)
    schedule = keras.optimizers.schedules.CosineDecay(
        0.0, steps - rising, warmup_target=rate, warmup_steps=rising
    )
    model.compile(
        keras.optimizers.Muon(schedule, weight_decay=None, adam_weight_decay=None, global_clipnorm=1.0),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True, reduction="mean_with_sample_weight"),
        weighted_metrics=["accuracy"],
    )
    return model


def positions(length: int, width: int = WIDTH) -> Any:
    """Positions as sines and cosines of growing wavelength: `[length, width]`.

    As in Vaswani et al. 2017, section 3.5, but a tenth as high: they must not drown the vectors of tokens
    (three times as high, a model had 12 % of the hidden tokens right after 400 steps, in place of 15 %).
    """
    import numpy as np

    turns = np.arange(length)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
    return 0.1 * np.stack([np.sin(turns), np.cos(turns)], axis=-1).reshape(length, width).astype("float32")


def vectors_from_counts(tokens: Any, vocabulary: int, width: int = WIDTH, window: int = 4) -> Any:
    """A vector for each token, from how often others stand near it: float32 `[vocabulary, width]`.

    Counts of pairs at most `window` places apart become positive pointwise mutual information (PPMI: how
    much more often than by chance), and the singular value decomposition keeps its `width` largest directions
    (Levy and Goldberg 2014, "Neural Word Embedding as Implicit Matrix Factorization"; see lesson 10).
    """
    import numpy as np
    from sklearn.utils.extmath import randomized_svd

    counts = np.zeros((vocabulary, vocabulary))
    for apart in range(1, window + 1):
        pairs = tokens[:, :-apart].astype("int64") * vocabulary + tokens[:, apart:]
        found = np.bincount(pairs.ravel(), minlength=vocabulary**2).reshape(vocabulary, vocabulary)
        counts += (found + found.T) / apart
    counts[PAD] = counts[:, PAD] = 0
    alone = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        more = np.nan_to_num(np.log(counts * counts.sum() / (alone * alone.T)), nan=0.0, neginf=0.0)
    u, s, _ = randomized_svd(np.maximum(more, 0).astype("float32"), width, random_state=0)
    vectors = u * np.sqrt(s)
    return (SPREAD * vectors / max(float(vectors.std()), math.ulp(1.0))).astype("float32")
