"""Peak memory in use on each NVIDIA GPU while a cell runs, of all processes together, through NVML.

No counter keeps this peak. So the memory in use is sampled on the sampler's thread, and on the cell's own
thread at both ends: one sample of one GPU took 6 us on an H200. A peak between two samples is missed. Memory
that a framework's allocator has reserved counts as in use, also without a tensor in it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.base import Probe, ProbeInstruments
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.sampler import INTERVAL, Sampler
from jupyter_mlgpu.record.reading import Reading, missing, new_reading
from jupyter_mlgpu.record.sentence import Sentence, say

UNIFIED = say(
    "The GPU has no memory of its own here: it uses the machine's; see the peak memory of the process."
)
TOO_SHORT = say("Too short to measure: the GPU's memory was sampled fewer than two times during the cell.")


def probe(instruments: ProbeInstruments) -> Probe:
    """Return the probe of the GPUs' peak memory."""
    return PeakDeviceMemory(instruments.sampler, instruments.gpus)


class PeakDeviceMemory:
    """The probe: a reading for each GPU, in bytes."""

    quantity = "peak_memory_device"

    def __init__(self, sampler: Sampler, gpus: Lazy[Gpus]) -> None:
        self._sampler = sampler
        self._gpus = gpus

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin. Returns a function that ends the measurement and returns the readings."""
        known = self._gpus.known
        if memory.unified():
            return lambda: [missing(self.quantity, UNIFIED)]
        if known is not None and not known.gpus:
            return lambda: [missing(self.quantity, known.reason)]
        cell = _Cell(self._gpus)
        if known is not None:
            cell.sample()
        end = self._sampler.add(cell.sample, INTERVAL)

        def stop() -> Sequence[Reading]:
            failed = end()
            if failed is not None:
                return [
                    missing(self.quantity, say("Sampling the GPUs' memory failed ({failed}).", failed=failed))
                ]
            if self._gpus.known is None:
                return [missing(self.quantity, TOO_SHORT)]
            cell.sample()
            return cell.readings()

        return stop


class _Cell:
    """The peaks of one cell."""

    def __init__(self, gpus: Lazy[Gpus]) -> None:
        self._gpus = gpus
        self._peaks: dict[Gpu, tuple[int, int]] = {}  # the peak so far, and the sample count
        self._errors: dict[Gpu, Sentence] = {}

    def sample(self) -> None:
        gpus = self._gpus.get()
        for gpu in gpus.gpus:
            answer = gpus.nvml.memory(gpu.index)
            if answer.value is None:
                self._errors[gpu] = answer.reason
                continue
            peak, samples = self._peaks.get(gpu, (0, 0))
            self._peaks[gpu] = (max(peak, answer.value.used), samples + 1)

    def readings(self) -> list[Reading]:
        gpus = self._gpus.get()
        if not gpus.gpus:
            return [missing("peak_memory_device", gpus.reason)]
        return [self._reading(gpu) for gpu in gpus.gpus]

    def _reading(self, gpu: Gpu) -> Reading:
        detail = say(
            "NVML, all processes on {gpu}, every {interval} ms",
            gpu=gpu.label,
            interval=f"{INTERVAL * 1e3:.0f}",
        )
        peak, samples = self._peaks.get(gpu, (0, 0))
        if gpu in self._errors or samples < 2:
            why = self._errors.get(gpu, TOO_SHORT)
            return missing(
                "peak_memory_device", why, scope="device", source="NVML", device=gpu.label, detail=detail
            )
        return new_reading(
            "peak_memory_device", peak, "device", "NVML", samples, device=gpu.label, detail=detail
        )
