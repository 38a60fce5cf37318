"""Live counters: utilization, memory, power and temperature of each GPU, CPU utilization, and memory.

They are gauges as their owners define them. NVML's utilization is the part of its last sampling period in
which any kernel of any process ran, so a GPU can read 100 % and be far from full. Apple's chips report power
(energy between two samples), and a Mac's drivers report the utilization of the GPUs. Their temperature needs
sudo.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Annotated

from jupyter_mlgpu.measure.probes import mac_gpu, memory
from jupyter_mlgpu.measure.probes.energy import apple
from jupyter_mlgpu.measure.probes.gpus import Gpu, Gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.nvml import Nvml, NvmlAnswer
from jupyter_mlgpu.measure.probes.process_memory import process_memory
from jupyter_mlgpu.record.bounds import Amount, MaybeSaid, Most, Otherwise, Said
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import Sentence, say

SUDO = say("Apple reports this only to an administrator.")
FIRST = say("It is the difference between two samples, and this was the first.")

#: Most series that a browser reads: eight GPUs have 36.
MOST_SERIES = 256
#: A value for each series, in their order; None if unknown.
ValuesData = Annotated[list[Amount | None], Most(MOST_SERIES)]

_OF_A_GPU = (("utilisation", "share"), ("memory", "bytes"), ("power", "W"), ("temperature", "°C"))

Read = Callable[[], NvmlAnswer[float]]


@dataclass(frozen=True, slots=True)
class CounterSeries:
    """One line of a chart: `device` and `quantity` name it, `limit` is its largest value, None if unknown.

    `unit` is share (0 to 1), cores, bytes, W or °C. `why_missing` says why there is no value now.
    """

    device: Annotated[str, Otherwise("")]
    quantity: Annotated[str, Otherwise("")]
    unit: Annotated[str, Otherwise("")]
    source: MaybeSaid
    limit: Amount | None = None
    why_missing: Said | None = None


class CounterReader:
    """Samples all live counters. Used from one thread. The first sample finds the counters of this machine.

    `process`: this process is sampled too, besides the machine and its GPUs.
    """

    def __init__(
        self,
        gpus: Lazy[Gpus],
        monitor: Callable[[], apple.Monitor | Sentence] = apple.monitor,
        now: Callable[[], float] = real_time.perf_counter,
        *,
        process: bool = True,
        mac_gauges: Callable[[], mac_gpu.Gauges] = mac_gpu.Gauges,
    ) -> None:
        self._process = process
        self._mac_gauges = mac_gauges
        self._gpus = gpus
        self._monitor = monitor
        self._now = now
        self._lines: list[tuple[CounterSeries, Read]] | None = None

    def sample(self) -> tuple[list[CounterSeries], list[float | None]]:
        """Return the series, and a value for each: None if it has a reason instead."""
        if self._lines is None:
            self._lines = [*self._machine(), *self._of_gpus()]
        series: list[CounterSeries] = []
        values: list[float | None] = []
        for line, read in self._lines:
            answer = read()
            values.append(answer.value)
            series.append(
                CounterSeries(
                    line.device, line.quantity, line.unit, line.source, line.limit, answer.why_missing
                )
            )
        return series, values

    def _machine(self) -> Iterable[tuple[CounterSeries, Read]]:
        import psutil

        cores = psutil.cpu_count() or 1
        total = memory.machine().total
        yield (
            CounterSeries("machine", "utilisation", "share", "psutil.cpu_times", 1.0),
            _Rate(_busy, self._now, cores),
        )
        yield CounterSeries("machine", "memory", "bytes", "psutil.virtual_memory", total), _machine_memory
        if not self._process:
            return
        process = CounterSeries("process", "utilisation", "cores", "time.process_time", float(cores))
        yield process, _Rate(real_time.process_time, self._now)
        yield CounterSeries("process", "memory", "bytes", process_memory()[1], total), _process_memory

    def _of_gpus(self) -> Iterable[tuple[CounterSeries, Read]]:
        if sys.platform == "darwin":
            return [*_of_apple(self._monitor(), self._now), *_use_of_apple(self._mac_gauges())]
        gpus = self._gpus.get()
        if not gpus.gpus:
            return _none("GPU", gpus.reason)
        return [line for gpu in gpus.gpus for line in _of_nvidia(gpus.nvml, gpu)]


def _of_nvidia(nvml: Nvml, gpu: Gpu) -> Iterable[tuple[CounterSeries, Read]]:
    index = gpu.index

    def used() -> NvmlAnswer[float]:
        answer = nvml.memory(index)
        return NvmlAnswer(None, answer.why_missing) if answer.value is None else NvmlAnswer(answer.value.used)

    whole = nvml.memory(index).value
    total = None if whole is None else whole.total
    yield (
        CounterSeries(gpu.label, "utilisation", "share", say("NVML gauge, all processes"), 1.0),
        lambda: nvml.utilisation(index),
    )
    yield CounterSeries(gpu.label, "memory", "bytes", say("NVML, all processes"), total), used
    yield CounterSeries(gpu.label, "power", "W", say("NVML, whole board")), lambda: nvml.power(index)
    yield CounterSeries(gpu.label, "temperature", "°C", "NVML"), lambda: _float(nvml.temperature(index))


def _of_apple(
    monitor: apple.Monitor | Sentence, now: Callable[[], float]
) -> Iterable[tuple[CounterSeries, Read]]:
    read = _Power(monitor, now).of if not isinstance(monitor, str) else lambda _: _because(monitor)
    for part in ("GPU", "CPU", say("Neural Engine")):
        series = CounterSeries(
            part, "power", "W", say("Apple's energy model of the {part}, all programs", part=part)
        )
        yield series, read(part)
    yield CounterSeries("GPU", "temperature", "°C", "none"), _because(SUDO)


def _use_of_apple(gauges: mac_gpu.Gauges) -> Iterable[tuple[CounterSeries, Read]]:
    for name in gauges.names() or ["GPU"]:
        series = CounterSeries(name, "utilisation", "share", say("IORegistry gauge, all programs"), 1.0)
        yield series, lambda name=name: gauges.read(name)  # type: ignore[misc]


def _none(device: str, why: Sentence) -> Iterable[tuple[CounterSeries, Read]]:
    for quantity, unit in _OF_A_GPU:
        yield CounterSeries(device, quantity, unit, "none"), _because(why)


class _Power:
    """The power of the parts of Apple's chip: a window is open from one sample to the next."""

    LABEL = "jupyter_mlgpu-live"

    def __init__(self, monitor: apple.Monitor, now: Callable[[], float]) -> None:
        self._monitor = monitor
        self._now = now
        self._begun: float | None = None
        self._watts: dict[str, float] = {}

    def of(self, part: str) -> Read:
        def read() -> NvmlAnswer[float]:
            if part == "GPU":  # the first part that is read in each sample
                why = self._sample()
                if why is not None:
                    return NvmlAnswer(None, why)
            value = self._watts.get(part)
            return NvmlAnswer(value, None if value is not None else FIRST)

        return read

    def _sample(self) -> Sentence | None:
        now = self._now()
        try:
            if self._begun is not None and now > self._begun:
                self._watts = apple.watts(self._monitor.end_window(self.LABEL), now - self._begun)
            self._monitor.begin_window(self.LABEL)
        except RuntimeError as error:
            self._begun = None
            self._watts = {}
            return say("Apple's energy counters do not respond ({error}).", error=error)
        self._begun = now
        return None


class _Rate:
    """The growth of a counter of seconds per second, or, with `parts`, as a share of all of them.

    The system counts in ticks of 10 ms, so a share may come out a tick above 1. It is limited to 1.
    """

    def __init__(
        self, count: Callable[[], float], now: Callable[[], float], parts: int | None = None
    ) -> None:
        self._count = count
        self._now = now
        self._parts = parts
        self._before: tuple[float, float] | None = None

    def __call__(self) -> NvmlAnswer[float]:
        at, seconds = self._now(), self._count()
        before, self._before = self._before, (at, seconds)
        if before is None or at <= before[0]:
            return NvmlAnswer(None, FIRST)
        rate = max(0.0, seconds - before[1]) / (at - before[0])
        return NvmlAnswer(rate if self._parts is None else min(1.0, rate / self._parts))


def _busy() -> float:
    """Return the seconds that all CPUs together have worked since the machine was started."""
    import psutil

    times = psutil.cpu_times()
    # Linux counts a guest's time in user, too. Waiting for a disk is not work.
    idle = times.idle + getattr(times, "iowait", 0.0)
    guests = getattr(times, "guest", 0.0) + getattr(times, "guest_nice", 0.0)
    return float(sum(times) - guests - idle)


def _machine_memory() -> NvmlAnswer[float]:
    return NvmlAnswer(memory.machine().used)


def _process_memory() -> NvmlAnswer[float]:
    return NvmlAnswer(process_memory()[0])


def _because(why: Sentence) -> Read:
    return lambda: NvmlAnswer(None, why)


def _float(answer: NvmlAnswer[int]) -> NvmlAnswer[float]:
    return NvmlAnswer(None if answer.value is None else float(answer.value), answer.why_missing)
