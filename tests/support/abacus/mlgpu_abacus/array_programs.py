"""What Abacus does in a benchmark: sums for a product; it has nothing for the other cases."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import Loop
from jupyter_mlgpu.record.errors import BenchError


class AbacusPrograms:
    """See `jupyter_mlgpu.measure.frameworks.benchmarks.Programs`."""

    def gemm(self, device: Device, n: int, type_: str) -> Loop:
        """A product of numbers of one digit, n sums of one and one."""
        import abacus

        if type_ != "float32":
            raise BenchError("Abacus knows one type of number.")
        before, abacus.device = abacus.device, device.name

        def run(steps: int) -> None:
            for _ in range(steps * n):
                abacus.add(1, 1)

        return Loop(run, lambda: None, undo=lambda: setattr(abacus, "device", before))

    def conv(self, *asked: Any) -> Loop:
        """Nothing."""
        raise BenchError("Abacus has no images.")

    stream = transfer = dispatch = conv
