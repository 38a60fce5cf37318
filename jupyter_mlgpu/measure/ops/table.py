"""A profile as the rows of a table: one row for each operation, host and devices apart."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from jupyter_mlgpu.measure.ops.busy import length, union
from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.measure.ops.selftime import by_line, of_line
from jupyter_mlgpu.record.record import OpStat, Plane
from jupyter_mlgpu.record.sentence import Sentence

_Key = tuple[Plane, str, str, str]


@dataclass(slots=True)
class _Row:
    count: int = 0
    self_ns: int = 0
    total_ns: int = 0
    shapes: set[str] = field(default_factory=set)
    bytes: int | None = None
    flops: float | None = None

    def add(self, event: Event, self_ns: int) -> None:
        self.count += 1
        self.self_ns += self_ns
        if event.shapes is not None:
            self.shapes.add(event.shapes)
        if event.bytes is not None:
            self.bytes = (self.bytes or 0) + event.bytes
        if event.flops is not None:
            self.flops = (self.flops or 0) + event.flops


def rows(profile: Profile) -> tuple[OpStat, ...]:
    """Return a row for every operation of a profile, the largest share of its plane first.

    Self times are those of `selftime`, so the rows of a line sum to its busy time. The total time of an
    operation is the time in which it was open on a line, including what it ran inside itself; if it runs
    inside itself, that time counts once. The share is the self time's part of the busy time of all lines of
    the same plane and device, from 0 to 1. There is none if devices worked that the profile does not show:
    then the host's operations are not the whole. Bytes and FLOP are sums over the calls for which the
    profiler reports them. Input shapes are given if all calls had the same.
    """
    found: dict[_Key, _Row] = defaultdict(_Row)
    busy: dict[tuple[Plane, str], int] = defaultdict(int)
    for (plane, device, _), events in by_line(profile.events).items():
        open_times: dict[_Key, list[tuple[int, int]]] = defaultdict(list)
        for event, self_ns in zip(events, of_line(events), strict=True):
            key: _Key = (plane, device, event.name, event.type)
            found[key].add(event, self_ns)
            open_times[key].append((event.start_ns, event.end_ns))
            busy[plane, device] += self_ns
        for key, intervals in open_times.items():
            found[key].total_ns += length(union(intervals))
    whole = {} if profile.devices_unseen else busy
    table = [_stat(profile.profiler, key, row, whole.get(key[:2])) for key, row in found.items()]
    return tuple(sorted(table, key=lambda row: (-(row.share or 0), -row.self_time, row.name)))


def _stat(profiler: Sentence, key: _Key, row: _Row, busy_ns: int | None) -> OpStat:
    plane, device, name, kind = key
    return OpStat(
        name=name,
        type=kind,
        device=device,
        count=row.count,
        self_time=row.self_ns / 1e9,
        total_time=row.total_ns / 1e9,
        profiler=profiler,
        plane=plane,
        share=row.self_ns / busy_ns if busy_ns else None,
        shapes=_shapes(row.shapes),
        bytes=row.bytes,
        flops=row.flops,
    )


def _shapes(found: set[str]) -> str | None:
    if not found:
        return None
    return next(iter(found)) if len(found) == 1 else f"{len(found):,} different"
