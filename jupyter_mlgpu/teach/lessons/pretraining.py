"""Pre-training of the small BERT in lessons 12 and 13: batches, training, fill-mask, and saved weights."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.teach.lessons import bert, keeping, text, wordpieces
from jupyter_mlgpu.teach.lessons.keeping import Pretrained

#: Number of words to read from the libraries (they have fewer), and of tokens in the vocabulary.
WORDS, VOCABULARY = 1_200_000, 3000

#: Rows in a batch, and most hidden places in each row: 15 % of 64 is 9.6.
BATCH, GUESSES = 32, 16

#: Increased whenever saved models of earlier versions can no longer be used.
_FORM = 2

Disguise = Callable[..., Any]


def masked(rows: Any, disguise: Disguise, draw: Any) -> tuple[tuple[Any, Any], Any, Any]:
    """Hide chosen places of rows, and return `(shown, places), wanted, counts` for Keras.

    `shown` `[rows, length]` is the input of the model, `places` `[rows, GUESSES]` are the hidden places,
    `wanted` are the tokens that stood there. `counts` is 1 for these, and 0 if a row has fewer hidden places
    than GUESSES.
    """
    import numpy as np

    chosen = wordpieces.choose(rows, draw.random(rows.shape))
    chosen &= chosen.cumsum(axis=1) <= GUESSES  # a row may have more chosen places than there is room for
    others = draw.integers(len(wordpieces.SPECIAL), VOCABULARY, rows.shape)
    shown = disguise(rows, chosen, draw.random(rows.shape), others, wordpieces.MASK)
    # A stable sort moves the chosen places to the front and keeps their order.
    places = np.argsort(~chosen, axis=1, kind="stable")[:, :GUESSES]
    wanted = np.take_along_axis(rows, places, axis=1)
    counts = np.take_along_axis(chosen, places, axis=1)
    return (shown.astype("int32"), places.astype("int32")), wanted, counts.astype("float32")


def training_data(rows: Any, disguise: Disguise, steps: int, seed: int = 0) -> dict[str, Any]:
    """Return `x`, `y`, `sample_weight` and `batch_size` for `model.fit`: `steps` batches of BATCH rows.

    Each pass over the rows has another order and other hidden places. All batches are made in advance. A
    generator would do, but with one TensorFlow often waits at the end of `fit`, for half as long as it has
    trained (2.19; measured on two cores, in five of six runs).
    """
    import numpy as np

    if len(rows) < BATCH:
        raise ValueError(f"A batch is made of {BATCH} rows, found {len(rows)} in all: read more text.")
    draw = np.random.default_rng(seed)
    batches: list[Any] = []
    while len(batches) < steps:
        order = draw.permutation(len(rows))
        firsts = range(0, len(rows) - BATCH + 1, BATCH)[: steps - len(batches)]
        batches += [masked(rows[order[first : first + BATCH]], disguise, draw) for first in firsts]
    inputs, wanted, counts = zip(*batches, strict=True)
    x = [np.concatenate(one) for one in zip(*inputs, strict=True)]
    y, weights = np.concatenate(wanted), np.concatenate(counts)
    return {"x": x, "y": y, "sample_weight": weights, "batch_size": BATCH}


def fill(model: Any, tokenizer: Any, sentence: str, best: int = 5) -> list[tuple[str, float]]:
    """Return the most likely tokens for the first [MASK] of a sentence, with their probabilities."""
    import numpy as np

    before, _, after = sentence.partition("[MASK]")
    parts = [tokenizer.encode(one, add_special_tokens=False).ids for one in (before, after)]
    tokens = [wordpieces.CLS, *parts[0], wordpieces.MASK, *parts[1], wordpieces.SEP]
    row = np.zeros((1, bert.LENGTH), "int32")
    row[0, : len(tokens)] = tokens[: bert.LENGTH]
    places = np.full((1, GUESSES), 1 + len(parts[0]), "int32")
    found = np.asarray(model.predict([row, places], verbose=0), "float64")[0, 0]
    likely = np.exp(found - found.max())
    likely /= likely.sum()
    return [(tokenizer.id_to_token(int(one)), float(likely[one])) for one in np.argsort(-likely)[:best]]


def keep(tokenizer: Any, encoder: Any, steps: int) -> str:
    """Save the weights of a Keras encoder for lesson 13, and return a sentence that says so."""
    return keeping.keep(_name(), tokenizer, encoder, steps)


def pretrained(corpus: text.Corpus, steps: int) -> Pretrained:
    """Return the encoder that lesson 12 saved for the same text, otherwise one trained now.

    `corpus` is the text to train on, the same part as in lesson 12; `steps` is the length of the training.
    """
    kept, found = keeping.kept(_name())
    if kept is not None:
        tokenizer, weights, steps = kept
        origin = joined(found, say("Lesson 12 made it, in {steps} steps.", steps=steps))
        return Pretrained(tokenizer, weights, steps, translate(origin))
    import keras

    tokenizer = wordpieces.train_tokenizer(corpus, VOCABULARY)
    rows = wordpieces.rows(tokenizer, corpus)
    keras.utils.set_random_seed(0)
    encoder = bert.encoder(VOCABULARY, bert.vectors_from_counts(rows, VOCABULARY))
    model = bert.ready_to_train(bert.masked_language_model(encoder, GUESSES), steps)
    model.fit(**training_data(rows, reference_disguise(), steps), shuffle=False, verbose=0)
    origin = joined(found, say("So one was trained here, in {steps} steps.", steps=steps))
    return Pretrained(tokenizer, encoder.get_weights(), steps, translate(origin))


def reference_disguise() -> Disguise:
    """Return the reference answer of lesson 12."""
    from jupyter_mlgpu.teach.lessons.exercises import exercises

    answer: Disguise = exercises()["disguise"].reference
    return answer


def _name() -> str:
    """Return the file name, which changes with the libraries whose text was read."""
    key = json.dumps([_FORM, WORDS, VOCABULARY, dict(text.libraries())])
    return f"bert-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
