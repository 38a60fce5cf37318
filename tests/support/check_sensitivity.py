"""The smallest error in one element that the check of results finds, by kind of operation and number type.

`python -m tests.support.check_sensitivity` writes the table in docs/measurements/check.md.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.support.check_cells import DATA

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
    rows = (DATA / "check_cells/sensitivity.txt").read_text(encoding="utf-8")
    return [Case(*(one.strip() for one in row.split(" | "))) for row in rows.splitlines()]


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
    if error == float("inf"):
        return "none"
    rounded = float(f"{100 * error:.1g}")
    return f"{rounded:,.0f} %" if rounded >= 1 else f"{rounded:.7f}".rstrip("0") + " %"


def documented() -> dict[tuple[str, str, str], tuple[float, float] | None]:
    """Return what the page says, by operation, what it was run on, and number type."""
    part = PAGE.read_text(encoding="utf-8").partition(MARKS[0])[2].partition(MARKS[1])[0]
    found = {}
    for row in part.strip().splitlines()[2:]:
        _, _, operation, what, *cells, _ = (one.strip() for one in row.split("|"))
        for dtype, cell in zip(TYPES, cells, strict=True):
            numbers = [
                float("inf") if one == "none" else float(one.removesuffix(" %").replace(",", "")) / 100
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
