"""The error of Adam's bias corrections in fused kernels.

Adam divides by 1 - beta^t, where t is the number of the step. CUDA's fused kernel computes that in float32,
where the difference has the rounding of beta^t, which is large beside it in the first steps. On an H200 with
PyTorch 2.11, an update was 2.6e-6 of itself off, and u is 6e-8.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.checking.reference import OperationCall

#: Roundings of beta^t.
_ROUNDINGS = 2


def bias_error(call: OperationCall, place: int, result: Any, unit: float) -> Any:
    """Return the error of a result that the corrections explain: 0 for all but the parameters.

    `place` is the result's: the parameters come first.
    """
    parameters = call.argument("self")
    if place >= len(parameters):
        return 0.0
    step = float(call.argument("state_steps")[place])
    first, second = (min(call.argument(name) ** step, 1 - unit) for name in ("beta1", "beta2"))
    share = first / (1 - first) + second / (1 - second) / 2  # the second is under a square root
    return _ROUNDINGS * unit * share * (result - parameters[place]).abs()
