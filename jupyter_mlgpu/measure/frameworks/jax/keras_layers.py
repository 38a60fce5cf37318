"""Two layers for Keras on JAX that read memory less often: batch normalisation and depthwise convolution.

Keras computes batch normalisation in two passes over a tensor of hundreds of megabytes: the mean, and then
the mean square of the difference. Automatic differentiation adds more passes. Here both moments come from one
pass, E[x^2] - E[x]^2 in float32, and the gradient is that of Ioffe and Szegedy 2015 (arXiv:1502.03167,
section 3), which takes two sums and one pass. The difference of squares loses digits if the mean is many
times the standard deviation; the outputs of convolutions do not have such means.

A depthwise convolution takes as many multiplications as its kernel has positions, which XLA fuses into one
kernel. It does not need tensor cores, for which libraries design their convolutions.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def one_pass_norm() -> Any:
    """Return a Keras layer that replaces BatchNormalization with channels last; created at the first call."""
    import jax
    import keras
    from jax import numpy as jnp

    def moments(x: Any) -> tuple[Any, Any]:
        axes, wide = tuple(range(x.ndim - 1)), x.astype(jnp.float32)
        mean, square = wide.mean(axes), (wide * wide).mean(axes)
        return mean, jnp.maximum(square - mean * mean, 0.0)

    def forward(x: Any, gamma: Any, beta: Any, epsilon: float) -> Any:
        mean, variance = moments(x)
        inverse = jax.lax.rsqrt(variance + epsilon)
        factor = gamma * inverse
        y = (x.astype(jnp.float32) * factor + (beta - mean * factor)).astype(x.dtype)
        return (y, mean, variance), (x, gamma, mean, inverse)

    def backward(epsilon: float, saved: Any, gradients: Any) -> Any:
        # No gradient flows through the returned moments: they are only for the moving averages.
        (x, gamma, mean, inverse), dy = saved, gradients[0].astype(jnp.float32)
        axes, number = tuple(range(x.ndim - 1)), x.size // x.shape[-1]
        normal = (x.astype(jnp.float32) - mean) * inverse
        to_beta, to_gamma = dy.sum(axes), (dy * normal).sum(axes)
        dx = gamma * inverse * (dy - (to_beta + normal * to_gamma) / number)
        return dx.astype(x.dtype), to_gamma, to_beta

    def plain(x: Any, gamma: Any, beta: Any, epsilon: float) -> Any:
        return forward(x, gamma, beta, epsilon)[0]

    normalised = jax.custom_vjp(plain, nondiff_argnums=(3,))
    normalised.defvjp(forward, backward)

    class OnePassNorm(keras.layers.BatchNormalization):  # type: ignore[misc]
        """The same as keras.layers.BatchNormalization over the last axis, in fewer passes."""

        def call(self, inputs: Any, training: bool | None = None, mask: Any = None) -> Any:
            if not training or mask is not None or not self.trainable:
                return super().call(inputs, training=training, mask=mask)
            gamma, beta = (keras.ops.convert_to_tensor(one) for one in (self.gamma, self.beta))
            y, mean, variance = normalised(inputs, gamma, beta, self.epsilon)
            for moving, now in ((self.moving_mean, mean), (self.moving_variance, variance)):
                moving.assign(moving * self.momentum + now * (1.0 - self.momentum))
            return y

    return OnePassNorm


@cache
def shifted_depthwise() -> Any:
    """Return a Keras layer that replaces DepthwiseConv2D with channels last; created at the first call."""
    import jax
    import keras
    from jax import numpy as jnp

    class ShiftedDepthwise(keras.layers.DepthwiseConv2D):  # type: ignore[misc]
        """The same as keras.layers.DepthwiseConv2D without a bias and with one output per channel."""

        def call(self, inputs: Any) -> Any:
            kernel = keras.ops.convert_to_tensor(self.kernel).astype(jnp.float32)[..., 0]
            (high, wide), (down, right) = self.kernel_size, self.strides
            if self.padding == "same":  # with a stride of 1 and an odd kernel, padding is equal on each side
                inputs = jnp.pad(inputs, ((0, 0), (high // 2,) * 2, (wide // 2,) * 2, (0, 0)))
            number, rows, columns, channels = inputs.shape
            rows, columns = (rows - high) // down, (columns - wide) // right
            total: Any = 0.0
            for i in range(high):
                for j in range(wide):
                    end = (number, i + rows * down + 1, j + columns * right + 1, channels)
                    part = jax.lax.slice(inputs, (0, i, j, 0), end, (1, down, right, 1))
                    total = total + part.astype(jnp.float32) * kernel[i, j]
            return total.astype(inputs.dtype)

    return ShiftedDepthwise
