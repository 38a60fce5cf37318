"""NVIDIA's energy counter, one for each GPU, through NVML.

nvmlDeviceGetTotalEnergyConsumption returns the board's energy since the driver was loaded, in millijoules,
from the Volta generation on (NVML's manual). On an H200 it moved every 100 ms (124 ms at most), and one
reading takes 3.5 ms: too much for the cell's own thread.
"""

from __future__ import annotations

from msgspec import Struct

from jupyter_mlgpu.measure.probes.energy.source import EnergySource
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.measure.probes.nvml import Nvml, NvmlAnswer
from jupyter_mlgpu.record.sentence import Sentence, say


class NvmlCounter(Struct, frozen=True):
    """The total energy counter of one NVIDIA GPU."""

    nvml: Nvml
    gpu: Gpu
    refresh: float = 0.1
    wraps_at: float | None = None

    def joules(self) -> NvmlAnswer[float]:
        """Return the counter's value in joules."""
        return self.nvml.energy(self.gpu.index)

    def watts(self) -> float | None:
        """Return the power now in watts, None if unknown.

        From the Ampere generation on it is the mean of the last second (NVML's manual).
        """
        return self.nvml.power(self.gpu.index).value


def sources(gpus: Gpus) -> tuple[list[EnergySource], Sentence | None]:
    """Return a source for each GPU with a counter, or the reason for having none."""
    found = []
    why = gpus.why_none
    for gpu in gpus.gpus:
        counter = NvmlCounter(gpus.nvml, gpu)
        answer = counter.joules()
        if answer.value is None:
            why = why or answer.why_missing
            continue
        name = say("NVML energy counter, all processes on {gpu}", gpu=gpu.label)
        found.append(EnergySource(name, "NVML", gpu.label, "device", (counter,), every=0.25, quick=False))
    return found, why
