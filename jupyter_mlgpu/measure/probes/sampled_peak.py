"""Peak memory of this process by samples, and the readings of a peak however it was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jupyter_mlgpu.measure.probes.sampler import INTERVAL, Sampler
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, missing, new_reading
from jupyter_mlgpu.record.sentence import Sentence, say

PEAK, GROWTH = "peak_memory_process", "memory_growth"

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
    """The largest resident set of the process, in bytes, found by a sample every `INTERVAL` seconds.

    Used if the operating system has no peak that can be reset (macOS). A peak between two samples is missed,
    so the reading states the number of samples.
    """

    quantity = PEAK
    detail = say("psutil resident set, every {interval} ms", interval=f"{INTERVAL * 1000:.0f}")

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin. Returns a function that ends the measurement and returns the readings."""
        samples = _PeakSamples()
        end = self._sampler.add(samples.sample, INTERVAL)

        def stop() -> Sequence[Reading]:
            end()
            samples.sample()
            return peak_readings(samples.peak, at_start, samples.samples, self.detail)

        samples.sample()
        at_start = samples.peak
        return stop


class _PeakSamples:
    def __init__(self) -> None:
        self.peak = 0
        self.samples = 0
        import psutil  # takes 20 ms, so a kernel that never samples does not import it

        self._process = psutil.Process()

    def sample(self) -> None:
        self.peak = max(self.peak, self._process.memory_info().rss)
        self.samples += 1
