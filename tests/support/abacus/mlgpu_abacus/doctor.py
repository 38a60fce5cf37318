"""What the doctor asks of Abacus."""

from __future__ import annotations

from collections.abc import Callable


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """See `jupyter_mlgpu.measure.frameworks.base.Framework`."""
    import abacus

    kinds = [device.partition(":")[0] for device in abacus.DEVICES]
    return kinds, lambda: sum(abacus.add(0, 1) for _ in range(size))
