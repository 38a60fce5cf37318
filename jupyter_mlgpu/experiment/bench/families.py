"""The small cases: matrix products, memory bandwidth, transfer, convolutions, dispatch; and the burn.

A product of two n x n matrices takes 2 n^3 operations, an addition for each multiplication. Bandwidth is
counted like in J. D. McCalpin's STREAM (1995): each array that is read or written counts once, whatever the
caches do, and the arrays are larger than the caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import get_args

from jupyter_mlgpu.experiment.bench.case import Case, CaseRequest, Needs, Work
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.benchmarks import ConvolutionCase, Direction, Operation
from jupyter_mlgpu.measure.frameworks.precision import BYTES
from jupyter_mlgpu.record.sentence import say

_MIB = 1024**2

#: Memory that a framework takes for its libraries and workspaces, in addition to its arrays.
_WORKSPACE = 256 * _MIB

#: The number of arrays that a step of each operation reads and writes.
_ARRAYS = {"add": 3, "mult": 3, "mult-add": 4}

#: Minutes of a burn, and of one with --quick.
BURN, BURN_QUICK = 3.0, 0.5

NO_ARITHMETIC = say("This case moves data; its arithmetic is not counted.")


def gemm(asked: CaseRequest) -> Iterator[Case]:
    """Yield matrix products of all types, n from 32 to 16,384 on a GPU, to 4,096 (float32 only) on a CPU."""
    on_cpu = asked.device.kind == "cpu"
    if asked.quick:
        sizes: tuple[int, ...] = (256, 512, 1024) if on_cpu else (512, 2048, 8192)
        others: tuple[int, ...] = (512,) if on_cpu else (8192,)
    else:
        sizes = tuple(2**power for power in range(5, 13 if on_cpu else 15))
        # Emulated types take a processor up to a hundred times as long.
        others = sizes[:6] if on_cpu else sizes
    for type_ in BYTES:
        for n in sizes if type_ == "float32" else others:
            yield _gemm(asked, n, type_)


def largest_product(asked: CaseRequest, type_: str) -> Case:
    """Return the product of a type that reaches about the device's peak, as `gemm` has it in a quick run."""
    return _gemm(asked, 1024 if asked.device.kind == "cpu" else 8192, type_)


def _gemm(asked: CaseRequest, n: int, type_: str) -> Case:
    # The fourth array: small products are chained, and emulated ones are computed in float32.
    need = 4 * n * n * max(BYTES[type_], 4) + _WORKSPACE
    return Case(
        "gemm",
        asked.framework,
        {"n": n},
        Work(1, "products", 2.0 * n**3, None, "2 n^3 operations a product", 3.0 * n * n * BYTES[type_]),
        Needs(need),
        lambda device: registry.array_programs(asked.framework).gemm(device, n, type_),
        type_asked=type_,
        peak_type=type_,
        chart="n",
    )


def burn(asked: CaseRequest) -> Iterator[Case]:
    """Yield minutes of large products in float32: what the device sustains once it is hot."""
    minutes = asked.minutes or (BURN_QUICK if asked.quick else BURN)
    product = _gemm(asked, 2048 if asked.device.kind == "cpu" else 8192, "float32")
    parameters = {**product.parameters, "minutes": int(minutes) if minutes == int(minutes) else minutes}
    # It has charts of its own, so it is in none of the others.
    work = replace(product.work, moved=None)
    yield replace(product, name="burn", parameters=parameters, work=work, chart=None, burn_s=60 * minutes)


def bandwidth(asked: CaseRequest) -> Iterator[Case]:
    """Yield memory bandwidth cases: x + b, x * b and x * b + c over arrays of float32."""
    if asked.device.kind == "cpu":
        size = (64 if asked.quick else 256) * _MIB
    else:
        size = (256 if asked.quick else 1024) * _MIB
    for operation in get_args(Operation):
        yield _stream(asked, operation, size)


def _stream(asked: CaseRequest, operation: Operation, size: int) -> Case:
    arrays = _ARRAYS[operation]
    return Case(
        "bandwidth",
        asked.framework,
        {"operation": operation, "MiB": size // _MIB},
        Work(
            arrays * size,
            "bytes",
            (2.0 if operation == "mult-add" else 1.0) * size / 4,
            None,
            f"{arrays} arrays of {size // _MIB} MiB a step, each read or written once",
            arrays * size,
        ),
        Needs(5 * size + _WORKSPACE),
        lambda device: registry.array_programs(asked.framework).stream(device, operation, size // 4),
    )


def transfer(asked: CaseRequest) -> Iterator[Case]:
    """Yield copies between host and device, each way and both ways."""
    for size in (64,) if asked.quick else (1, 64, 512):
        for direction in get_args(Direction):
            yield _transfer(asked, direction, size * _MIB)


def _transfer(asked: CaseRequest, direction: Direction, size: int) -> Case:
    ways = 2 if direction == "ping-pong" else 1
    formula = "the array once each way a step" if ways == 2 else "the array once a step"
    return Case(
        "transfer",
        asked.framework,
        {"direction": direction, "MiB": size // _MIB},
        Work(ways * size, "bytes", None, NO_ARITHMETIC, formula),
        Needs(4 * size + _WORKSPACE),
        lambda device: registry.array_programs(asked.framework).transfer(device, direction, size // 4),
        chart="MiB",
    )


def conv(asked: CaseRequest) -> Iterator[Case]:
    """Yield a convolution of 3 x 3, and a depthwise separable one (A. Howard et al. 2017, MobileNets)."""
    on_cpu = asked.device.kind == "cpu"
    batch, size, channels = (2, 28, 64) if asked.quick else (8, 56, 128)
    if not on_cpu:
        batch, size, channels = 64, 56, 256
    for type_ in ("float32",) if on_cpu or asked.quick else ("float32", "bfloat16"):
        for separable in (False, True):
            yield _conv(asked, ConvolutionCase(batch, size, channels, separable, type_))


def _conv(asked: CaseRequest, shape: ConvolutionCase) -> Case:
    formula = "2 k k c c operations a point, k = 3"
    if shape.separable:
        formula = "2 (k k c + c c) operations a point, k = 3"
    image = shape.batch * shape.size**2 * shape.channels * BYTES[shape.type_]
    return Case(
        "conv",
        asked.framework,
        {
            "kind": "separable" if shape.separable else "normal",
            "batch": shape.batch,
            "size": shape.size,
            "channels": shape.channels,
        },
        # Images in and out; the weights are few in comparison.
        Work(shape.batch, "images", shape.flops, None, formula, 2.0 * image),
        # If it is computed as a matrix product, each point is stored with its 9 neighbours.
        Needs(12 * image + _WORKSPACE),
        lambda device: registry.array_programs(asked.framework).conv(device, shape),
        type_asked=shape.type_,
        peak_type=shape.type_,
    )


def dispatch(asked: CaseRequest) -> Iterable[Case]:
    """Return the cases of the smallest operation: many launched in a row, and each synchronized."""
    return [_dispatch(asked, synchronised) for synchronised in (False, True)]


def _dispatch(asked: CaseRequest, synchronised: bool) -> Case:
    return Case(
        "dispatch",
        asked.framework,
        {"launches": "synchronised" if synchronised else "chained"},
        Work(1, "launches", None, NO_ARITHMETIC, "an addition to one number a step"),
        Needs(_WORKSPACE),
        lambda device: registry.array_programs(asked.framework).dispatch(device, synchronised),
    )
