"""The peak of PyTorch's allocator on one GPU, including the memory that CUDA graphs keep.

A graph's memory is allocated once, while the graph is captured, from a private pool, and is freed to that
pool. The allocator then counts it as free, but no other tensor can use it, and each replay works in it. For
example, a training step that took 5.7 GB has a peak of 0.5 GB when it is replayed. So the pools are added:

    in use = allocated + free in private pools

If the pools do not change during a cell, this peak is exact. If a graph is captured in the cell, its memory
was allocated before it was kept, and the memory in use at each time is not known. The result is then the
largest of the known values, which is a lower bound. A pool keeps its memory after its graph is deleted, until
`torch.cuda.empty_cache()`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, say

_DEFAULT = (0, 0)


@dataclass(frozen=True, slots=True)
class Pools:
    """Bytes of all private pools: taken from the GPU (`total`), and those of them that are free."""

    total: int = 0
    free: int = 0


class PooledPeak:
    """A counter for `Peaks`; `why_not` is the reason if the memory of the pools is not known.

    `stats` and `reset` are the allocator's functions, called with a GPU's number; `snapshot` lists its
    segments.
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
        """Return the most bytes in use since `reset`."""
        stats = self._stats(self._index)
        self._update_pools(stats)
        allocated = stats["allocated_bytes"]["all"]
        kept_throughout = min(self._before.free, self.pools.free)
        self._now = int(allocated["current"]) + self.pools.free
        return max(int(allocated["peak"]) + kept_throughout, self._now, self._least)

    def reset(self) -> None:
        """Reset the counter to the value that `read` has just returned."""
        self._reset(self._index)
        self._before, self._least = self.pools, self._now

    def _update_pools(self, stats: Mapping[str, Any]) -> None:
        """Read the pools if they can have changed; it takes long, because all blocks are listed."""
        if self._counters(stats) == self._counted:
            return
        try:
            self.pools, self.why_not = _private_pools(self._segments(), self._index), None
        except Exception as error:
            self.pools = Pools()
            self.why_not = say(
                "It is not known how much GPU memory CUDA graphs keep ({error}).",
                error=type(error).__name__,
            )
        self._counted = self._counters(stats)

    def _counters(self, stats: Mapping[str, Any]) -> tuple[int, ...]:
        """Return counters that grow whenever the pools change. The first pool takes memory from the GPU."""
        of = ("reserved_bytes", "allocated_bytes") if self.pools.total else ("reserved_bytes",)
        return tuple(int(stats[one]["all"][what]) for one in of for what in ("allocated", "freed"))

    def _segments(self) -> list[dict[str, Any]]:
        try:
            return list(self._snapshot(include_traces=False))
        except TypeError:  # an older PyTorch, which also lists the history of all blocks
            return list(self._snapshot())


def _private_pools(segments: list[dict[str, Any]], index: int) -> Pools:
    kept = [
        one
        for one in segments
        if one["device"] == index and tuple(one.get("segment_pool_id", _DEFAULT)) != _DEFAULT
    ]
    total = sum(int(one["total_size"]) for one in kept)
    return Pools(total, total - sum(int(one["allocated_size"]) for one in kept))
