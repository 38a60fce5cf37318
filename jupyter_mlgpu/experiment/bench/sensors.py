"""Read power, temperature and clock of a device: through NVML for NVIDIA's GPUs, from Linux for a processor.

Power of a GPU is NVML's gauge: from the Ampere generation on the mean of the last second (NVML's manual). A
processor has no gauge, so its power is the energy since the reading before, divided by the time.

Sources for a processor: psutil.sensors_temperatures; Linux's Documentation/admin-guide/pm/cpufreq.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from jupyter_mlgpu.experiment.bench.monitor import SensorReadings
from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.measure.probes.energy import rapl
from jupyter_mlgpu.measure.probes.energy.source import EnergyCounter
from jupyter_mlgpu.measure.probes.gpus import Gpu
from jupyter_mlgpu.measure.probes.nvml import Nvml, NvmlAnswer
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: The drivers of Linux whose sensors are in the processor: Intel's, AMD's, and those of ARM boards.
_CHIPS = ("coretemp", "k10temp", "zenpower", "cpu_thermal", "cpu-thermal", "soc_thermal")

NO_COUNTER = say("This system reports no energy counter of its processor.")
NO_TEMPERATURE = say("This system reports no temperature of its processor.")
NO_CLOCK = say("This system reports no clock rate of its processor.")


def none(why: Sentence) -> SensorReadings:
    """Return readings that are all unknown, with the reason."""
    return SensorReadings(unknown("W", why), unknown("°C", why), unknown("MHz", why))


def of_gpu(nvml: Nvml, gpu: Gpu) -> SensorReadings:
    """Return the readings of an NVIDIA GPU now."""
    return SensorReadings(
        _of_nvml(nvml.power(gpu.index), "W"),
        _of_nvml(nvml.temperature(gpu.index), "°C"),
        _of_nvml(nvml.clock(gpu.index), "MHz"),
    )


def of_processor(root: Path = Path("/")) -> Callable[[], SensorReadings]:
    """Return a function that reads the processor's sensors; `root` is the file system to read."""
    watts = _power_of(root)
    return lambda: SensorReadings(watts(), _temperature(), _clock(root))


def _of_nvml(answer: NvmlAnswer[float] | NvmlAnswer[int], unit: str) -> Quantity:
    return unknown(unit, answer.reason) if answer.value is None else Quantity(float(answer.value), unit)


def _power_of(root: Path) -> Callable[[], Quantity]:
    """Return a function that returns the mean power of all packages since it was called last."""
    sources, why = rapl.sources(root)
    if not sources:
        nothing = unknown("W", joined(why) if why else NO_COUNTER)
        return lambda: nothing
    counters = sources[0].counters
    before, read_at = _joules(counters), real_time.perf_counter()

    def read() -> Quantity:
        nonlocal before, read_at
        now, now_at = _joules(counters), real_time.perf_counter()
        earlier, seconds = before, now_at - read_at
        before, read_at = now, now_at
        if isinstance(now, Sentence):
            return unknown("W", now)
        if isinstance(earlier, Sentence):
            return unknown("W", earlier)
        grown = [_growth(*pair) for pair in zip(earlier, now, counters, strict=True)]
        return Quantity(sum(grown) / seconds, "W")

    return read


def _joules(counters: Sequence[EnergyCounter]) -> list[float] | Sentence:
    answers = [one.joules() for one in counters]
    known = [one.value for one in answers if one.value is not None]
    if len(known) == len(answers):
        return known
    return next(one.reason for one in answers if one.value is None)


def _growth(before: float, now: float, counter: EnergyCounter) -> float:
    return now - before if now >= before else now - before + (counter.wraps_at or 0.0)


def _temperature() -> Quantity:
    """Return the highest temperature that the processor's own sensors report."""
    import psutil

    read = getattr(psutil, "sensors_temperatures", None)  # only on Linux and FreeBSD
    chips = read() if read is not None else {}
    found = [one.current for name in _CHIPS for one in chips.get(name, ()) if one.current > 0]
    return Quantity(float(max(found)), "°C") if found else unknown("°C", NO_TEMPERATURE)


def _clock(root: Path) -> Quantity:
    """Return the mean clock rate of the cores, as their frequency driver reports it (in kHz)."""
    found = []
    for file in (root / "sys/devices/system/cpu/cpufreq").glob("policy*/scaling_cur_freq"):
        try:
            found.append(int(file.read_text()) / 1e3)
        except (OSError, ValueError):
            return unknown("MHz", NO_CLOCK)
    return Quantity(sum(found) / len(found), "MHz") if found else unknown("MHz", NO_CLOCK)
