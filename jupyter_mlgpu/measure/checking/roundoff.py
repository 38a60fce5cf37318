"""Unit roundoffs of number types. u is half the distance from 1 to the next number.

After Higham, "Accuracy and Stability of Numerical Algorithms", chapters 2 and 3.
"""

from __future__ import annotations

from typing import Any

#: Unit roundoffs, from the bits of the significands: 11, 8, 24 and 53.
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
UNIT |= {"complex32": 2.0**-11, "complex64": 2.0**-24, "complex128": 2.0**-53}
#: TF32 keeps 10 bits after the first; tensor cores may cut the others off instead of rounding.
TF32 = 2.0**-10
#: The smallest number of float16, which all GPUs keep.
SMALLEST_HALF = 2.0**-24
#: Parts of the names of convolutions.
CONVOLUTIONS = ("convolution", "conv_", "conv2d", "conv3d", "conv_transpose", "_convolution")


def gamma(n: Any, unit: float) -> Any:
    """Return n u / (1 - n u), and 1 from n u = 1/2 on: from there a sum may no longer grow at all."""
    import torch

    product = torch.as_tensor(n, dtype=torch.float64, device="cpu") * unit
    return torch.where(product < 0.5, product / (1 - product), 1.0)


def unit_of(dtype: Any) -> float:
    """Return the unit roundoff of a number type, 0 for whole numbers."""
    return UNIT.get(str(dtype).removeprefix("torch."), 0.0)


def smallest(dtype: Any) -> float:
    """Return the error of a few underflows: a GPU may round subnormal numbers of float32 to 0."""
    import torch

    if not (dtype.is_floating_point or dtype.is_complex):
        return 0.0
    half = dtype in (torch.float16, torch.complex32)
    return 4 * (SMALLEST_HALF if half else float(torch.finfo(dtype).tiny))


def is_convolution(name: str) -> bool:
    """Return True for the name of a convolution, or of its gradient."""
    return any(one in name for one in CONVOLUTIONS)


def input_unit(dtypes: list[Any], device: str, name: str) -> float:
    """Return the relative error of rounding inputs of a product to TF32 or bfloat16, if settings allow it."""
    import torch

    if torch.float32 not in dtypes and torch.complex64 not in dtypes:
        return 0.0
    if torch.get_float32_matmul_precision() == "medium":
        return UNIT["bfloat16"]
    if device != "cuda":
        return 0.0
    convolution = is_convolution(name)
    tf32 = torch.backends.cudnn.allow_tf32 if convolution else torch.backends.cuda.matmul.allow_tf32
    return TF32 if tf32 else 0.0
