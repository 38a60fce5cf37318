"""A trained model of one lesson, kept with its tokenizer in the cache folder for another lesson."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.teach.lessons import cache


@dataclass(frozen=True)
class Pretrained:
    """A tokenizer and the matching weights of a model; `origin` says where they come from."""

    tokenizer: Any
    weights: list[Any]
    steps: int
    origin: str


def keep(name: str, tokenizer: Any, model: Any, steps: int) -> str:
    """Save the weights of a Keras model under a name, and return a sentence that says so."""
    import numpy as np

    arrays = {f"weight_{number:03d}": one for number, one in enumerate(model.get_weights())}
    return cache.save(name, {"tokenizer": np.array(tokenizer.to_str()), "steps": np.array(steps), **arrays})


def kept(name: str) -> tuple[tuple[Any, list[Any], int] | None, Sentence]:
    """Return the tokenizer, weights and steps saved under a name, and a sentence on their source."""
    from tokenizers import Tokenizer

    arrays, found = cache.load(name)
    if arrays is None:
        return None, found
    weights = [arrays[key] for key in sorted(arrays) if key.startswith("weight_")]
    return (Tokenizer.from_str(str(arrays["tokenizer"])), weights, int(arrays["steps"])), found
