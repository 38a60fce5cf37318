"""NVIDIA's counter of energy, one a GPU, through NVML.

nvmlDeviceGetTotalEnergyConsumption tells what the board has used since the driver was loaded, in millijoules,
from the Volta generation on (NVML's manual). On an H200 it was seen to move every 100 ms (124 ms at most),
and one reading takes 3.5 ms: too much for the cell's own thread.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.measure.probes.energy.source import EnergySource
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.measure.probes.nvml import Nvml, NvmlAnswer
from jupyter_mlgpu.record.sentence import Sentence, say


@dataclass(frozen=True)
class NvmlCounter:
    """The total energy counter of one NVIDIA GPU."""

    nvml: Nvml
    gpu: Gpu
    refresh: float = 0.1
    wraps_at: float | None = None

    def joules(self) -> NvmlAnswer[float]:
        """The counter's joules now."""
        return self.nvml.energy(self.gpu.index)

    def watts(self) -> float | None:
        """The power drawn now, in watts; from the Ampere generation on the mean of the last second (NVML's
        manual). None where it is not told."""
        return self.nvml.power(self.gpu.index).value


def sources(gpus: Gpus) -> tuple[list[EnergySource], Sentence | None]:
    """A source for each GPU that has a counter; else why there is none."""
    found = []
    why = gpus.why_none
    for gpu in gpus.gpus:
        counter = NvmlCounter(gpus.nvml, gpu)
        told = counter.joules()
        if told.value is None:
            why = why or told.why_missing
            continue
        name = say("NVML energy counter, all processes on {gpu}", gpu=gpu.label)
        found.append(EnergySource(name, "NVML", gpu.label, "device", (counter,), every=0.25, quick=False))
    return found, why
