"""What a cell's operations had to do: floating-point operations, and bytes to read and write at the least.

Bytes are counted as the benchmark counts them (experiment/bench/families.py): each array that an operation
reads or writes counts once, laid out in full, and arrays of one operation count as different ones. What lies
in a cache is not read from memory; so the bytes of calls on more than caches hold are told apart.
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

#: Bytes of one call from which on caches do not hold them: a GPU's have up to 50 MB (NVIDIA's H100), those
#: that a processor's cores share 32 MB (a core complex of AMD's EPYC).
LARGE = 64 * 1024**2
#: Bytes of a number, by the types' common names.
BYTES = {"float64": 8, "float32": 4, "tf32": 4, "float16": 2, "bfloat16": 2}
#: A record keeps whole numbers up to here.
_MOST = 2**63 - 1

#: Operations that work number by number, by how many arrays each reads; PyTorch's names and TensorFlow's.
_READ = {
    1: "neg exp log sqrt rsqrt tanh sigmoid gelu silu clamp clamp_min clamp_max abs sin cos Neg Exp Log Sqrt "
    "Rsqrt Tanh Sigmoid Relu Relu6 Elu Selu Abs Sin Cos Square",
    2: "add sub mul div maximum minimum Add AddV2 Sub Mul RealDiv Maximum Minimum SquaredDifference BiasAdd",
    3: "addcmul addcdiv lerp",
}
_NUMBER_BY_NUMBER = {name: count for count, names in _READ.items() for name in names.split()}
#: Products of matrices: of PyTorch's `addmm` and `baddbmm` the second and third array, else the first two.
PRODUCTS = frozenset(("mm", "bmm", "addmm", "baddbmm", "MatMul", "BatchMatMul", "BatchMatMulV2"))

Shape = Sequence[int]


@dataclass(frozen=True, slots=True)
class CellWork:
    """What the operations of a cell had to do, all of one framework and on one device.

    `flops` are those in `number_type`, the type that has most of them, and `operations` the calls that they
    were counted in. `moved` and `large` are bytes, `large` of calls on more than caches hold; `moved` is None
    where no shapes are told.
    """

    framework: str
    device: str
    number_type: str
    flops: int
    operations: int
    moved: int | None
    large: int


def moved(kind: str, shapes: Sequence[Shape], number_type: str | None) -> int | None:
    """The bytes that an operation of this kind reads and writes at the least; None where not known."""
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
    reads = _NUMBER_BY_NUMBER.get(kind.removesuffix("_"))
    arrays = [math.prod(shape) for shape in shapes[: reads or 0]]
    return size * (sum(arrays) + max(arrays)) if arrays else None


def product_flops(kind: str, shapes: Sequence[Shape]) -> float | None:
    """Two operations for each multiplication of a product of matrices; None for what is no such product.

    Whether one of them is transposed is not told: of the shared sizes that are possible the largest is meant,
    with which the operations are fewest.
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
    """The size that both have in common, over which is summed; 0 where there is none."""
    return max(set(left[-2:]) & set(right[-2:]), default=0)


def _product_size(left: Shape, right: Shape) -> int:
    shared = _shared(left, right)
    batch = max(math.prod(left[:-2]), math.prod(right[:-2]))
    return batch * (math.prod(left[-2:]) // shared) * (math.prod(right[-2:]) // shared)


def of(profile: Profile) -> CellWork | None:
    """What a profile's operations had to do; None where it tells of none, or of several devices."""
    devices = {one.device for one in profile.events if one.plane == "device"}
    if profile.devices_unseen or len(devices) > 1:
        return None
    device = next(iter(devices), "cpu:0")
    counted = _of_programs(profile) if profile.programs else _of_events(profile.events)
    flops: dict[str, float] = defaultdict(float)
    calls: dict[str, int] = defaultdict(int)
    whole = large = 0
    for one in counted:
        flops[one.number_type] += one.flops
        calls[one.number_type] += one.calls
        whole += one.moved
        large += one.large
    if not flops:
        return None
    most = max(flops, key=lambda one: flops[one])
    return CellWork(
        profile.framework, device, most, min(round(flops[most]), _MOST), calls[most], whole or None, large
    )


@dataclass(frozen=True, slots=True)
class _Counted:
    number_type: str
    flops: float
    calls: int
    moved: int
    large: int


def _of_events(events: Iterable[Event]) -> Iterable[_Counted]:
    for one in events:
        if one.number_type is not None and (one.flops or one.moved):
            moved = one.moved or 0
            large = moved if moved >= LARGE else 0
            yield _Counted(one.number_type, one.flops or 0.0, 1, moved, large)


def _of_programs(profile: Profile) -> Iterable[_Counted]:
    for one in profile.programs:
        if one.number_type is not None:
            # Its parts are not told one by one; what it is given and gives back, it reads and writes once.
            large = one.given if one.given >= LARGE else 0
            yield _Counted(
                one.number_type, one.flops * one.runs, one.runs, one.moved * one.runs, large * one.runs
            )


def readings(profile: Profile, work: CellWork) -> list[Reading]:
    """A cell's work as readings; what was not told is left out."""
    counted = say("{profiler}, {type} only", profiler=profile.profiler, type=work.number_type)
    worked_out = say("derived from shapes, {profiler}", profiler=profile.profiler)
    told = (
        ("flops", work.flops, counted),
        ("bytes_moved", work.moved, worked_out),
        ("bytes_of_large_calls", work.large, worked_out),
    )
    calls, on = work.operations, work.device
    return [
        new_reading(name, value, "cell", "profiler", calls, device=on, detail=how)
        for name, value, how in told
        if value
    ]


def unknown(why: Sentence) -> Reading:
    """That the floating-point operations of a cell were not counted, and why."""
    return missing("flops", why, source="profiler")


def worked_in(work: CellWork, profiler: Sentence) -> Fact:
    """Which roof a cell's work stands under."""
    told = {"framework": work.framework, "device": work.device, "type": work.number_type}
    return Fact(told, profiler)
