"""The peak of PyTorch's allocator on one GPU, with the memory that CUDA graphs keep.

What a graph works in is given out once, while it is recorded, from a pool of its own, and goes back there.
From then on the allocator counts it as free, but nobody else can have it, and each replay works in it: a
training step that took 5.7 GB has a peak of 0.5 GB when it is replayed. So what the pools keep is added:

    in use = what is given out + what is free in pools

Over a cell in which the pools stay as they are, the peak of that is known. Where a graph is recorded
meanwhile, its memory was given out before it was kept, and nobody tells what else was in use at which time:
then the largest of the values known for certain is told, which is a lower bound. A pool keeps its memory
after its graph has gone, until `torch.cuda.empty_cache()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, say

_DEFAULT = (0, 0)


@dataclass(frozen=True, slots=True)
class Pools:
    """Bytes of all pools but the common one: taken from the GPU, and of these free."""

    total: int = 0
    free: int = 0


class PooledPeak:
    """A counter for `Peaks`; `why_not` says why what the pools keep is not known.

    `stats` and `reset` are those of the allocator, given a GPU's number; `snapshot` lists its segments.
    """

    def __init__(
        self,
        stats: Callable[[int], Mapping[str, Any]],
        reset: Callable[[int], object],
        snapshot: Callable[..., Iterable[dict[str, Any]]],
        index: int,
    ) -> None:
        self._stats = stats
        self._reset = reset
        self._snapshot = snapshot
        self._index = index
        self._counted: tuple[int, ...] = ()
        self._before = Pools()
        self._least = self._now = 0
        self.pools = Pools()
        self.why_not: Sentence | None = None

    def read(self) -> int:
        """The most bytes in use since `reset`."""
        stats = self._stats(self._index)
        self._look(stats)
        given = stats["allocated_bytes"]["all"]
        kept_throughout = min(self._before.free, self.pools.free)
        self._now = int(given["current"]) + self.pools.free
        return max(int(given["peak"]) + kept_throughout, self._now, self._least)

    def reset(self) -> None:
        """Begin afresh with what `read` has just found."""
        self._reset(self._index)
        self._before, self._least = self.pools, self._now

    def _look(self, stats: Mapping[str, Any]) -> None:
        """Ask for the pools where they can have changed: all blocks are listed for it, which takes long."""
        if self._counters(stats) == self._counted:
            return
        try:
            self.pools, self.why_not = _of(self._segments(), self._index), None
        except Exception as error:
            self.pools = Pools()
            self.why_not = say(
                "It is not known how much GPU memory CUDA graphs keep ({error}).",
                error=type(error).__name__,
            )
        self._counted = self._counters(stats)

    def _counters(self, stats: Mapping[str, Any]) -> tuple[int, ...]:
        """What grows whenever the pools change. The first pool takes memory from the GPU."""
        of = ("reserved_bytes", "allocated_bytes") if self.pools.total else ("reserved_bytes",)
        return tuple(int(stats[one]["all"][what]) for one in of for what in ("allocated", "freed"))

    def _segments(self) -> list[dict[str, Any]]:
        try:
            return list(self._snapshot(include_traces=False))
        except TypeError:  # an older PyTorch, which then lists the history of all blocks, too
            return list(self._snapshot())


def _of(segments: list[dict[str, Any]], index: int) -> Pools:
    kept = [
        one
        for one in segments
        if one["device"] == index and tuple(one.get("segment_pool_id", _DEFAULT)) != _DEFAULT
    ]
    total = sum(int(one["total_size"]) for one in kept)
    return Pools(total, total - sum(int(one["allocated_size"]) for one in kept))
