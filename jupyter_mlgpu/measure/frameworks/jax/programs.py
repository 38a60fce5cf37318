"""What JAX's compiled programs had to do: XLA's own cost analysis of the programs that a profile holds.

XLA writes each program into its profile as it was compiled (the plane `/host:metadata`, seen on JAX 0.10.2).
The analysis counts a fused operation's inputs and outputs once. Products that cuBLAS works out
are calls of which it knows nothing, and are counted here. A loop's body counts once there, so a program with
one is left out.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from jupyter_mlgpu.measure.ops import planes, xspace
from jupyter_mlgpu.measure.ops.events import ProgramCost

#: XLA's names of types of numbers.
_TYPES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16"}
_SIZES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "s64": 8, "s32": 4, "s8": 1, "u8": 1, "pred": 1}
_SHAPE = re.compile(r"\b([a-z]+\d*)\[([\d,]*)\]")
#: An instruction: its name, its shape (of several, the first), what it is, and what it is given.
_INSTRUCTION = re.compile(
    r"^\s*(?:ROOT )?%([\w.\-]+) = \(?([a-z]+\d*)\[([\d,]*)\].*? ([\w\-]+)\((.*)$", re.MULTILINE
)
_GIVEN = re.compile(r"%([\w.\-]+)")
_CONTRACTED = re.compile(r'"lhs_contracting_dimensions":\[([^\]]*)\]')
_LAYOUT = re.compile(r"entry_computation_layout=\{(.*)\}$", re.MULTILINE)
_GEMM = 'custom_call_target="__cublas$'

Shape = tuple[str, tuple[int, ...]]


def costs(
    data: bytes, runs: Mapping[str, int], analyse: Any, parse: Any, *, tf32: bool
) -> tuple[ProgramCost, ...]:
    """The cost of each program that ran; `runs` says how often, by `name(number)` as the profile has it.

    `parse` makes a module of its bytes, `analyse` gives XLA's cost analysis of one. With `tf32`, products of
    float32 are worked out in that unless they ask for more precision.
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
    """Names and modules of the programs in a profile (xplane.proto, and HloProto in XLA's hlo.proto)."""
    for plane in xspace.fields(data, 1):
        if next(xspace.fields(plane, 2), b"") != b"/host:metadata":
            continue
        for metadata in (one for entry in xspace.fields(plane, 4) for one in xspace.fields(entry, 2)):
            name = next(xspace.fields(metadata, 2), b"").decode(errors="replace")
            for stat in xspace.fields(metadata, 5):
                for program in xspace.fields(stat, 6):
                    yield from ((name, module) for module in xspace.fields(program, 1))


def _cost(name: str, runs: int, text: str, told: Mapping[str, float], tf32: bool) -> ProgramCost | None:
    shapes: dict[str, Shape] = {}
    flops, moved = told.get("flops", 0.0), told.get("bytes accessed", 0.0)
    types: dict[str, float] = defaultdict(float)
    for instruction in _INSTRUCTION.finditer(text):
        mine, kind, rest = instruction[1], instruction[4], instruction[5]
        shape = shapes[mine] = (instruction[2], _sizes(instruction[3]))
        if kind == "while":
            return None
        given = [shapes[one] for one in _GIVEN.findall(rest.partition("),")[0]) if one in shapes]
        called = kind == "custom-call" and _GEMM in rest
        if not given or not (called or kind in ("dot", "convolution")):
            continue
        left = given[0]
        shared = _contracted(rest, left)
        work = 2.0 * math.prod(shape[1]) * shared
        types[_computes(left[0], rest, tf32)] += work
        if called:
            flops += work
            moved += sum(map(_bytes, (*given[:2], shape)))
    number_type = max(types, key=lambda one: types[one], default=None) or _type_of(text)
    given_and_back = sum(map(_bytes, _of_entry(text)))
    return ProgramCost(name, runs, max(flops, 0.0), round(max(moved, 0.0)), given_and_back, number_type)


def _contracted(rest: str, left: Shape) -> int:
    """How many numbers are summed up for each one of a product; 1 where that is not told."""
    found = _CONTRACTED.search(rest)
    numbers = re.findall(r"\d+", found[1]) if found else re.findall(r"\d+", _plain(rest))
    return math.prod(left[1][int(one)] for one in numbers if int(one) < len(left[1]))


def _plain(rest: str) -> str:
    found = re.search(r"lhs_contracting_dims=\{([^}]*)\}", rest)
    return found[1] if found else ""


def _computes(type_: str, rest: str, tf32: bool) -> str:
    name = _TYPES.get(type_, type_)
    precise = "highest" in rest.lower()
    return "tf32" if name == "float32" and tf32 and not precise else name


def _type_of(text: str) -> str | None:
    """The type of the first array of real numbers that a program is given or gives back."""
    return next((_TYPES[type_] for type_, _ in _of_entry(text) if type_ in _TYPES), None)


def _of_entry(text: str) -> list[Shape]:
    """What a program is given and gives back."""
    found = _LAYOUT.search(text.partition("\n\n")[0]) or _LAYOUT.search(text)
    return [(type_, _sizes(sizes)) for type_, sizes in _SHAPE.findall(found[1])] if found else []


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(one) for one in text.split(",") if one)


def _bytes(shape: Shape) -> int:
    return _SIZES.get(shape[0], 0) * math.prod(shape[1])


def runs_of(data: Any) -> dict[str, int | None]:
    """How often each program of a profile (`ProfileData`) ran, by `name(number)`; None where not known.

    On a GPU the operations' runs are not numbered; those that the host started are, by the program's name
    (seen on JAX 0.11.2). Where several programs share it, or the host tells none, of the operations' kernels
    the one that came least often tells: an operation may take several, as a product of cuBLAS on an H100 does
    that sets its work area to zero first. Each kernel came a whole number of times in a run. Where one did
    not, some were not seen, or a run has a choice of operations: how many runs there were is not known.
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
    named = Counter(map(_module, counts))

    def runs(name: str) -> int | None:
        of_host = len(started[_module(name)]) if named[_module(name)] == 1 else 0
        return len(numbered[name]) or _whole(counts[name].values(), of_host)

    return {name: runs(name) for name in counts}


def _module(name: str) -> str:
    return name.rpartition("(")[0]


def _whole(counts: Collection[int], runs: int) -> int | None:
    """So many runs, or as many as the least of these counts, if each is a whole number of times in a run."""
    runs = runs or min(counts)
    return None if any(count % runs for count in counts) else runs
