"""What one GPU did in a cell: launches, copies by direction, and the kernels that took most time."""

from __future__ import annotations

from msgspec import Struct

from jupyter_mlgpu.record.decoding import Count, Measured


class CopySum(Struct, frozen=True):
    """All copies in one direction (`host-to-device`, ...): `seconds` is the sum of their times."""

    direction: str
    count: Count
    bytes: Count
    seconds: Measured


class KernelSum(Struct, frozen=True):
    """All launches of one kernel: `seconds` is the sum of their times."""

    name: str
    count: Count
    seconds: Measured


class GpuWork(Struct, frozen=True):
    """What a GPU (`gpu:0`) did. `launches` counts kernels, copies and sets; `kernel_seconds` is the sum over
    all kernels, which may overlap; `kernels` are those that took most, the longest first.
    """

    device: str
    launches: Count
    kernel_seconds: Measured
    copies: tuple[CopySum, ...] = ()
    kernels: tuple[KernelSum, ...] = ()
