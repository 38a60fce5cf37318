"""The work of JAX's compiled programs, from XLA's cost analysis of the programs in a profile.

XLA writes each compiled program into its profile (the plane `/host:metadata`, seen on JAX 0.10.2). The
analysis counts a fused operation's inputs and outputs once. Products in cuBLAS are calls that the analysis
ignores; they are counted here. The analysis counts a loop's body only once, so programs with a loop are left
out.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jupyter_mlgpu.measure.ops import planes, xspace
from jupyter_mlgpu.measure.ops.events import ProgramCost

#: XLA's names of number types.
_TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
_SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "s64": 8, "s32": 4, "s8": 1, "u8": 1, "pred": 1}
_SHAPE = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")
#: An instruction: its name, its shape (the first of several), its kind, and its operands.
_INSTRUCTION = re.compile(
    r"^\s*(?:ROOT )?%([\w.\-]+) = \(?([a-z]+\d*)\[([\d,]*)\].*? ([\w\-]+)\((.*)$", re.MULTILINE
)
_OPERAND = re.compile(r"%([\w.\-]+)")
_CONTRACTED = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_LAYOUT = re.compile(r"entry_computation_layout=\{(.*)\}$", re.MULTILINE)
_GEMM = 'custom_call_target="__cublas$'

Shape = tuple[str, tuple[int, ...]]


def costs(
    data: bytes, runs: Mapping[str, int], analyse: Any, parse: Any, *, tf32: bool
) -> tuple[ProgramCost, ...]:
    """Return the cost of each program that ran.

    `runs` are the numbers of runs by `name(number)`, as in the profile. `parse` makes a module from its
    bytes, and `analyse` returns XLA's cost analysis of a module. With `tf32`, products of float32 are
    computed in tf32 unless they ask for more precision.
    """
    found = []
    for name, serialised in _programs(data):
        if runs.get(name):
            module = parse(serialised)
            cost = _cost(name, runs[name], module.to_string(), analyse(module), tf32)
            if cost is not None:
                found.append(cost)
    return tuple(found)


def _programs(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield names and modules of the programs in a profile (xplane.proto; HloProto in XLA's hlo.proto)."""
    for plane in xspace.fields(data, 1):
        if next(xspace.fields(plane, 2), b"") != b"/host:metadata":
            continue
        for metadata in (one for entry in xspace.fields(plane, 4) for one in xspace.fields(entry, 2)):
            name = next(xspace.fields(metadata, 2), b"").decode(errors="replace")
            for stat in xspace.fields(metadata, 5):
                for program in xspace.fields(stat, 6):
                    yield from ((name, module) for module in xspace.fields(program, 1))


def _cost(name: str, runs: int, text: str, analysis: Mapping[str, float], tf32: bool) -> ProgramCost | None:
    shapes: dict[str, Shape] = {}
    flops, moved = analysis.get("flops", 0.0), analysis.get("bytes accessed", 0.0)
    types: dict[str, float] = defaultdict(float)
    for instruction in _INSTRUCTION.finditer(text):
        result, kind, rest = instruction[1], instruction[4], instruction[5]
        shape = shapes[result] = (instruction[2], _sizes(instruction[3]))
        if kind == "while":
            return None
        operands = [shapes[one] for one in _OPERAND.findall(rest.partition("),")[0]) if one in shapes]
        is_gemm = kind == "custom-call" and _GEMM in rest
        if not operands or not (is_gemm or kind in ("dot", "convolution")):
            continue
        left = operands[0]
        shared = _contracted(rest, left)
        work = 2.0 * math.prod(shape[1]) * shared
        types[_computation_type(left[0], rest, tf32)] += work
        if is_gemm:
            flops += work
            moved += sum(map(_bytes, (*operands[:2], shape)))
    number_type = max(types, key=lambda one: types[one], default=None) or _type_of(text)
    arguments_and_results = sum(map(_bytes, _entry_shapes(text)))
    return ProgramCost(
        name, runs, max(flops, 0.0), round(max(moved, 0.0)), arguments_and_results, number_type
    )


def _contracted(rest: str, left: Shape) -> int:
    """Return how many products are summed for each element of the result; 1 if not known."""
    found = _CONTRACTED.search(rest)
    numbers = re.findall(r"\d+", found[1]) if found else re.findall(r"\d+", _contracting_dims(rest))
    return math.prod(left[1][int(one)] for one in numbers if int(one) < len(left[1]))


def _contracting_dims(rest: str) -> str:
    found = re.search(r"lhs_contracting_dims=\{([^}]*)\}", rest)
    return found[1] if found else ""


def _computation_type(type_: str, rest: str, tf32: bool) -> str:
    name = _TYPES.get(type_, type_)
    precise = "highest" in rest.lower()
    return "tf32" if name == "float32" and tf32 and not precise else name


def _type_of(text: str) -> str | None:
    """Return the type of a program's first argument or result that is an array of real numbers."""
    return next((_TYPES[type_] for type_, _ in _entry_shapes(text) if type_ in _TYPES), None)


def _entry_shapes(text: str) -> list[Shape]:
    """Return the shapes of a program's arguments and results."""
    found = _LAYOUT.search(text.partition("\n\n")[0]) or _LAYOUT.search(text)
    return [(type_, _sizes(sizes)) for type_, sizes in _SHAPE.findall(found[1])] if found else []


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one)


def _bytes(shape: Shape) -> int:
    return _SIZES.get(shape[0], 0) * math.prod(shape[1])


def run_counts(data: Any) -> dict[str, int | None]:
    """Return how often each program of a `ProfileData` ran, by `name(number)`; None if not known.

    On a GPU the runs of operations are not numbered. Those that the host started are, by the program's name
    (seen on JAX 0.11.2). If several programs share the name, or the host has none, the count is that of the
    least frequent kernel of the operations. An operation may take several kernels: a product of cuBLAS on an
    H100 that zeroes its work area first does. Each kernel occurs a whole number of times per run. If one does
    not, events are missing or a run has a choice of operations, and the number of runs is not known.
    """
    numbered: dict[str, set[int]] = defaultdict(set)
    started: dict[str, set[int]] = defaultdict(set)
    counts: dict[str, dict[tuple[str, str], int]] = defaultdict(lambda: defaultdict(int))
    for plane in data.planes:
        device = planes.device_of(plane.name) is not None
        if not device and plane.name != planes.HOST_PLANE:
            continue
        for line in plane.lines:
            if device and not planes.is_stream(line.name):
                continue
            for event in line.events:
                stats = dict(event.stats)
                if "hlo_op" in stats and "program_id" in stats:
                    name = f"{stats.get('hlo_module', '')}({stats['program_id']})"
                    counts[name][str(stats["hlo_op"]), event.name] += 1
                    if "run_id" in stats:
                        numbered[name].add(int(stats["run_id"]))
                elif "run_id" in stats and "name" in stats:
                    started[str(stats["name"])].add(int(stats["run_id"]))
    names = Counter(map(_module, counts))

    def runs(name: str) -> int | None:
        from_host = len(started[_module(name)]) if names[_module(name)] == 1 else 0
        return len(numbered[name]) or _common_runs(counts[name].values(), from_host)

    return {name: runs(name) for name in counts}


def _module(name: str) -> str:
    return name.rpartition("(")[0]


def _common_runs(counts: Collection[int], runs: int) -> int | None:
    """Return `runs`, or the least of the counts if it is 0; None if a count is no multiple of the result."""
    runs = runs or min(counts)
    return None if any(count % runs for count in counts) else runs
