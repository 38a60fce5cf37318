"""From gradients to better parameters: SGD, Adam, AdamW, RMSProp, with regularisation and clipping before.

Each is a formula in the words of ops.py for one parameter: p the parameter, g its gradient, a state of arrays
that begin as zeros, and t the number of the update from 1 on. The formulas are those of PyTorch's pages of
the same names, which Apple's arguments (momentum scale, alpha, is centered, uses AMSGrad) follow.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.errors import GraphError
from jupyter_mlgpu.mlcompute.layers.base import number
from jupyter_mlgpu.mlcompute.names import choose
from jupyter_mlgpu.mlcompute.ops import Ops, Value


class Optimizer:
    """What all have: gradients are rescaled, clipped and regularised before the update.

    * gradient_rescale: gradients are multiplied by it.
    * gradient_clipping: `by_value` between gradient_clip_min and gradient_clip_max; `by_norm`, each
      gradient's length at most maximum_clipping_norm; `by_global_norm`, the length of all together
      (custom_global_norm in its place if given).
    * regularization_type: `l1` adds scale * sign(p) to the gradient, `l2` scale * p.
    """

    slots = 0  # arrays that it keeps for a parameter

    def __init__(
        self,
        learning_rate: float,
        *,
        gradient_rescale: float = 1.0,
        gradient_clipping: str | None = None,
        gradient_clip_min: float = 0.0,
        gradient_clip_max: float = 0.0,
        maximum_clipping_norm: float = 0.0,
        custom_global_norm: float = 0.0,
        regularization_type: str = "none",
        regularization_scale: float = 0.0,
    ) -> None:
        name = type(self).__name__
        #: May be changed between updates.
        self.learning_rate = number(learning_rate, "learning_rate", name, 0)
        self.rescale = gradient_rescale
        self.clipping = gradient_clipping and choose("MLCGradientClippingType", gradient_clipping, name)
        self.low, self.high = gradient_clip_min, gradient_clip_max
        self.norm, self.global_norm = maximum_clipping_norm, custom_global_norm
        if self.clipping == "ByValue" and not self.low < self.high:
            raise GraphError(
                f"{name} clips by value between gradient_clip_min and a larger gradient_clip_max."
            )
        if self.clipping in ("ByNorm", "ByGlobalNorm") and not self.norm > 0:
            raise GraphError(f"{name} clips by a norm with a maximum_clipping_norm above 0.")
        self.regularization = choose("MLCRegularizationType", regularization_type, name)
        self.scale = regularization_scale

    def prepare(self, ops: Ops, parameters: Sequence[Value], gradients: Sequence[Value]) -> list[Value]:
        """Rescaled, then clipped, then regularised gradients."""
        gradients = [g if self.rescale == 1 else g * self.rescale for g in gradients]
        if self.clipping == "ByValue":
            gradients = [ops.minimum(ops.maximum(g, self.low), self.high) for g in gradients]
        elif self.clipping:
            squares = [ops.sum(g * g, range(len(g.shape))) for g in gradients]
            if self.clipping == "ByGlobalNorm":
                whole = squares[0]
                for one in squares[1:]:
                    whole = whole + one
                squares = [whole * 0.0 + self.global_norm**2 if self.global_norm else whole] * len(squares)
            # Shorter ones are left as they are.
            gradients = [
                g * (self.norm / ops.maximum(ops.sqrt(square), self.norm))
                for g, square in zip(gradients, squares, strict=True)
            ]
        return [self._regular(ops, p, g) for p, g in zip(parameters, gradients, strict=True)]

    def _regular(self, ops: Ops, p: Value, g: Value) -> Value:
        if self.regularization == "None":
            return g
        return g + self.scale * (ops.sign(p) if self.regularization == "L1" else p)

    def update(
        self, ops: Ops, p: Value, g: Value, state: Sequence[Value], rate: Value, t: Value
    ) -> tuple[Value, list[Value]]:
        """The new parameter and the new state."""
        raise NotImplementedError


class SGD(Optimizer):
    """v' = m v + g,  p' = p - rate v'; with Nesterov's momentum p' = p - rate (g + m v')."""

    def __init__(
        self,
        learning_rate: float,
        momentum_scale: float = 0.0,
        uses_nesterov_momentum: bool = False,
        **more: float | str,
    ) -> None:
        super().__init__(learning_rate, **more)  # type: ignore[arg-type]
        self.momentum = number(momentum_scale, "momentum_scale", "SGD", 0, 1)
        self.nesterov = uses_nesterov_momentum
        self.slots = 1 if self.momentum else 0

    def update(
        self, ops: Ops, p: Value, g: Value, state: Sequence[Value], rate: Value, t: Value
    ) -> tuple[Value, list[Value]]:
        if not state:
            return p - rate * g, []
        velocity = self.momentum * state[0] + g
        return p - rate * (g + self.momentum * velocity if self.nesterov else velocity), [velocity]


class Adam(Optimizer):
    """m' = b1 m + (1 - b1) g,  v' = b2 v + (1 - b2) g^2  (running means of the gradient and its square),

    p' = p - rate (m' / (1 - b1^t)) / (sqrt(v' / (1 - b2^t)) + epsilon)   (Kingma and Ba, 2015).

    With AMSGrad the largest v so far stands for v (Reddi et al., 2018).
    """

    def __init__(
        self,
        learning_rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        uses_ams_grad: bool = False,
        **more: float | str,
    ) -> None:
        super().__init__(learning_rate, **more)  # type: ignore[arg-type]
        self.beta1, self.beta2 = number(beta1, "beta1", "Adam", 0, 1), number(beta2, "beta2", "Adam", 0, 1)
        self.epsilon, self.amsgrad = number(epsilon, "epsilon", "Adam", 0), uses_ams_grad
        self.slots = 3 if uses_ams_grad else 2

    def update(
        self, ops: Ops, p: Value, g: Value, state: Sequence[Value], rate: Value, t: Value
    ) -> tuple[Value, list[Value]]:
        m = self.beta1 * state[0] + (1.0 - self.beta1) * g
        v = self.beta2 * state[1] + (1.0 - self.beta2) * (g * g)
        new = [m, v, ops.maximum(state[2], v)] if self.amsgrad else [m, v]
        # The corrections are single numbers: 1 / sqrt(1 - b2^t) is taken out of the root.
        root = ops.sqrt(new[-1]) / ops.sqrt(1.0 - ops.power(self.beta2, t)) + self.epsilon
        return p - rate / (1.0 - ops.power(self.beta1, t)) * (m / root), new


class AdamW(Adam):
    """Adam, and beside it p shrinks by rate * regularization_scale * p (Loshchilov and Hutter, 2019)."""

    def __init__(
        self, learning_rate: float = 0.001, *, regularization_scale: float = 0.01, **more: float | str
    ) -> None:
        super().__init__(learning_rate, **more)  # type: ignore[arg-type]
        self.decay = number(regularization_scale, "regularization_scale", "AdamW", 0)

    def update(
        self, ops: Ops, p: Value, g: Value, state: Sequence[Value], rate: Value, t: Value
    ) -> tuple[Value, list[Value]]:
        return super().update(ops, p * (1.0 - rate * self.decay), g, state, rate, t)


class RMSProp(Optimizer):
    """v' = a v + (1 - a) g^2,  p' = p - rate g / (sqrt(v') + epsilon)   (Hinton's lecture 6e, 2012).

    Centred, the square of the gradient's running mean is taken from v'; with momentum, p moves by a velocity
    to which the quotient is added.
    """

    def __init__(
        self,
        learning_rate: float = 0.01,
        momentum_scale: float = 0.0,
        alpha: float = 0.99,
        epsilon: float = 1e-8,
        is_centered: bool = False,
        **more: float | str,
    ) -> None:
        super().__init__(learning_rate, **more)  # type: ignore[arg-type]
        self.momentum = number(momentum_scale, "momentum_scale", "RMSProp", 0, 1)
        self.alpha, self.epsilon = (
            number(alpha, "alpha", "RMSProp", 0, 1),
            number(epsilon, "epsilon", "RMSProp", 0),
        )
        self.centered = is_centered
        self.slots = 1 + bool(self.momentum) + is_centered

    def update(
        self, ops: Ops, p: Value, g: Value, state: Sequence[Value], rate: Value, t: Value
    ) -> tuple[Value, list[Value]]:
        v = self.alpha * state[0] + (1.0 - self.alpha) * (g * g)
        new, spread = [v], v
        if self.centered:
            mean = self.alpha * state[1] + (1.0 - self.alpha) * g
            new, spread = [v, mean], v - mean * mean
        quotient = g / (ops.sqrt(spread) + self.epsilon)
        if not self.momentum:
            return p - rate * quotient, new
        velocity = self.momentum * state[-1] + quotient
        return p - rate * velocity, [*new, velocity]
