"""The error of each element of a result that its number type explains.

u is the unit roundoff of a type (`roundoff.py`). After Higham, "Accuracy and Stability of Numerical
Algorithms", chapter 3: a sum of n products, in any order, is off by at most gamma_n sum |a||b|, where
gamma_n = n u / (1 - n u). It also covers atomics and sums that change from run to run.
The sum of absolute values is the same operation on the absolute values, because it is linear in each tensor.

An elementwise function is a few units in the last place off, and a few times as much as rounding each input
would change it. Attention and softmax have bounds that follow each of their roundings. The other operations
may be off by a documented multiple of what rounding all inputs at random changes, and of the rounding of the
largest result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.checking import attention
from jupyter_mlgpu.measure.checking.adam import bias_error
from jupyter_mlgpu.measure.checking.attention import EXP_ROUNDINGS, ROUNDINGS
from jupyter_mlgpu.measure.checking.changes import (
    absolute,
    change_of,
    is_inexact,
    moved_at,
    moved_at_random,
    ones,
    sizes_of,
)
from jupyter_mlgpu.measure.checking.kinds import ComparisonKind, base_name, names_of
from jupyter_mlgpu.measure.checking.reference import NotComparableError, OperationCall, tensors_of
from jupyter_mlgpu.measure.checking.roundoff import (
    BLOCKED,
    UNIT,
    gamma,
    input_unit,
    is_convolution,
    smallest,
    unit_of,
)

#: Sums in lower types are kept in float32, except that a GPU may add up a few parts in the lower type.
LOW_PARTS = 4
#: PyTorch's CPU kernel of this loss adds up 16 numbers in the lower type, and 16 of these sums, and so on.
NLL_PARTS = 32
#: Arithmetic is correctly rounded; a fast division is 2.5 units off (Metal Shading Language, table 8.2).
ARITHMETIC_ULPS = 4
#: `pow` is up to 16 units off in Metal, and functions made of several, such as GELU, add a few such errors.
FUNCTION_ULPS = 32
#: A function computes from its input as it is; reducing an angle or splitting an exponent is as good as
#: rounding the input so many times.
INPUT_ROUNDINGS = 4
#: GELU, x (1 + erf(x / sqrt 2)) / 2, and the like cancel numbers of size 1, and keep their error times x.
DIFFERENCE_ULPS = 8
#: A convolution by Winograd's method or FFT is off by multiples of the largest product sum nearby.
FAST_CONVOLUTION = 16
#: Factors of two parts: what rounding at random changes, and the rounding of the largest result. They are for
#: float32, whose kernels round each step, and for lower types, whose kernels compute in float32.
GENERAL = {"high": (16.0, 32.0), "low": (4.0, 4.0)}
#: Random roundings of all inputs whose largest change counts.
TRIALS = 3


Evaluate = Callable[[OperationCall], list[Any]]


class Bounds:
    """The bounds of one operation's results, which `device` computed; `evaluate` computes a reference."""

    def __init__(self, kind: ComparisonKind, call: OperationCall, evaluate: Evaluate, device: str) -> None:
        self._kind = kind
        self._call = call
        self._evaluate = evaluate
        self._device = device
        self._name = base_name(call.operation)
        self._rounded_inputs = input_unit(call.types, device, self._name)

    def of(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        """Return, for each result, its bound and the largest number on the way to it (or None)."""
        ways = {
            ComparisonKind.LINEAR: self._linear,
            ComparisonKind.ELEMENTWISE: self._elementwise,
            ComparisonKind.PRODUCT: self._product,
            ComparisonKind.DISTANCE: self._distance,
            ComparisonKind.ATTENTION: self._attention,
        }
        return ways.get(self._kind, self._general)(reference, given)

    def _linear(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        sums = [one.abs() for one in self._evaluate(self._call.map(absolute))]
        counts = self._evaluate(self._call.map(ones)) if self._name in names_of("stepwise") else None
        found = []
        for place, (exact, ours, total) in enumerate(zip(reference, given, sums, strict=True)):
            if total.numel() and "bicubic" in self._name:  # some of its weights are negative, and add up to 2
                total = total.max().expand(total.shape) * 2
            unit = unit_of(ours.dtype)
            low = unit > UNIT["float32"]
            stepwise = self._name in names_of("stepwise")
            terms = (
                counts[place].abs() + self._terms(exact) * (counts[place].abs() <= 1)
                if counts is not None and counts[place].shape == exact.shape
                else self._terms(exact)
            )
            steps = terms * (4 if ours.dtype.is_complex else 1) + 4
            kept = unit if stepwise or not low else UNIT["float32"]
            share = gamma(steps, kept) + 2.5 * self._rounded_inputs
            bound = share * total + 2 * unit * exact.abs() + smallest(ours.dtype)
            if low:
                bound = bound + unit * self._parts_in_lower_type(exact, total)
            if total.numel() and is_convolution(self._name):
                fast = max(UNIT["float32"] if low else unit, self._rounded_inputs / FAST_CONVOLUTION)
                bound = bound + FAST_CONVOLUTION * fast * total.max()
            found.append((bound, total))
        return found

    def _parts_in_lower_type(self, exact: Any, total: Any) -> Any:
        """Return the sizes of the partial sums that are rounded to a lower type, added up."""
        if self._name == "cumsum" and exact.dim():
            # A scan on a GPU keeps them all; each is a difference of two of its results.
            dim = self._call.argument("dim")
            steps = LOW_PARTS + 2 * math.ceil(math.log2(max(2, exact.shape[dim])))
            return steps * total.minimum(2 * exact.abs().cummax(dim).values)
        cascade = self._name == "nll_loss_forward" and self._device == "cpu"
        return (NLL_PARTS if cascade else LOW_PARTS) * total

    def _terms(self, result: Any) -> int:
        """Return the largest number of terms in an element of the result."""
        call, name, tensors = self._call, self._name, self._tensors()
        if name in ("mm", "bmm", "mv", "dot", "vdot", "linear", "mkldnn_linear"):
            return int(tensors[0].shape[-1])
        if name in ("addmm", "baddbmm", "addmv"):
            return int(tensors[1].shape[-1]) + 1
        if name == "addbmm":
            return int(tensors[1].shape[0] * tensors[1].shape[-1]) + 1
        if name == "linear_backward":
            gradient, weight = call.argument("grad_output"), call.argument("weight")
            return int(max(weight.shape[0], gradient.numel() // max(1, gradient.shape[-1])))
        if name == "convolution_backward":
            gradient, weight = call.argument("grad_output"), call.argument("weight")
            return int(
                max(weight[:, 0].numel(), gradient.numel() // max(1, gradient.shape[1]), weight[0].numel())
            )
        if is_convolution(name):
            weight = call.argument("weight")
            return int(max(weight[0].numel(), weight[:, 0].numel())) + 1
        if name in names_of("reductions"):
            terms = math.ceil(int(tensors[0].numel()) / max(1, int(result.numel())))
            return min(terms, BLOCKED * math.isqrt(terms) + BLOCKED)
        if name == "cumsum":
            self_ = tensors[0]
            return int(self_.shape[call.argument("dim")]) if self_.dim() else 1
        if "upsample" in name:
            return 16 + 4 * max(max(one.shape[2:], default=1) for one in [result, *tensors])
        windows = 1
        if any(one.name == "kernel_size" for one in call.operation._schema.arguments):
            windows = int(math.prod(call.argument("kernel_size")))
        largest = max((one.numel() for one in tensors), default=1)
        return windows + 4 + 4 * math.ceil(largest / max(1, int(result.numel())))

    def _elementwise(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        units = [unit_of(one.dtype) for one in given]
        unit = max([*units, *map(unit_of, self._call.types)], default=0.0)
        arithmetic = self._name in names_of("arithmetic")
        ulps = ARITHMETIC_ULPS if arithmetic else FUNCTION_ULPS
        low = unit > UNIT["float32"]
        # Lower types are computed in float32 and rounded once, or after each of a few steps.
        ulps, inner = (2 if arithmetic else 4, unit) if low else (ulps, unit)
        changes = self._changes_by_argument(reference, inner)
        found = []
        for place, (exact, ours, change) in enumerate(zip(reference, given, changes, strict=True)):
            own = max(unit_of(ours.dtype), unit if exact.is_floating_point() or exact.is_complex() else 0.0)
            rounded = min(ulps, 2 if arithmetic else INPUT_ROUNDINGS)
            bound = ulps * own * sizes_of(exact) + rounded * change + smallest(ours.dtype)
            # Functions of complex numbers are made of several of their real and imaginary parts.
            made_of_several = ours.dtype.is_complex and not arithmetic
            if (self._name in names_of("differences") and ours.dtype.is_floating_point) or made_of_several:
                bound = bound + DIFFERENCE_ULPS * own * self._input_sizes(exact)
            if self._name.startswith("_fused_adam"):
                bound = bound + bias_error(self._call, place, exact, UNIT["float32"])
            found.append((bound, None))
        return found

    def _input_sizes(self, result: Any) -> Any:
        """Return the product of the inputs' sizes for each element, where those below 1 count as 1."""
        import torch

        product = torch.ones(result.shape, dtype=torch.float64, device="cpu")
        for one in self._tensors():
            if one.is_floating_point() and one.shape == result.shape:
                product = product * one.abs().clamp(min=1)
        return product

    def _tensors(self) -> list[Any]:
        return tensors_of((self._call.args, self._call.kwargs))

    def _changes_by_argument(self, reference: list[Any], unit: float) -> list[Any]:
        """Return how much rounding one argument after the other changes the results, added up."""
        import torch

        totals = [torch.zeros(one.shape, dtype=torch.float64, device="cpu") for one in reference]
        for place in self._inexact_places():
            worst = [torch.zeros_like(one) for one in totals]
            for step in (unit, -unit):
                moved = self._evaluate(self._call.map(moved_at(place, step)))
                worst = [
                    torch.maximum(one, change_of(new, old))
                    for one, new, old in zip(worst, moved, reference, strict=True)
                ]
            totals = [total + one for total, one in zip(totals, worst, strict=True)]
        return totals

    def _inexact_places(self) -> list[int]:
        found: set[int] = set()

        def look(leaf: Any, of_type: str, place: int) -> Any:
            if is_inexact(leaf, of_type):
                found.add(place)
            return leaf

        self._call.map(look)
        return sorted(found)

    def _general(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        import torch

        units = [unit_of(one.dtype) for one in given]
        unit = max([*units, *map(unit_of, self._call.types), self._rounded_inputs], default=0.0)
        if self._name == "_softmax":
            return [(self._softmax(reference[0], unit), None)]
        factor, of_largest = GENERAL["low" if unit > UNIT["float32"] else "high"]
        worst = [torch.zeros(one.shape, dtype=torch.float64, device="cpu") for one in reference]
        for trial in range(TRIALS):
            moved = self._evaluate_moved(trial, unit)
            worst = [
                torch.maximum(one, change_of(new, old))
                for one, new, old in zip(worst, moved, reference, strict=True)
            ]
        found = []
        for exact, ours, change in zip(reference, given, worst, strict=True):
            terms = max((one.numel() for one in self._tensors()), default=1) / max(1, ours.numel())
            # The CPU sums the gradient of a norm's weight row by row, and rounds each step to the type.
            rows = terms if self._name.endswith("norm_backward") else 1.0
            walk = max(1.0, math.sqrt(rows) / 4)
            whole = not (ours.is_floating_point() or ours.is_complex())
            sizes = sizes_of(exact)
            sizes = sizes[torch.isfinite(sizes)]
            largest = 0.0 if whole or not sizes.numel() else float(sizes.max())
            bound = factor * torch.maximum(change, change.mean() if change.numel() else change)
            # Each of the numbers that are added up may underflow by half of the smallest number.
            underflow = smallest(ours.dtype) * (1 + terms / 8)
            found.append((walk * (bound + of_largest * unit * largest) + underflow, None))
        return found

    def _evaluate_moved(self, trial: int, unit: float) -> list[Any]:
        try:
            return self._evaluate(self._call.map(moved_at_random(trial, unit, -unit)))
        except NotComparableError:  # beyond the domain, such as a probability above 1
            return self._evaluate(self._call.map(moved_at_random(trial, 0.0, -unit)))

    def _softmax(self, exact: Any, unit: float) -> Any:
        """Bound exp(x - m) / sum: each share is off by its own roundings and by those of the sum."""
        import torch

        dim = self._call.argument("dim")
        distances = exact.clamp(min=1e-300).log().neg() if exact.numel() else exact
        kept = min(unit, UNIT["float32"])
        share = ROUNDINGS * unit * (1 + distances) + EXP_ROUNDINGS * kept
        share = share + (exact * share).sum(dim, keepdim=True)
        share = share + gamma(BLOCKED * math.isqrt(exact.shape[dim] if exact.dim() else 1) + BLOCKED, kept)
        return torch.nan_to_num(share, nan=torch.inf) * exact.abs() + smallest(self._call.types[0])

    def _attention(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        unit = max(*map(unit_of, self._call.types), self._rounded_inputs)
        found = []
        for exact, ours, bound in zip(reference, given, attention.bounds(self._call, unit), strict=True):
            found.append((bound + 2 * unit_of(ours.dtype) * exact.abs() + smallest(ours.dtype), None))
        return found

    def _product(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        terms = 2 * self._terms(reference[0]) + 8
        return [
            (gamma(terms, unit_of(ours.dtype)) * exact.abs() + smallest(ours.dtype), None)
            for exact, ours in zip(reference, given, strict=True)
        ]

    def _distance(self, reference: list[Any], given: list[Any]) -> list[tuple[Any, Any]]:
        """Bound |x - y| computed from |x|^2 + |y|^2 - 2 x y, whose error is that of the squares."""
        left, right = self._call.argument("x1"), self._call.argument("x2")
        squares = left.square().sum(-1).unsqueeze(-1) + right.square().sum(-1).unsqueeze(-2)
        unit = max(unit_of(given[0].dtype), self._rounded_inputs)
        error = gamma(left.shape[-1] + 8, unit) * 2 * squares
        exact = reference[0].abs()
        bound = error / exact.maximum(error.sqrt()).clamp(min=1e-300) + 4 * unit * exact
        return [(bound, None)]
