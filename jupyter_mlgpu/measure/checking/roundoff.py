"""Unit roundoffs of number types. u is half the distance from 1 to the next number.

After Higham, "Accuracy and Stability of Numerical Algorithms", chapters 2 and 3.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.checking.kinds import names_of

#: Unit roundoffs, from the bits of the significands: 11, 8, 24 and 53.
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8, "float32": 2.0**-24, "float64": 2.0**-53}
UNIT |= {"complex32": 2.0**-11, "complex64": 2.0**-24, "complex128": 2.0**-53}
#: TF32 keeps 10 bits after the first; tensor cores may cut the others off instead of rounding.
TF32 = 2.0**-10
#: The smallest number of float16, which all GPUs keep.
SMALLEST_HALF = 2.0**-24
#: Reductions add up n numbers in blocks. A tree of height h is off by gamma_h (Higham, section 4.2), and two
#: levels of blocks have a height of 2 sqrt n; twice as much, with a few levels more. None adds up in one row.
BLOCKED = 4
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
    """Return the relative error of rounding a product's float32 inputs to TF32 or bfloat16, where allowed.

    `name` is the operation's. PyTorch 2.9 and newer have one setting for each library, older ones a switch.
    """
    import torch

    if name not in names_of("products") and not is_convolution(name):
        return 0.0
    if device not in ("cpu", "cuda") or not {torch.float32, torch.complex64} & {*dtypes}:
        return 0.0
    libraries = torch.backends.mkldnn, torch.backends.mkldnn
    if device == "cuda":
        libraries = torch.backends.cuda, torch.backends.cudnn
    part = (
        getattr(libraries[1], "conv", None) if is_convolution(name) else getattr(libraries[0], "matmul", None)
    )
    precision = getattr(part, "fp32_precision", None)
    if precision is None and device == "cuda":
        on = (
            torch.backends.cudnn.allow_tf32 if is_convolution(name) else torch.backends.cuda.matmul.allow_tf32
        )
        precision = "tf32" if on else None
    elif precision is None and torch.get_float32_matmul_precision() == "medium":
        precision = "bf16"
    return {"tf32": TF32, "bf16": UNIT["bfloat16"]}.get(precision or "", 0.0)
