"""Scaled dot-product attention by its definition, as the reference of each kernel's own version."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jupyter_mlgpu.measure.checking.kinds import base_name
from jupyter_mlgpu.measure.checking.reference import NotComparableError, OperationCall


class _Attention(NamedTuple):
    """The inputs of an attention, its weights, and the gradient of its output (None in a forward pass)."""

    query: Any
    key: Any
    value: Any
    scale: float
    weights: Any
    gradient: Any


def dropout(call: OperationCall) -> float:
    """Return the share of weights that are dropped at random."""
    return float(_argument(call, 0.0, "dropout_p") or 0.0)


def evaluate(call: OperationCall) -> list[Any]:
    """Return the attention, or the gradients of query, key and value in a backward operation."""
    one = _of(call)
    if one.gradient is None:
        return [one.weights @ one.value]
    of_weights = one.gradient @ one.value.transpose(-2, -1)
    return _gradients(one, one.weights * (of_weights - (of_weights * one.weights).sum(-1, keepdim=True)))


def sizes(call: OperationCall) -> list[Any]:
    """Return the sums of the sizes of the numbers that each result is made of.

    A backward kernel rounds the weights, the output and the scores' gradient to the inputs' type (Dao et
    al., "FlashAttention", algorithm 4). The last is a difference, so its error may exceed it.
    """
    one = _of(call)
    one = one._replace(query=one.query.abs(), key=one.key.abs(), value=one.value.abs())
    if one.gradient is None:
        return [one.weights @ one.value]
    one = one._replace(gradient=one.gradient.abs())
    of_weights = one.gradient @ one.value.transpose(-2, -1)
    return _gradients(one, one.weights * (of_weights + (of_weights * one.weights).sum(-1, keepdim=True)))


def _gradients(one: _Attention, of_scores: Any) -> list[Any]:
    return [
        of_scores @ one.key * one.scale,
        of_scores.transpose(-2, -1) @ one.query * one.scale,
        one.weights.transpose(-2, -1) @ one.gradient,
    ]


def _of(call: OperationCall) -> _Attention:
    import torch

    query, key, value = (call.argument(name) for name in ("query", "key", "value"))
    if query.dim() != 4 or any(one.dim() != 4 for one in (key, value)):
        raise NotComparableError("attention of another layout")
    repeats = query.shape[1] // key.shape[1]
    if repeats > 1:
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    given = _argument(call, None, "scale")
    scale = 1 / math.sqrt(query.shape[-1]) if given is None else given
    scores = query @ key.transpose(-2, -1) * scale
    mask = _argument(call, None, "attn_mask", "attn_bias")
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    if _argument(call, False, "is_causal"):
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device="cpu").tril()
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = torch.nan_to_num(scores.softmax(-1), nan=0.0) if mask is not None else scores.softmax(-1)
    gradient = None
    if "backward" in base_name(call.operation):
        gradient = _argument(call, None, "grad_out", "grad_out_")
        if gradient is None or repeats > 1:
            raise NotComparableError("a gradient of another layout")
    return _Attention(query, key, value, scale, weights, gradient)


def _argument(call: OperationCall, otherwise: Any, *names: str) -> Any:
    """Return the first of these arguments that the operation has."""
    for name in names:
        try:
            return call.argument(name)
        except KeyError:
            continue
    return otherwise
