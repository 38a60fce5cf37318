"""Scaled dot-product attention by its definition, as the reference of each kernel's own version; its bounds.

P = softmax(scale Q K^T), O = P V, and with the gradient dO of O: dP = dO V^T, D = rowsum(dO O),
dS = P (dP - D), dQ = scale dS K, dK = scale dS^T Q, dV = P^T dO. The bounds follow each rounding through them
with absolute values: P is off by a share that grows with the scores, D by the rounding of the stored
O, and kernels round P and dS to the number type before they multiply them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jupyter_mlgpu.measure.checking.kinds import base_name
from jupyter_mlgpu.measure.checking.reference import NotComparableError, OperationCall
from jupyter_mlgpu.measure.checking.roundoff import BLOCKED, UNIT, gamma

#: Roundings of each intermediate tensor: by its computation, and as it is stored.
ROUNDINGS = 2
#: Flash attention computes exp to some 20 bits, also in float32, whose unit is 2**-24.
EXP_ROUNDINGS = 32


class _Parts(NamedTuple):
    query: Any
    key: Any
    value: Any
    scale: float
    weights: Any
    #: The absolute values of the scores, and the sums of the absolute values of their terms.
    scores: Any
    term_sizes: Any


def dropout(call: OperationCall) -> float:
    """Return the share of weights that are dropped at random."""
    return float(_argument(call, 0.0, "dropout_p") or 0.0)


def elements(call: OperationCall) -> int:
    """Return how many scores there are, several copies of which exist at once."""
    query, key = call.argument("query"), call.argument("key")
    return 2 * int(query[..., 0].numel() * key.shape[-2])


def evaluate(call: OperationCall) -> list[Any]:
    """Return the attention, or the gradients of query, key and value in a backward operation."""
    query, key, value, scale, weights, *_ = _parts(call)
    if not _is_backward(call):
        return [weights @ value]
    gradient, of_scores = _gradients(call, value, weights)
    return [
        of_scores @ key * scale,
        of_scores.transpose(-2, -1) @ query * scale,
        weights.transpose(-2, -1) @ gradient,
    ]


def bounds(call: OperationCall, unit: float) -> list[Any]:
    """Return the error of each result that this unit roundoff explains."""
    parts = _parts(call)
    query, key, value = parts.query.abs(), parts.key.abs(), parts.value.abs()
    weights, sizes, scale = parts.weights, parts.term_sizes, abs(parts.scale)
    tokens = max(weights.shape[-2:])
    kept = min(unit, UNIT["float32"])
    products = ROUNDINGS * unit + gamma(BLOCKED * math.isqrt(tokens) + BLOCKED, kept)
    share = ROUNDINGS * unit * parts.scores + gamma(query.shape[-1], kept) * sizes
    share = share + sizes.amax(-1, keepdim=True) * kept + max(ROUNDINGS * unit, EXP_ROUNDINGS * kept)
    share = share + (weights * share).sum(-1, keepdim=True) + products
    output = (weights * share) @ value
    if not _is_backward(call):
        return [output]
    gradient, of_scores = _gradients(call, parts.value, weights)
    gradient = gradient.abs()
    of_weights = gradient @ value.transpose(-2, -1)
    rows = (gradient * (weights @ value)).sum(-1, keepdim=True)
    off = share * of_scores.abs() + products * (weights * (of_weights + rows) + of_scores.abs())
    off = off + weights * (gradient * output).sum(-1, keepdim=True)
    return [
        scale * off @ key,
        scale * off.transpose(-2, -1) @ query,
        (weights * share).transpose(-2, -1) @ gradient,
    ]


def _is_backward(call: OperationCall) -> bool:
    return "backward" in base_name(call.operation)


def _parts(call: OperationCall) -> _Parts:
    import torch

    query, key, value = (call.argument(name) for name in ("query", "key", "value"))
    if query.dim() != 4 or any(one.dim() != 4 for one in (key, value)):
        raise NotComparableError("attention of another layout")
    repeats = query.shape[1] // key.shape[1]
    if repeats > 1:
        if _is_backward(call):
            raise NotComparableError("a gradient of another layout")
        key, value = key.repeat_interleave(repeats, 1), value.repeat_interleave(repeats, 1)
    given = _argument(call, None, "scale")
    scale = 1 / math.sqrt(query.shape[-1]) if given is None else given
    scores = query @ key.transpose(-2, -1) * scale
    sizes = query.abs() @ key.abs().transpose(-2, -1) * abs(scale)
    mask = _argument(call, None, "attn_mask", "attn_bias")
    if mask is not None and mask.dtype != torch.bool:
        scores, sizes = scores + mask, sizes + torch.where(torch.isfinite(mask), mask.abs(), 0.0)
    elif mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    if _argument(call, False, "is_causal"):
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device="cpu").tril()
        scores = scores.masked_fill(~allowed, -torch.inf)
    weights = torch.nan_to_num(scores.softmax(-1), nan=0.0) if mask is not None else scores.softmax(-1)
    finite = torch.where(torch.isfinite(scores), scores.abs(), 0.0)
    return _Parts(query, key, value, scale, weights, finite, sizes)


def _gradients(call: OperationCall, value: Any, weights: Any) -> tuple[Any, Any]:
    """Return the gradients of the output and of the scores."""
    gradient = _argument(call, None, "grad_out", "grad_out_")
    if gradient is None:
        raise NotComparableError("a gradient of another layout")
    of_weights = gradient @ value.transpose(-2, -1)
    return gradient, weights * (of_weights - (of_weights * weights).sum(-1, keepdim=True))


def _argument(call: OperationCall, otherwise: Any, *names: str) -> Any:
    """Return the first of these arguments that the operation has."""
    for name in names:
        try:
            return call.argument(name)
        except KeyError:
            continue
    return otherwise
