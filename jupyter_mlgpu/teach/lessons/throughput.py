"""DistilBERT and BERT-Large with random weights: training steps per second, and energy per sequence.

Training speed does not depend on the values of the weights, so nothing is downloaded: keras-hub builds the
models from their published sizes. Sequences of 128 tokens, 8 classes and Adam are used, as in the published
measurements that the lesson names.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.measure import tracing
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.teach.lessons.machine import here

TOKENS, CLASSES = 128, 8


@dataclass(frozen=True)
class Size:
    """The sizes of a published model, and the batches with which it is measured."""

    kind: str
    layers: int
    heads: int
    width: int
    batch: int
    batch_without_gpu: int | None
    why_not: Sentence | None = None


SIZES = {
    # Sanh et al. 2019, "DistilBERT"; keras-hub's preset distil_bert_base_en_uncased.
    "DistilBERT": Size("DistilBertBackbone", 6, 12, 768, 64, 4),
    # Devlin et al. 2019, BERT-Large; keras-hub's preset bert_large_en_uncased.
    "BERT-Large": Size(
        "BertBackbone",
        24,
        16,
        1024,
        16,
        None,
        say("skipped: without a GPU a single step takes tens of seconds and several GB of memory"),
    ),
}


def measure(name: str, seconds: float = 3.0) -> dict[str, object]:
    """Return a row of figures for one of `SIZES`: a warm-up, then about `seconds` of training.

    A GPU computes in mixed precision (bfloat16), a CPU in float32. The energy is that of the device's
    counter, which includes all other work on the device. It is None if there is no such counter, with the
    reason under "note".
    """
    import keras

    size = SIZES[name]
    machine = here()
    on_gpu = machine is not None and machine.has_gpu
    batch = size.batch if on_gpu else size.batch_without_gpu
    row: dict[str, object] = {"model": name, "batch": batch or size.batch}
    row |= {"sequences/s": None, "J per sequence": None}
    if batch is None:
        return {**row, "note": translate(size.why_not or "")}
    model = _classifier(size, "mixed_bfloat16" if on_gpu else "float32")
    steps = _steps(model, batch, seconds, tried=20 if on_gpu else 1)
    sequences = _sequences(steps * batch)
    with tracing.trace(name) as block:
        model.fit(*sequences, batch_size=batch, verbose=0)
    keras.backend.clear_session()
    energy = [one for one in block.readings if one.quantity == "energy"]
    measured = next((one for one in energy if one.value is not None), None)
    row["sequences/s"] = steps * batch / block.reading("wall_time").value
    if measured is not None:
        row["J per sequence"] = measured.value / (steps * batch)
    why = next((joined(one.why_missing) for one in energy if one.why_missing), say("not measured"))
    note = say("no energy: {why}", why=why)
    if measured is not None:
        note = say("energy from {source}", source=measured.source)
    return {**row, "note": translate(note)}


def _steps(model: Any, batch: int, seconds: float, tried: int) -> int:
    """Return the number of steps that take about `seconds`, at least two.

    One step warms up, and `tried` more are timed.
    """
    model.fit(*_sequences(batch), batch_size=batch, verbose=0)
    sequences = _sequences(tried * batch)
    start = real_time.perf_counter()
    model.fit(*sequences, batch_size=batch, verbose=0)
    return max(2, math.ceil(tried * seconds / (real_time.perf_counter() - start)))


def _sequences(number: int) -> tuple[dict[str, Any], Any]:
    """Return random tokens and labels; they take as long as real ones."""
    import numpy as np

    draw = np.random.default_rng(0)
    tokens = draw.integers(1000, 30_000, (number, TOKENS)).astype("int32")
    ones = np.ones((number, TOKENS), "int32")
    return {"token_ids": tokens, "padding_mask": ones}, draw.integers(0, CLASSES, number)


def _classifier(size: Size, policy: str) -> Any:
    import keras
    import keras_hub

    backbone = getattr(keras_hub.models, size.kind)(
        vocabulary_size=30522,
        num_layers=size.layers,
        num_heads=size.heads,
        hidden_dim=size.width,
        intermediate_dim=4 * size.width,
        max_sequence_length=512,
        dtype=policy,
    )
    # BERT also takes the number of the text that each token belongs to, and returns one vector for the whole.
    # DistilBERT returns one for each token, and the first, [CLS], stands for the whole.
    inputs = {key: backbone.input[key] for key in ("token_ids", "padding_mask")}
    model_inputs = dict(inputs)
    if "segment_ids" in backbone.input:
        model_inputs["segment_ids"] = keras.ops.zeros_like(inputs["token_ids"])
    found = backbone(model_inputs)
    whole = found["pooled_output"] if isinstance(found, dict) else found[:, 0]
    numbers = keras.layers.Dense(CLASSES, dtype="float32")(whole)
    model = keras.Model(inputs, numbers)
    model.compile(keras.optimizers.Adam(2e-5), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model
