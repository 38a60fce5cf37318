"""Update parameters by gradients: SGD, Adam, AdamW, RMSProp, after regularization and clipping.

Each is a formula in the operations of ops.py for one parameter: p is the parameter, g its gradient, the state
is arrays that begin as zeros, and t is the number of the update from 1 on. The formulas are those of
PyTorch's pages of the same names, which Apple's arguments (momentum scale, alpha, is centered, uses AMSGrad)
follow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

from jupyter_mlgpu.graphs.mlcompute.layers.base import check_numbers
from jupyter_mlgpu.graphs.mlcompute.names import choose, insist
from jupyter_mlgpu.graphs.mlcompute.ops import Ops, Value

Values = Sequence[Value]
New = tuple[Value, Values]
"""The new parameter, or parameters, and the new state."""


@dataclass(eq=False)
class Optimizer:
    """The base of all optimizers: gradients are rescaled, clipped and regularized before the update.

    * learning_rate: may be changed between updates.
    * gradient_rescale: gradients are multiplied by it.
    * gradient_clipping: `by_value` between gradient_clip_min and gradient_clip_max; `by_norm`, each
      gradient's length at most maximum_clipping_norm; `by_global_norm`, the length of all together
      (or custom_global_norm if given).
    * regularization_type: `l1` adds scale * sign(p) to the gradient, `l2` scale * p.
    """

    learning_rate: float
    _: KW_ONLY
    gradient_rescale: float = 1.0
    gradient_clipping: str | None = None
    gradient_clip_min: float = 0.0
    gradient_clip_max: float = 0.0
    maximum_clipping_norm: float = 0.0
    custom_global_norm: float = 0.0
    regularization_type: str = "none"
    regularization_scale: float = 0.0

    def __post_init__(self) -> None:
        name, clipping = type(self).__name__, self.gradient_clipping
        self.gradient_clipping = clipping and choose("MLCGradientClippingType", clipping, name)
        self.regularization_type = choose("MLCRegularizationType", self.regularization_type, name)
        shares = dict.fromkeys(("momentum_scale", "alpha", "beta1", "beta2"), (0.0, 1.0))
        check_numbers(name, self, {"learning_rate": (0.0, math.inf)} | shares)
        between = self.gradient_clipping != "ByValue" or self.gradient_clip_min < self.gradient_clip_max
        insist(between, f"{name} clips by value between gradient_clip_min and a larger gradient_clip_max.")
        normed = self.gradient_clipping in (None, "ByValue") or self.maximum_clipping_norm > 0
        insist(normed, f"{name} clips by a norm with a maximum_clipping_norm above 0.")

    def slots(self) -> int:
        """Return how many numbers of state there are for each number of a parameter."""
        return 0

    def improve(self, ops: Ops, parameters: Values, gradients: Values, state: Values, clock: Value) -> New:
        """Return all parameters after the step. `clock` is the learning rate and the number of the update.

        All parameters are one long vector: a formula on it is a dozen operations, not a dozen per parameter.
        """
        if not parameters:
            return [], state
        prepared = self.prepare(ops, parameters, gradients)
        p, g = (
            ops.concatenate([ops.reshape(one, (-1,)) for one in some], 0) for some in (parameters, prepared)
        )
        rate, t = (ops.reshape(one, ()) for one in ops.split(ops.cast(clock, p.dtype), 2, 0))
        new, state = self.update(ops, p, g, state, rate, t)
        parts = ops.split(new, [math.prod(one.shape) for one in parameters], 0)
        return [ops.reshape(one, p.shape) for one, p in zip(parts, parameters, strict=True)], state

    def prepare(self, ops: Ops, parameters: Values, gradients: Values) -> Values:
        """Return rescaled, then clipped, then regularized gradients."""
        scale, most = self.gradient_rescale, self.maximum_clipping_norm
        gradients = [g if scale == 1 else g * scale for g in gradients]
        if self.gradient_clipping == "ByValue":
            low, high = self.gradient_clip_min, self.gradient_clip_max
            gradients = [ops.minimum(ops.maximum(g, low), high) for g in gradients]
        elif self.gradient_clipping:
            norms = [ops.sqrt(ops.sum(g * g, range(len(g.shape)))) for g in gradients]
            if self.gradient_clipping == "ByGlobalNorm":
                whole = ops.sqrt(ops.sum(ops.stack(norms) * ops.stack(norms), [0]))
                whole = whole * 0.0 + self.custom_global_norm if self.custom_global_norm else whole
                norms = [whole] * len(norms)
            # Gradients that are short enough are not changed.
            shares = [most / ops.maximum(norm, most) for norm in norms]
            gradients = [g * share for g, share in zip(gradients, shares, strict=True)]
        if self.regularization_type == "None":
            return gradients
        shrinks = [ops.sign(p) if self.regularization_type == "L1" else p for p in parameters]
        return [g + self.regularization_scale * p for p, g in zip(shrinks, gradients, strict=True)]

    def update(self, ops: Ops, p: Value, g: Value, state: Values, rate: Value, t: Value) -> New:
        """Return one parameter's step."""
        raise NotImplementedError


@dataclass(eq=False)
class SGD(Optimizer):
    """v' = m v + g,  p' = p - rate v'; with Nesterov's momentum p' = p - rate (g + m v')."""

    momentum_scale: float = 0.0
    uses_nesterov_momentum: bool = False

    def slots(self) -> int:
        return 1 if self.momentum_scale else 0

    def update(self, ops: Ops, p: Value, g: Value, state: Values, rate: Value, t: Value) -> New:
        if not state:
            return p - rate * g, []
        velocity = self.momentum_scale * state[0] + g
        step = g + self.momentum_scale * velocity if self.uses_nesterov_momentum else velocity
        return p - rate * step, [velocity]


@dataclass(eq=False)
class Adam(Optimizer):
    """m' = b1 m + (1 - b1) g,  v' = b2 v + (1 - b2) g^2  (running means of the gradient and its square),

    p' = p - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon)   (Kingma and Ba, 2015).

    With AMSGrad the largest v so far stands for v (Reddi et al., 2018).
    """

    learning_rate: float = 0.001
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    uses_ams_grad: bool = False

    def slots(self) -> int:
        return 3 if self.uses_ams_grad else 2

    def update(self, ops: Ops, p: Value, g: Value, state: Values, rate: Value, t: Value) -> New:
        m = self.beta1 * state[0] + (1.0 - self.beta1) * g
        v = self.beta2 * state[1] + (1.0 - self.beta2) * (g * g)
        new = [m, v, ops.maximum(state[2], v)] if self.uses_ams_grad else [m, v]
        # The corrections are single numbers: 1 / sqrt(1 - b2^t) is taken out of the root.
        root = ops.sqrt(new[-1]) / ops.sqrt(1.0 - ops.power(self.beta2, t)) + self.epsilon
        return p - rate / (1.0 - ops.power(self.beta1, t)) * (m / root), new


@dataclass(eq=False)
class AdamW(Adam):
    """Adam with an additional decay of p by rate * regularization_scale * p (Loshchilov and Hutter, 2019)."""

    _: KW_ONLY
    regularization_scale: float = 0.01

    def update(self, ops: Ops, p: Value, g: Value, state: Values, rate: Value, t: Value) -> New:
        return super().update(ops, p * (1.0 - rate * self.regularization_scale), g, state, rate, t)


@dataclass(eq=False)
class RMSProp(Optimizer):
    """v' = a v + (1 - a) g^2,  p' = p - rate g / (sqrt(v') + epsilon)   (Hinton's lecture 6e, 2012).

    Centered, the square of the gradient's running mean is subtracted from v'. With momentum, p moves by a
    velocity to which the quotient is added.
    """

    learning_rate: float = 0.01
    momentum_scale: float = 0.0
    alpha: float = 0.99
    epsilon: float = 1e-8
    is_centered: bool = False

    def slots(self) -> int:
        return 1 + bool(self.momentum_scale) + self.is_centered

    def update(self, ops: Ops, p: Value, g: Value, state: Values, rate: Value, t: Value) -> New:
        v = self.alpha * state[0] + (1.0 - self.alpha) * (g * g)
        new, spread = [v], v
        if self.is_centered:
            mean = self.alpha * state[1] + (1.0 - self.alpha) * g
            new, spread = [v, mean], v - mean * mean
        quotient = g / (ops.sqrt(spread) + self.epsilon)
        if not self.momentum_scale:
            return p - rate * quotient, new
        velocity = self.momentum_scale * state[-1] + quotient
        return p - rate * velocity, [*new, velocity]
