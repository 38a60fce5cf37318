"""The forecast beside what TensorFlow did: which operations differ, which copies, and their bytes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.metal_emulator.placement import Placed

#: What stands between the names of a calling operation and of those in its function, by the attribute.
_INSIDE = {"": "", "f": "", "then_branch": "/then", "else_branch": "/else", "cond": "/cond", "body": "/body"}
_NUMBERED = re.compile(r"/(then|else|cond|body)/_\d+(?=/)")
_LEFT = re.compile(r"/exit/_\d+$")
#: Nothing runs under these names: arguments, and what inlining and lowering put others in place of.
_GONE = {
    "Placeholder",
    "If",
    "StatelessIf",
    "While",
    "StatelessWhile",
    "PartitionedCall",
    "StatefulPartitionedCall",
}


@dataclass(frozen=True)
class Verdict:
    """One model's forecast, judged. Operations are named as the executor names them."""

    model: str
    operations: int
    agree: int
    differ: tuple[str, ...]
    missing: tuple[str, ...]
    copies: int
    not_forecast: tuple[str, ...]
    not_copied: tuple[str, ...]
    bytes_copied: dict[str, Counter[int]]
    bytes_forecast: dict[str, Counter[int]]

    def row(self) -> str:
        real, said = (
            sum(size * count for found in one.values() for size, count in found.items())
            for one in (self.bytes_copied, self.bytes_forecast)
        )
        return (
            f"{self.operations} operations, {self.agree} agree, {len(self.differ)} differ, "
            f"{len(self.missing)} missing; {self.copies} copies, {len(self.not_forecast)} not forecast, "
            f"{len(self.not_copied)} not made; {real} bytes, forecast {said}"
        )

    def differences(self) -> list[str]:
        more = {
            f"{sign} bytes to the {to}": sorted((one[to] - other[to]).elements())
            for sign, one, other in (
                ("only copied", self.bytes_copied, self.bytes_forecast),
                ("only forecast", self.bytes_forecast, self.bytes_copied),
            )
            for to in one
        }
        return [
            *(f"differs: {one}" for one in self.differ),
            *(f"missing: {one}" for one in self.missing),
            *(f"not forecast: {one}" for one in self.not_forecast),
            *(f"not copied: {one}" for one in self.not_copied),
            *(f"{words}: {sizes}" for words, sizes in more.items() if sizes),
        ]


def compared(plan: Any, placed: Placed) -> Verdict:
    """The plan of a model's training step, made anywhere, against the one step that was run."""
    paths = _paths(plan.graph)
    real: dict[str, set[str]] = {}
    for name, device in placed.devices.items():
        real.setdefault(_plain(name), set()).add(device)
    agree, differ, missing = 0, [], []
    for one in plan.placements:
        if one.operation in _GONE:
            continue
        for path in paths[one.function]:
            name = path + one.node
            if name not in real:
                missing.append(f"{name} ({one.operation})")
            elif real[name] == {"gpu" if one.on_device else "cpu"}:
                agree += 1
            else:
                differ.append(f"{name} ({one.operation}, ran on {'/'.join(real[name])}: {one.reason})")
    copied = Counter((*_made(one.node, one.output), one.to) for one in placed.copies)
    loops = {
        (body.name, node.name)
        for body in plan.graph.bodies
        for node in body.nodes
        if "While" in node.operation
    }
    forecast: Counter[tuple[str, int, str]] = Counter()
    for one in plan.crossings:
        name, _, output = one.tensor.rpartition(":")
        place = 0 if (one.function, name) in loops else int(output)
        forecast.update((path + name, place, one.to) for path in paths[one.function])
    sizes: dict[str, Counter[int]] = {"device": Counter(), "host": Counter()}
    for one in plan.crossings:
        sizes[one.to][-1 if one.bytes is None else one.bytes] += len(paths[one.function])
    for found in sizes.values():
        del found[0]  # nothing is asked of the device for an empty tensor
    return Verdict(
        placed.model,
        agree + len(differ),
        agree,
        tuple(differ),
        tuple(missing),
        copied.total(),
        tuple(_shown(copied - forecast, placed)),
        tuple(_shown(forecast - copied, placed)),
        {to: Counter(found) for to, found in placed.step_bytes.items()},
        sizes,
    )


def _made(name: str, output: int) -> tuple[str, int]:
    """By the loop that gave it, where one did: the executor does not say which of its results that was."""
    loop = _LEFT.sub("", name)
    return _plain(loop), output


def _plain(name: str) -> str:
    return _NUMBERED.sub(r"/\1", name)


def _paths(graph: Any) -> dict[str, list[str]]:
    """Where the executor has each function's operations: once for each way by which it is called."""
    bodies = {body.name: body for body in graph.bodies}
    paths: dict[str, list[str]] = {name: [] for name in bodies}

    def walk(name: str, path: str) -> None:
        paths[name].append(path)
        for node in bodies[name].nodes:
            for attribute, called in node.calls:
                if attribute in _INSIDE:
                    walk(called, f"{path}{node.name}{_INSIDE[attribute]}/")

    walk(graph.bodies[0].name, "")
    return paths


def _shown(found: Counter[tuple[str, int, str]], placed: Placed) -> list[str]:
    kinds = {_plain(name): operation for name, operation in placed.operations.items()}
    return [
        f"{name}:{output} to the {to} ({kinds.get(name)}){f' x {count}' if count > 1 else ''}"
        for (name, output, to), count in found.items()
    ]
