"""Pre-training the small BERT of lessons 12 and 13: rows to learn from, batches, fill-mask, what is kept."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.teach.lessons import bert, cache, text, wordpieces

#: Words that are asked of the libraries (they have fewer); tokens of the vocabulary.
WORDS, VOCABULARY = 1_200_000, 3000

#: Rows in a batch, and places that are guessed in each of them at most: 15 % of 64 is 9.6.
BATCH, GUESSES = 32, 16

#: Raised whenever a kept model of before can no longer be used.
_FORM = 2

Disguise = Callable[..., Any]


@dataclass(frozen=True)
class Pretrained:
    """A tokenizer, and the weights of the encoder that goes with it; `origin` says where they are from."""

    tokenizer: Any
    weights: list[Any]
    steps: int
    origin: str


def masked(rows: Any, disguise: Disguise, draw: Any) -> tuple[tuple[Any, Any], Any, Any]:
    """Rows with chosen places hidden: `(shown, places), wanted, counts`, as Keras takes them.

    `shown` `[rows, length]` is what the model sees, `places` `[rows, GUESSES]` where it has to guess,
    `wanted` which token stood there, `counts` 1 for these and 0 where a row has fewer places than GUESSES.
    """
    import numpy as np

    chosen = wordpieces.choose(rows, draw.random(rows.shape))
    chosen &= chosen.cumsum(axis=1) <= GUESSES  # a row where chance took more would have no place for them
    others = draw.integers(len(wordpieces.SPECIAL), VOCABULARY, rows.shape)
    shown = disguise(rows, chosen, draw.random(rows.shape), others, wordpieces.MASK)
    # A stable sort puts the chosen places first, in their order.
    places = np.argsort(~chosen, axis=1, kind="stable")[:, :GUESSES]
    wanted = np.take_along_axis(rows, places, axis=1)
    counts = np.take_along_axis(chosen, places, axis=1)
    return (shown.astype("int32"), places.astype("int32")), wanted, counts.astype("float32")


def training_data(rows: Any, disguise: Disguise, steps: int, seed: int = 0) -> dict[str, Any]:
    """What `model.fit` takes for so many steps of BATCH rows: `x`, `y`, `sample_weight` and `batch_size`.

    Each time through the rows they come in another order and with other places hidden. All of it is made
    beforehand: a generator would do, but with one TensorFlow often waits at the end of `fit`, for half as
    long as it has trained (2.19; seen on two cores, in five of six runs).
    """
    import numpy as np

    if len(rows) < BATCH:
        raise ValueError(f"A batch is made of {BATCH} rows, found {len(rows)} in all: read more text.")
    draw = np.random.default_rng(seed)
    made: list[Any] = []
    while len(made) < steps:
        order = draw.permutation(len(rows))
        firsts = range(0, len(rows) - BATCH + 1, BATCH)[: steps - len(made)]
        made += [masked(rows[order[first : first + BATCH]], disguise, draw) for first in firsts]
    inputs, wanted, counts = zip(*made, strict=True)
    x = [np.concatenate(one) for one in zip(*inputs, strict=True)]
    y, weights = np.concatenate(wanted), np.concatenate(counts)
    return {"x": x, "y": y, "sample_weight": weights, "batch_size": BATCH}


def fill(model: Any, tokenizer: Any, sentence: str, best: int = 5) -> list[tuple[str, float]]:
    """The tokens that the model finds likeliest for the first [MASK] of a sentence, and how likely."""
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
    """Keep an encoder of Keras's own layers for lesson 13; returns a sentence that says so."""
    import numpy as np

    arrays = {f"weight_{number:03d}": one for number, one in enumerate(encoder.get_weights())}
    return cache.save(
        _name(), {"tokenizer": np.array(tokenizer.to_str()), "steps": np.array(steps), **arrays}
    )


def pretrained(corpus: text.Corpus, steps: int) -> Pretrained:
    """The encoder that lesson 12 kept, where it was made of this text; else one trained now.

    `corpus` is what it may read, the same part of the text as in lesson 12; `steps` how long it is trained.
    """
    from tokenizers import Tokenizer

    arrays, found = cache.load(_name())
    if arrays is not None:
        weights = [arrays[key] for key in sorted(arrays) if key.startswith("weight_")]
        taken = int(arrays["steps"])
        origin = joined(found, say("Lesson 12 made it, in {steps} steps.", steps=taken))
        return Pretrained(Tokenizer.from_str(str(arrays["tokenizer"])), weights, taken, translate(origin))
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
    """The reference answer of lesson 12."""
    from jupyter_mlgpu.teach.lessons.exercises import exercises

    answer: Disguise = exercises()["disguise"].reference
    return answer


def _name() -> str:
    """The name of what is kept: it changes with the libraries whose text was read."""
    key = json.dumps([_FORM, WORDS, VOCABULARY, dict(text.libraries())])
    return f"bert-{hashlib.sha256(key.encode()).hexdigest()[:12]}"
