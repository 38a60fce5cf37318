"""The parts of BERT that lesson 12 does not build by hand: a Keras encoder, a head and the training setup.

The model follows Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
Understanding" (2019), with 2 layers instead of 12 and width 128 instead of 768. It leaves out the second task
of that paper, next-sentence prediction. It runs with TensorFlow, JAX and PyTorch.

A model of this size that trains for minutes needs a better start than BERT's own. With initial weights as
small as BERT's (0.02), it learns only how often each word occurs for hundreds of steps. Here the initial
weights are four times as large, positions are fixed sines and cosines, and token vectors are computed from
counts. Each part normalizes its input, not its output (Xiong et al. 2020, "On Layer Normalization in the
Transformer Architecture"), which learns a little faster. The normalization has no learned scale and shift (as
in Groeneveld et al. 2024, "OLMo"), because the matrix after it can do the same.
"""

from __future__ import annotations

import math
from typing import Any

from jupyter_mlgpu.teach.lessons.wordpieces import PAD

LENGTH, WIDTH, HEADS, LAYERS = 64, 128, 2, 2

#: Standard deviation of the initial weights: four times BERT's own.
SPREAD = 4 * 0.02


def encoder(vocabulary: int, start: Any = None, length: int = LENGTH) -> Any:
    """Return a model from tokens `[rows, length]` to one vector for each: `[rows, length, WIDTH]`.

    Lesson 12 builds the same model by hand. `start` holds the initial token vectors, `[vocabulary, WIDTH]`;
    without it they are random.
    """
    import keras
    from keras import layers, ops

    def initializer() -> Any:
        return keras.initializers.RandomNormal(stddev=SPREAD)  # an initializer draws only once

    def constant(values: Any) -> Any:
        return lambda shape, dtype=None: ops.cast(ops.convert_to_tensor(values), dtype)

    def normalized(x: Any) -> Any:
        return layers.LayerNormalization(epsilon=1e-6, center=False, scale=False)(x)

    words = initializer() if start is None else constant(start)
    tokens = keras.Input((length,), dtype="int32", name="tokens")
    x = layers.ReversibleEmbedding(vocabulary, WIDTH, embeddings_initializer=words, name="words")(tokens)
    x = normalized(x + ops.convert_to_tensor(positions(length)))  # the same for every row
    # [rows, 1, length]: each position may attend to every token that is not [PAD].
    may_look = ops.expand_dims(ops.not_equal(tokens, PAD), axis=1)
    for _ in range(LAYERS):
        attention = layers.MultiHeadAttention(HEADS, WIDTH // HEADS, kernel_initializer=initializer())
        before = normalized(x)
        x = x + attention(before, before, attention_mask=may_look)
        wide = layers.Dense(4 * WIDTH, activation="gelu", kernel_initializer=initializer())(normalized(x))
        x = x + layers.Dense(WIDTH, kernel_initializer=initializer())(wide)
    return keras.Model(tokens, normalized(x), name="encoder")


def ready_made(built: Any) -> Any:
    """Return the encoder made of Keras's own layers, with the parameters of one built as in lesson 12.

    Both have the same numbers in the same order. Keras's attention stores the columns of each head
    separately.
    """
    own = built.get_weights()
    copy = encoder(len(own[0]), length=built.input_shape[1])
    copy.set_weights([one.reshape(there.shape) for one, there in zip(own, copy.get_weights(), strict=True)])
    return copy


def masked_language_model(encoder: Any, guesses: int) -> Any:
    """Return the encoder with BERT's head for masked words: `[rows, guesses, vocabulary]`.

    The result has a number for every token at each of `guesses` places of a row; a larger number means more
    likely. Only these places are computed: the others do not count in the loss, and the vocabulary is wide.
    """
    import keras
    from keras import layers, ops

    places = keras.Input((guesses,), dtype="int32", name="places")
    x = ops.take_along_axis(encoder.output, ops.expand_dims(places, axis=-1), axis=1)
    x = layers.Dense(
        WIDTH, activation="gelu", kernel_initializer=keras.initializers.RandomNormal(stddev=SPREAD)
    )(x)
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    # The token vectors of the input are used again here: each guess is compared with them.
    return keras.Model([encoder.input, places], encoder.get_layer("words")(x, reverse=True))


def ready_to_train(model: Any, steps: int, rate: float = 3e-3) -> Any:
    """Return the model, compiled with an optimizer and a learning rate schedule.

    The rate rises for the first twentieth of the steps, then falls to 0. The optimizer is Muon (Jordan 2024;
    with Adam's rates, Liu et al. 2025, "Muon is Scalable for LLM Training"), which makes the update of a
    matrix equally long in every direction. Keras uses Adam for all that is not a plain matrix: vectors,
    embeddings, and Keras's own attention weights, which have three axes. With Keras's attention, 28 of 100
    hidden words were right after 1,500 steps; with Adam alone it was 25.
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
    """Return positions as sines and cosines of growing wavelength: `[length, width]`.

    They follow Vaswani et al. 2017, section 3.5, at a tenth of the amplitude, so that the token vectors stay
    dominant. With three times this amplitude, a model had 12 % of the hidden tokens right after 400 steps
    instead of 15 %.
    """
    import numpy as np

    turns = np.arange(length)[:, None] / 10_000 ** (np.arange(0, width, 2) / width)
    return 0.1 * np.stack([np.sin(turns), np.cos(turns)], axis=-1).reshape(length, width).astype("float32")


def vectors_from_counts(tokens: Any, vocabulary: int, width: int = WIDTH, window: int = 4) -> Any:
    """Return a vector for each token, computed from its neighbours: float32 `[vocabulary, width]`.

    Counts of pairs at most `window` places apart become positive pointwise mutual information (PPMI), which
    says how much more often a pair occurs than by chance. A singular value decomposition then keeps the
    `width` largest directions (Levy and Goldberg 2014, "Neural Word Embedding as Implicit Matrix
    Factorization"; see lesson 10).
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
