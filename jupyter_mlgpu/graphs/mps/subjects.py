"""Refuses what cannot be planned for MPS, in one sentence that says what to give instead."""

from __future__ import annotations

import inspect
import sys
from typing import Any

from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Libraries whose objects people may take for PyTorch's, by the name of the package.
_OTHERS = {
    "tensorflow": "TensorFlow",
    "keras": "Keras",
    "jax": "JAX",
    "jaxlib": "JAX",
    "flax": "Flax",
    "mlx": "MLX",
}
_GRAPHS = ("TensorFlow", "Keras")


def check(subject: Any, inputs: tuple[Any, ...]) -> None:
    """Raise PlanError unless it is a PyTorch module or a function, with inputs that a trace can use."""
    if not (refusal := _refusal(subject)) and _is_module(subject):
        refusal = next(filter(None, map(_refused_input, inputs)), None)
    if refusal:
        raise PlanError(refusal)


def _refusal(subject: Any) -> Sentence | None:
    name = getattr(subject, "__name__", type(subject).__name__)
    if isinstance(subject, type):
        return say("{name} is a class: plan an object of it, such as `{name}()`.", name=name)
    if _is_module(subject):
        return None
    other = _OTHERS.get(type(subject).__module__.partition(".")[0])
    if other:
        refusal = say(
            "{name} is of {library}, and the target mps is for PyTorch: it takes a module or a function, "
            "with its inputs.",
            name=name,
            library=other,
        )
        instead = say("The target metal is for TensorFlow and Keras on a Mac.")
        return joined(refusal, instead) if other in _GRAPHS else refusal
    if not callable(subject):
        return say(
            "An object of type {kind} cannot be planned for mps. It takes a PyTorch module or a function, "
            "with its inputs.",
            kind=type(subject).__name__,
        )
    if "torch" not in sys.modules:
        # It cannot use PyTorch then; importing that would take seconds for nothing.
        return say(
            "The target mps is for PyTorch, which is not imported: {name} cannot be planned for it.",
            name=name,
        )
    if inspect.isasyncgenfunction(subject) or inspect.iscoroutinefunction(subject):
        return say(
            "{name} is an async function, and a call runs none of its code: plan a function that it calls.",
            name=name,
        )
    if inspect.isgeneratorfunction(subject):
        return say(
            "{name} is a generator function, and a call runs none of its code: plan a function that goes "
            "through it, such as `lambda *inputs: list({name}(*inputs))`, in brackets.",
            name=name,
        )
    return None


def _refused_input(value: Any) -> Sentence | None:
    from torch.utils.data import DataLoader

    if isinstance(value, DataLoader):
        return say(
            "A module takes a batch, not a {kind}: `batch = next(iter(loader))` has one.",
            kind=type(value).__name__,
        )
    return None


def _is_module(subject: Any) -> bool:
    module = sys.modules.get("torch.nn")
    return module is not None and isinstance(subject, module.Module)
