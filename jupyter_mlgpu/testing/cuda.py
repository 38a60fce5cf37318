"""The memory of torch.cuda without a GPU: one allocator with pools that keep what was freed."""

from __future__ import annotations

from collections import Counter
from typing import Any

#: The pool for everything except graphs, as PyTorch numbers it.
COMMON = (0, 0)


class FakeCuda:
    """The memory of one GPU. Freed memory stays in its pool, and only that pool can allocate it again.

    `samples` counts the requested lists of all blocks; `broken` makes these requests raise.
    """

    def __init__(self) -> None:
        self._total: Counter[tuple[int, int]] = Counter()
        self._given: Counter[tuple[int, int]] = Counter()
        self._counts: Counter[str] = Counter()
        self._peak = 0
        self.samples = 0
        self.broken: Exception | None = None

    def give(self, size: int, pool: tuple[int, int] = COMMON) -> None:
        """Allocate memory, taking from the GPU what the pool lacks."""
        self._given[pool] += size
        self._counts["given"] += size
        lacking = max(0, self._given[pool] - self._total[pool])
        self._total[pool] += lacking
        self._counts["taken"] += lacking
        self._peak = max(self._peak, self._given.total())

    def back(self, size: int, pool: tuple[int, int] = COMMON) -> None:
        """Free memory."""
        self._given[pool] -= size
        self._counts["back"] += size

    def record_graph(self, size: int, pool: tuple[int, int]) -> None:
        """Record a graph that works in `size` bytes."""
        self.give(size, pool)
        self.back(size, pool)

    def memory_stats_as_nested_dict(self, index: int) -> dict[str, Any]:
        """Return the same as PyTorch's function."""
        given = {
            "current": self._given.total(),
            "peak": self._peak,
            "allocated": self._counts["given"],
            "freed": self._counts["back"],
        }
        reserved = {"current": self._total.total(), "allocated": self._counts["taken"], "freed": 0}
        return {"allocated_bytes": {"all": given}, "reserved_bytes": {"all": reserved}}

    def memory_stats(self, index: int) -> dict[str, int]:
        """Return the one entry of PyTorch's result that is used here: the number of bytes allocated."""
        return {"allocation.all.allocated": self._counts["given"]}

    def max_memory_allocated(self, index: int) -> int:
        """Return the same as PyTorch's function: without the memory that graphs keep."""
        return self._peak

    def reset_peak_memory_stats(self, index: int) -> None:
        """Do the same as PyTorch's function."""
        self._peak = self._given.total()

    def memory_snapshot(self) -> list[dict[str, Any]]:
        """Return the same as PyTorch's function before it could leave traces out: a segment for each pool."""
        self.samples += 1
        if self.broken is not None:
            raise self.broken
        return [
            {
                "device": 0,
                "segment_pool_id": pool,
                "total_size": total,
                "allocated_size": self._given[pool],
            }
            for pool, total in self._total.items()
        ]
