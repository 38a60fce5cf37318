"""Fakes for testing benchmarks: a case whose steps take as long as you say, and a machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from jupyter_mlgpu.experiment.bench.case import Case, Needs, Work
from jupyter_mlgpu.experiment.bench.monitor import SensorReadings
from jupyter_mlgpu.experiment.bench.quantity import Quantity, unknown
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.testing.clock import FakeClock


class FakeRunner:
    """Steps that take `seconds` each, in turn; the last value is repeated. The clock is advanced.

    The time passes in `wait`, as on a device that works while Python goes on. An exception in place of
    seconds is raised by that step.
    """

    type_ran = "float32"
    note: str | None = None

    def __init__(self, clock: FakeClock, seconds: Sequence[float | BaseException]) -> None:
        self._clock = clock
        self._seconds = self._each(seconds)
        self._left = 0.0
        #: Number of steps so far, and True once `close` was called.
        self.steps = 0
        self.closed = False

    def run(self, steps: int) -> None:
        """Run so many steps."""
        for _ in range(steps):
            step = next(self._seconds)
            if isinstance(step, BaseException):
                raise step
            self._left += step
            self.steps += 1

    def wait(self) -> None:
        """Wait for all steps."""
        self._clock.advance(self._left)
        self._left = 0.0

    def close(self) -> None:
        """Set `closed`."""
        self.closed = True

    @staticmethod
    def _each(seconds: Sequence[float | BaseException]) -> Iterator[float | BaseException]:
        yield from seconds
        while True:
            yield seconds[-1]


class FakeMonitor:
    """A machine with as much memory, as many other programs and as much power as you say."""

    def __init__(
        self,
        clock: FakeClock,
        *,
        memory: float | None = 16e9,
        others: tuple[str, ...] = (),
        watts: float | None = None,
        celsius: float | None = None,
        megahertz: float | None = None,
    ) -> None:
        self._clock = clock
        self._memory = memory
        self._others = others
        self._watts = watts
        #: The temperature and the clock rate that the sensors report from now on; None: not known.
        self.celsius, self.megahertz = celsius, megahertz

    def free_memory(self, device: Device) -> Quantity:
        """Return the free bytes of the device."""
        if self._memory is None:
            return unknown("bytes", Sentence("The fake does not tell its memory."))
        return Quantity(self._memory, "bytes")

    def others(self, device: Device) -> Callable[[], tuple[str, ...]]:
        """Begin. Returns a function that names the other programs that used the device."""
        return lambda: self._others

    def energy(self, device: Device) -> Callable[[], Quantity]:
        """Begin. Returns a function that returns the joules since."""
        begun, watts = self._clock.monotonic_ns(), self._watts

        def ended() -> Quantity:
            if watts is None:
                return unknown("J", Sentence("The fake counts no energy."))
            return Quantity(watts * (self._clock.monotonic_ns() - begun) / 1e9, "J")

        return ended

    def sensors(self, device: Device) -> Callable[[], SensorReadings]:
        """Return a function that reads `watts`, `celsius` and `megahertz`."""
        why = Sentence("The fake has no such sensor.")

        def reading(value: float | None, unit: str) -> Quantity:
            return unknown(unit, why) if value is None else Quantity(value, unit)

        return lambda: SensorReadings(
            reading(self._watts, "W"), reading(self.celsius, "°C"), reading(self.megahertz, "MHz")
        )

    def peak_memory(self, device: Device) -> Callable[[], Quantity]:
        """Begin. Returns a function that returns the peak, in bytes."""
        return lambda: Quantity(1e9, "bytes")


def fake_case(
    runner: FakeRunner,
    *,
    name: str = "gemm",
    n: int = 1024,
    needs: Needs | None = None,
    fails: Exception | None = None,
) -> Case:
    """Return a case that runs the runner's steps: products of n x n matrices. `prepare` raises `fails`."""

    def start(device: Device) -> FakeRunner:
        if fails is not None:
            raise fails
        return runner

    return Case(
        name,
        "fake",
        {"n": n},
        Work(1, "products", 2.0 * n**3, None, "2 n^3 operations a product", 12.0 * n * n),
        needs or Needs(1000),
        start,
        peak_type="float32",
        chart="n",
    )
