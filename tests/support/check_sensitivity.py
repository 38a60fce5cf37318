"""The smallest error in one element that the check of results finds, by kind of operation and number type.

`python -m tests.support.check_sensitivity` writes the table in docs/measurements/check.md.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PAGE = Path(__file__).parents[2] / "docs/measurements/check.md"
TYPES = ("float32", "bfloat16", "float16")
#: Errors are tried in steps of this factor, from the smallest on.
STEP = 2.0
SMALLEST, LARGEST = 2.0**-26, 64.0
MARKS = "<!-- smallest errors -->", "<!-- end of smallest errors -->"


class Case(NamedTuple):
    kind: str
    operation: str
    #: What the operation is run on, for people.
    what: str
    #: An expression over `torch`, `F` and `T`, the number type.
    code: str


def _cases() -> list[Case]:
    rows = """
copies | aten.clone | 1,000 | torch.randn(1000, dtype=T).clone()
indexing | aten.index | 1,000 of 2,000 | torch.randn(2000, dtype=T)[torch.arange(1000)]
sorting | aten.sort | 1,000 | torch.randn(1000, dtype=T).sort()
comparing, largest | aten.amax | 40 × 50 | torch.randn(40, 50, dtype=T).amax(1)
arithmetic | aten.mul | 1,000 | torch.randn(1000, dtype=T) * torch.randn(1000, dtype=T)
arithmetic | aten.div | 1,000 | torch.randn(1000, dtype=T) / torch.randn(1000, dtype=T)
arithmetic | aten.add | 1,000 | torch.randn(1000, dtype=T) + torch.randn(1000, dtype=T)
functions | aten.exp | 1,000 | torch.randn(1000, dtype=T).exp()
functions | aten.tanh | 1,000 | torch.randn(1000, dtype=T).tanh()
functions | aten.gelu | 1,000 | F.gelu(torch.randn(1000, dtype=T))
sums | aten.sum | 50 × 100 | torch.randn(50, 100, dtype=T).sum(1)
sums | aten.sum | 50 × 10,000 | torch.randn(50, 10000, dtype=T).sum(1)
sums | aten.sum | 4 × 1,000,000 | torch.randn(4, 1000000, dtype=T).sum(1)
sums of positive numbers | aten.sum | 50 × 10,000 | torch.rand(50, 10000).to(T).sum(1)
means | aten.mean | 50 × 1,000 | torch.randn(50, 1000, dtype=T).mean(1)
cumulative sums | aten.cumsum | 1,000 | torch.randn(1000, dtype=T).cumsum(0)
cumulative products | aten.cumprod | 40 | (torch.rand(40) + 0.5).to(T).cumprod(0)
products of matrices | aten.mm | 64 × 64 × 64 | torch.randn(64, 64, dtype=T) @ torch.randn(64, 64, dtype=T)
products of matrices | aten.mm | 64 × 1,024 × 64 | torch.randn(64, 1024, dtype=T) @ torch.randn(1024, 64, dtype=T)
products of matrices | aten.mm | 64 × 8,192 × 64 | torch.randn(64, 8192, dtype=T) @ torch.randn(8192, 64, dtype=T)
linear layers | aten.addmm | 32 × 512 × 64 | torch.nn.Linear(512, 64, dtype=T)(torch.randn(32, 512, dtype=T))
convolutions | aten.convolution | 16 channels, 3 × 3 | F.conv2d(torch.randn(2, 16, 20, 20, dtype=T), torch.randn(8, 16, 3, 3, dtype=T))
convolutions | aten.convolution | 256 channels, 3 × 3 | F.conv2d(torch.randn(1, 256, 8, 8, dtype=T), torch.randn(8, 256, 3, 3, dtype=T))
pooling | aten.avg_pool2d | 2 × 2 | F.avg_pool2d(torch.randn(2, 3, 16, 16, dtype=T), 2)
adding by index | aten.index_add | 200 to 20 places | torch.zeros(20, dtype=T).index_add(0, torch.randint(0, 20, (200,)), torch.randn(200, dtype=T))
gradients of embeddings | aten.embedding_dense_backward | 80 of 20 words | gradient(F.embedding, torch.randint(0, 20, (80,)), torch.randn(20, 8, dtype=T))
softmax | aten._softmax | 16 × 100 | torch.randn(16, 100, dtype=T).softmax(-1)
softmax | aten._softmax | 4 × 50,000 | torch.randn(4, 50000, dtype=T).softmax(-1)
logarithms of softmax | aten._log_softmax | 16 × 100 | torch.randn(16, 100, dtype=T).log_softmax(-1)
normalisation | aten.native_layer_norm | 8 × 256 | F.layer_norm(torch.randn(8, 256, dtype=T), (256,))
gradients of normalisation | aten.native_layer_norm_backward | 8 × 256 | gradient(F.layer_norm, torch.randn(8, 256, dtype=T), (256,), torch.ones(256, dtype=T))
normalisation | aten.native_batch_norm | 16 × 4 × 8 × 8 | F.batch_norm(torch.randn(16, 4, 8, 8, dtype=T), None, None, training=True)
attention | aten._scaled_dot_product_flash_attention_for_cpu | 64 tokens | F.scaled_dot_product_attention(*torch.randn(3, 2, 4, 64, 32, dtype=T))
variance | aten.var | 20 × 500 | torch.randn(20, 500, dtype=T).var(1)
norms | aten.linalg_vector_norm | 20 × 500 | torch.randn(20, 500, dtype=T).norm(dim=1)
losses | aten.nll_loss_forward | 64 × 10 | F.nll_loss(torch.randn(64, 10, dtype=T).log_softmax(1), torch.randint(0, 10, (64,)), reduction="sum")
distances | aten._cdist_forward | 30 × 20 | torch.cdist(torch.randn(30, 8, dtype=T), torch.randn(20, 8, dtype=T))
enlarging | aten.upsample_bilinear2d | 9 × 9 to 18 × 18 | F.interpolate(torch.randn(1, 2, 9, 9, dtype=T), scale_factor=2, mode="bilinear")
Fourier transforms | aten._fft_r2c | 4 × 1,000 | torch.fft.rfft(torch.randn(4, 1000, dtype=T))
equations | aten._linalg_solve_ex | 20 × 20 | torch.linalg.solve(torch.randn(20, 20, dtype=T), torch.randn(20, 2, dtype=T))
"""
    return [Case(*(one.strip() for one in row.split(" | "))) for row in rows.strip().splitlines()]


CASES = _cases()


def smallest_error(case: Case, dtype: str) -> tuple[float, float] | None:
    """Return the smallest relative errors that are found in the largest element, and in a median one.

    Infinity stands for one that is not found at all; None if the operation does not exist in this type.
    """
    import torch

    from jupyter_mlgpu.measure.checking import check_mode

    found = []
    compare = check_mode.compare

    def judge(given, reference, tolerance, reach=None):
        if not found and given.numel():
            found.append(tuple(_first_found(given, reference, tolerance, one) for one in (1.0, 0.5)))
        return compare(given, reference, tolerance, reach)

    places = check_mode.compare_places

    def judge_places(call, given, reference):
        judge(given[0], reference[0], torch.zeros((), dtype=torch.float64))
        return places(call, given, reference)

    check_mode.compare, check_mode.compare_places = judge, judge_places
    try:
        with _only(case.operation):
            run(case, dtype)
    except (RuntimeError, NotImplementedError):
        return None
    finally:
        check_mode.compare, check_mode.compare_places = compare, places
    return found[0] if found else None


def _first_found(given, reference, tolerance, quantile: float) -> float:
    """Return the smallest error of an element of this rank of size that is beyond the tolerance."""
    import torch

    at = _place(given, quantile)
    value, right = (one.flatten()[at].to(torch.complex128) for one in (given, reference))
    allowed = float(tolerance.expand(given.shape).flatten()[at])
    error = SMALLEST
    while error <= LARGEST:
        wrong = (value * (1 + error)).to(given.dtype if given.is_complex() else torch.complex128)
        if not given.is_complex():
            wrong = wrong.real.to(given.dtype)
        if abs(wrong.to(torch.complex128) - right) > allowed:
            return error
        error *= STEP
    return float("inf")


def _place(values, quantile: float) -> int:
    sizes = values.abs().to(values.real.dtype).flatten()
    return int(sizes.argsort()[round(quantile * (sizes.numel() - 1))])


@contextmanager
def _only(operation: str):
    """Check this operation alone, which saves the time of the others."""
    from jupyter_mlgpu.measure.checking import check_mode
    from jupyter_mlgpu.measure.checking.kinds import ComparisonKind, full_name, kind_of

    check_mode.kind_of = lambda one: kind_of(one) if full_name(one) == operation else ComparisonKind.VALUELESS
    try:
        yield
    finally:
        check_mode.kind_of = kind_of


def is_found(case: Case, dtype: str, error: float) -> bool:
    """Return True if an error in the largest element, made by a device that is wrong on purpose, is found."""
    with _only(case.operation), _device(case.operation, error):
        return any(one.operation == case.operation for one in run(case, dtype).first)


def run(case: Case, dtype: str):
    """Check a case; return the result."""
    import torch

    from jupyter_mlgpu.measure.checking.check_mode import checking

    torch.manual_seed(0)
    names = {"torch": torch, "F": torch.nn.functional, "T": getattr(torch, dtype), "gradient": _gradient}
    with checking() as checker:
        eval(case.code, names)
    return checker.result()


def _gradient(function, *args):
    import torch

    args = [
        one.requires_grad_() if isinstance(one, torch.Tensor) and one.is_floating_point() else one
        for one in args
    ]
    result = function(*args)
    result.backward(torch.randn(result.shape).to(result.dtype))


def _device(operation: str, error: float):
    """A dispatch mode in which an operation multiplies one element of its first result by 1 + error."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Device(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            if function._schema.name.replace("::", ".") == operation:
                first = result if isinstance(result, torch.Tensor) else result[0]
                place = torch.unravel_index(torch.tensor(_place(first, 1.0)), first.shape)
                value = first[tuple(map(int, place))]
                value.copy_(value.to(torch.complex128 if value.is_complex() else torch.float64) * (1 + error))
            return result

    return Device()


def table() -> str:
    """Return the table of the page."""
    lines = [
        "| operations | operation | on | " + " | ".join(TYPES) + " |",
        "| --- " * (3 + len(TYPES)) + "|",
    ]
    for case in CASES:
        cells = [_cell(smallest_error(case, dtype)) for dtype in TYPES]
        lines.append(f"| {case.kind} | `{case.operation}` | {case.what} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(errors: tuple[float, float] | None) -> str:
    if errors is None:
        return ""
    largest, median = map(_percent, errors)
    return largest if largest == median else f"{largest}, {median}"


def _percent(error: float) -> str:
    return "none" if error == float("inf") else f"{100 * error:.1g} %".replace("e-0", "e-")


def documented() -> dict[tuple[str, str, str], tuple[float, float] | None]:
    """Return what the page says, by operation, what it was run on, and number type."""
    part = PAGE.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    found = {}
    for row in part.strip().splitlines()[2:]:
        _, _, operation, what, *cells, _ = (one.strip() for one in row.split("|"))
        for dtype, cell in zip(TYPES, cells, strict=True):
            numbers = [
                float("inf") if one == "none" else float(one.removesuffix(" %")) / 100
                for one in cell.split(", ")
                if one
            ]
            found[operation.strip("`"), what, dtype] = (numbers[0], numbers[-1]) if numbers else None
    return found


def write() -> None:
    """Write the table into the page."""
    text = PAGE.read_text(encoding="utf-8")
    between = re.compile(f"({re.escape(MARKS[0])}\n).*?(\n{re.escape(MARKS[1])})", re.DOTALL)
    made = table()
    PAGE.write_text(between.sub(lambda found: found[1] + made + found[2], text), encoding="utf-8")


if __name__ == "__main__":
    write()
