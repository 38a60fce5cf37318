"""Peak memory of this process by samples, and the readings of a peak however it was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jupyter_mlgpu.measure.probes.footprint import SOURCE, Footprint
from jupyter_mlgpu.measure.probes.sampler import INTERVAL, Sampler
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, missing, new_reading
from jupyter_mlgpu.record.sentence import Sentence, say

PEAK, GROWTH = "peak_memory_process", "memory_growth"

_MS = f"{INTERVAL * 1000:.0f}"
_SAMPLED = say("psutil resident set, every {interval} ms", interval=_MS)
_SAMPLED_FOOTPRINT = say("{source}, every {interval} ms", source=SOURCE, interval=_MS)
_HIGHEST = say("{source}, its highest so far, reached in this cell", source=SOURCE)

RESET = say(
    "This cell's code reset the peak (it wrote to /proc/self/clear_refs), so the peak before "
    "that is not known."
)


def peak_readings(peak: int | None, at_start: int, samples: int, detail: Sentence) -> list[Reading]:
    """Return the readings of a peak and of its growth over the memory at the start, in bytes.

    Both are missing if the peak is None, because the cell reset it.
    """
    if peak is None:
        return [
            missing(quantity, RESET, scope="process", source=OPERATING_SYSTEM, detail=detail)
            for quantity in (PEAK, GROWTH)
        ]
    growth = max(0, peak - at_start)
    return [
        new_reading(quantity, value, "process", OPERATING_SYSTEM, samples, detail=detail)
        for quantity, value in ((PEAK, peak), (GROWTH, growth))
    ]


class SampledPeak:
    """The largest memory of the process, in bytes, found by a sample every `INTERVAL` seconds.

    Used if the operating system has no peak that can be reset (macOS). A peak between two samples is missed,
    so the reading states the number of samples. macOS also keeps the highest footprint since the process
    began: if the cell has raised it, that is the cell's peak, and exact.
    """

    quantity = PEAK

    def __init__(self, sampler: Sampler, footprint: Footprint | None = None) -> None:
        self._sampler = sampler
        self._footprint = footprint

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin. Returns a function that ends the measurement and returns the readings."""
        known = self._footprint
        samples = _PeakSamples(_resident_set() if known is None else known.read)
        highest = None if known is None else known.highest()
        end = self._sampler.add(samples.sample, INTERVAL)

        def stop() -> Sequence[Reading]:
            end()
            samples.sample()
            if known is None or highest is None:
                return peak_readings(samples.peak, at_start, samples.samples, _SAMPLED)
            now = known.highest()
            if now > highest:
                return peak_readings(now, at_start, 1, _HIGHEST)
            return peak_readings(samples.peak, at_start, samples.samples, _SAMPLED_FOOTPRINT)

        samples.sample()
        at_start = samples.peak
        return stop


class _PeakSamples:
    def __init__(self, read: Callable[[], int]) -> None:
        self.peak = 0
        self.samples = 0
        self._read = read

    def sample(self) -> None:
        self.peak = max(self.peak, self._read())
        self.samples += 1


def _resident_set() -> Callable[[], int]:
    import psutil  # takes 20 ms, so a kernel that never samples does not import it

    process = psutil.Process()
    return lambda: int(process.memory_info().rss)
