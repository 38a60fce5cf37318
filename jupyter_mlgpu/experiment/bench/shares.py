"""Compute the share of the measured GEMM peak that each result reaches, a bound measured on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.experiment.bench.result import NOT_MEASURED, CaseResult
from jupyter_mlgpu.record.sentence import say

MEMORY = say("It is not limited by arithmetic, so it is not compared with matrix products.")


def with_shares(results: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
    """Return the results with `gemm_share`: their TFLOP/s divided by the best of gemm in the same type.

    Both have the same framework and device.
    """
    return tuple(replace(one, gemm_share=_share(one, results)) if one.samples else one for one in results)


def peak(results: Sequence[CaseResult], framework: str, device: str, type_: str) -> CaseResult | None:
    """Return the fastest matrix product of a type on a device, or None if none was measured."""
    fitting = [
        one
        for one in results
        if one.case == "gemm"
        and one.samples
        and (one.framework, one.device, one.type_ran) == (framework, device, type_)
    ]
    return max(fitting, key=lambda one: one.tflops.value or 0.0, default=None)


def _share(one: CaseResult, results: Sequence[CaseResult]) -> Quantity:
    if one.peak_type is None:
        return unknown("1", MEMORY)
    # What was requested in float32 may have run as tf32: its peak is that of the type in which it ran.
    type_ = one.type_ran if one.peak_type == one.type_asked and one.type_ran else one.peak_type
    best = peak(results, one.framework, one.device, type_)
    if best is None or not best.tflops.value:
        none = say("No {type} gemm was measured with it: add the gemm case.", type=type_)
        return unknown("1", none)
    if one.tflops.value is None:
        return unknown("1", one.tflops.why_missing or NOT_MEASURED)
    return Quantity(one.tflops.value / best.tflops.value, "1")
