"""The work of a cell's operations: floating-point operations, and bytes read and written at the least.

Bytes are counted as in the benchmark (experiment/bench/families.py): each array that an operation reads or
writes counts once, as if contiguous, and the arrays of one operation count as different ones. What lies in a
cache is not read from memory. So the bytes of calls on more data than caches hold are counted separately as
well.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.record.reading import Reading, missing, new_reading
from jupyter_mlgpu.record.record import Fact
from jupyter_mlgpu.record.sentence import Sentence, say

#: Bytes of one call from which on caches cannot hold them. GPU caches have up to 50 MB (NVIDIA's H100),
#: caches shared by a CPU's cores 32 MB (a core complex of AMD's EPYC).
LARGE = 64 * 1024**2
#: Bytes of a number by the types' common names.
BYTES = {"float64": 8, "float32": 4, "tf32": 4, "float16": 2, "bfloat16": 2}
#: The largest whole number in a record.
_MOST = 2**63 - 1

#: Elementwise operations by the number of arrays that each reads, with PyTorch's and TensorFlow's names.
_READ = {
    1: "neg exp log sqrt rsqrt tanh sigmoid gelu silu clamp clamp_min clamp_max abs sin cos Neg Exp Log Sqrt "
    "Rsqrt Tanh Sigmoid Relu Relu6 Elu Selu Abs Sin Cos Square",
    2: "add sub mul div maximum minimum Add AddV2 Sub Mul RealDiv Maximum Minimum SquaredDifference BiasAdd",
    3: "addcmul addcdiv lerp",
}
_ELEMENTWISE = {name: count for count, names in _READ.items() for name in names.split()}
#: Matrix products: of the second and third array in PyTorch's `addmm` and `baddbmm`, else of the first two.
PRODUCTS = frozenset(("mm", "bmm", "addmm", "baddbmm", "MatMul", "BatchMatMul", "BatchMatMulV2"))

Shape = Sequence[int]


@dataclass(frozen=True, slots=True)
class CellWork:
    """The work of a cell's operations, all of one framework and on one device.

    `flops` are those in `number_type`, the type with most of them, and `operations` the number of calls
    counted. `moved` and `large` are bytes, `large` those of calls on more data than caches hold; `moved` is
    None if no shapes are reported.
    """

    framework: str
    device: str
    number_type: str
    flops: int
    operations: int
    moved: int | None
    large: int


def moved(kind: str, shapes: Sequence[Shape], number_type: str | None) -> int | None:
    """Return the bytes that an operation of this kind reads and writes at the least, None if unknown."""
    size = BYTES.get(number_type or "")
    if size is None:
        return None
    if kind in PRODUCTS:
        pair = _multiplied(kind, shapes)
        if pair is None:
            return None
        return size * (sum(map(math.prod, pair)) + _product_size(*pair))
    if kind == "copy_":
        return size * 2 * math.prod(shapes[0]) if shapes else None
    reads = _ELEMENTWISE.get(kind.removesuffix("_"))
    arrays = [math.prod(shape) for shape in shapes[: reads or 0]]
    return size * (sum(arrays) + max(arrays)) if arrays else None


def product_flops(kind: str, shapes: Sequence[Shape]) -> float | None:
    """Return two operations for each multiplication of a matrix product, None for other operations.

    Profiles do not say if a matrix is transposed. Of the possible shared sizes the largest is used, for which
    the operations are fewest.
    """
    pair = _multiplied(kind, shapes) if kind in PRODUCTS else None
    if pair is None:
        return None
    return 2.0 * _product_size(*pair) * _shared(*pair)


def _multiplied(kind: str, shapes: Sequence[Shape]) -> tuple[Shape, Shape] | None:
    first = 1 if kind in ("addmm", "baddbmm") else 0
    pair = shapes[first : first + 2]
    if len(pair) < 2 or min(map(len, pair)) < 2 or not _shared(*pair):
        return None
    return pair[0], pair[1]


def _shared(left: Shape, right: Shape) -> int:
    """Return the size that both share and that is summed over, 0 if there is none."""
    return max(set(left[-2:]) & set(right[-2:]), default=0)


def _product_size(left: Shape, right: Shape) -> int:
    shared = _shared(left, right)
    batch = max(math.prod(left[:-2]), math.prod(right[:-2]))
    return batch * (math.prod(left[-2:]) // shared) * (math.prod(right[-2:]) // shared)


def cell_work(profile: Profile) -> CellWork | None:
    """Return the work in a profile, None if it reports none or if it covers several devices."""
    devices = {event.device for event in profile.events if event.plane == "device"}
    if profile.devices_unseen or len(devices) > 1:
        return None
    device = next(iter(devices), "cpu:0")
    counted = _of_programs(profile) if profile.programs else _of_events(profile.events)
    flops: dict[str, float] = defaultdict(float)
    calls: dict[str, int] = defaultdict(int)
    whole = large = 0
    for count in counted:
        flops[count.number_type] += count.flops
        calls[count.number_type] += count.calls
        whole += count.moved
        large += count.large
    if not flops:
        return None
    most = max(flops, key=lambda number_type: flops[number_type])
    return CellWork(
        profile.framework, device, most, min(round(flops[most]), _MOST), calls[most], whole or None, large
    )


@dataclass(frozen=True, slots=True)
class _Counts:
    number_type: str
    flops: float
    calls: int
    moved: int
    large: int


def _of_events(events: Iterable[Event]) -> Iterable[_Counts]:
    for event in events:
        if event.number_type is not None and (event.flops or event.moved):
            moved = event.moved or 0
            large = moved if moved >= LARGE else 0
            yield _Counts(event.number_type, event.flops or 0.0, 1, moved, large)


def _of_programs(profile: Profile) -> Iterable[_Counts]:
    for program in profile.programs:
        if program.number_type is not None:
            # Its parts are not reported one by one. It reads and writes its arguments and results once.
            large = program.given if program.given >= LARGE else 0
            yield _Counts(
                program.number_type,
                program.flops * program.runs,
                program.runs,
                program.moved * program.runs,
                large * program.runs,
            )


def readings(profile: Profile, work: CellWork) -> list[Reading]:
    """Return a cell's work as readings, without what is unknown."""
    counted = say("{profiler}, {type} only", profiler=profile.profiler, type=work.number_type)
    derived = say("derived from shapes, {profiler}", profiler=profile.profiler)
    values = (
        ("flops", work.flops, counted),
        ("bytes_moved", work.moved, derived),
        ("bytes_of_large_calls", work.large, derived),
    )
    calls, on = work.operations, work.device
    return [
        new_reading(name, value, "cell", "profiler", calls, device=on, detail=how)
        for name, value, how in values
        if value
    ]


def not_counted(why: Sentence) -> Reading:
    """Return a missing reading of floating-point operations with the reason."""
    return missing("flops", why, source="profiler")


def worked_in_fact(work: CellWork, profiler: Sentence) -> Fact:
    """Return the framework, device and number type of a cell's work, which determine its roof."""
    value = {"framework": work.framework, "device": work.device, "type": work.number_type}
    return Fact(value, profiler)
