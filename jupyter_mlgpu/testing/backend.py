"""A fake framework with devices of your choice."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.measure.frameworks.allocator import allocator_readings, no_allocator_readings
from jupyter_mlgpu.measure.frameworks.base import (
    CAPABILITIES,
    Backend,
    Capability,
    Compiled,
    Details,
    Device,
    Observation,
    Observed,
    Scope,
    UsableMemory,
)
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.record.sentence import Sentence, say


class FakeBackend(Backend):
    """A fake framework with devices of your choice. Operations run on them only through `run`."""

    #: The result of `needs_restart`; set it as you like.
    hidden: Sentence | None = None

    def __init__(self, name: str = "fake", devices: tuple[str, ...] = ("cpu:0",)) -> None:
        self.name = name
        self.current: str | None = None
        self.waited = 0
        self.rested = 0
        self.misplaced_values: dict[str, str] = {}
        self._compiled = Compiled(0.0, 0)
        self._devices = tuple(
            Device(name, device, device.partition(":")[0], f"fake {device}") for device in devices
        )
        self._ran: list[str] = []
        #: Bytes that the allocator holds on each device; set it as you like.
        self.holds: dict[str, int] = {}
        #: Bytes that each device should use at most, like a Mac's GPU; set it as you like.
        self.usable: dict[str, int] = {}
        #: The name of the result of `default_device`, None if it is not known; set it as you like.
        self.default: str | None = None
        #: The result of `is_recorded`; set it as you like.
        self.recorded = False

    def run(self, operations: int = 1, device: str | None = None) -> None:
        """Pretend that operations ran on the current device, or on the one given."""
        self._ran += [device or self.current or self._devices[0].name] * operations

    def compile(self, seconds: float = 1.0) -> None:
        """Pretend that a program was compiled."""
        self._compiled = Compiled(self._compiled.seconds + seconds, (self._compiled.programs or 0) + 1)

    def loaded(self) -> bool:
        return True

    def versions(self) -> Mapping[str, str]:
        return {self.name: "1.0"}

    def devices(self) -> tuple[Device, ...]:
        return self._devices

    def details(self, device: Device) -> Details:
        return Details(f"fake {device.kind}")

    def default_device(self) -> Device | None:
        """Return the device named by `default`."""
        return next((device for device in self._devices if device.name == self.default), None)

    def usable_memory(self, device: Device) -> UsableMemory | None:
        """Return what is set in `usable`."""
        most = self.usable.get(device.name)
        return None if most is None else UsableMemory(most, Sentence("fake.recommended"))

    def why_no_gpu(self) -> Sentence:
        return Sentence("The fake has the devices it was given.")

    def needs_restart(self) -> Sentence | None:
        """Return `hidden`."""
        return self.hidden

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Return all capabilities except the allocator's peak: there is no memory."""
        return tuple(
            Capability(
                name,
                name != "allocator_peak",
                None if name != "allocator_peak" else Sentence("No memory."),
                None,
            )
            for name in CAPABILITIES
        )

    def enter(self, device: Device) -> FakeScope:
        return FakeScope(self, device.name)

    def synchronize(self) -> None:
        """Count the calls in `waited`."""
        self.waited += 1

    def is_recorded(self) -> bool:
        """Return `recorded`."""
        return self.recorded

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """Return the bytes of the device in `holds`."""
        if device.name not in self.holds:
            return no_allocator_readings(say("The fake holds nothing on {device}.", device=device.name))
        return allocator_readings(
            Sentence(f"fake allocator of {device.name}"), self.holds[device.name], device=device.name
        )

    def observe(self) -> FakeObservation:
        return FakeObservation(self, len(self._ran))

    def compiled(self) -> Compiled:
        """Return the sums of all calls of `compile`."""
        return self._compiled

    def release(self) -> None:
        """Count the calls in `rested`."""
        self.rested += 1

    def misplaced_note(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Return a sentence with the values for which `misplaced_values` names another device."""
        found = [name for name in values if self.misplaced_values.get(name, device.name) != device.name]
        where = f"on {self.misplaced_values[found[0]]}, not on {device.name}" if found else ""
        return Sentence(f"{', '.join(found)} {where}.") if found else None

    def ran_since(self, start: int) -> tuple[RanOn, ...]:
        """Return the devices of the operations after the first `start` of them."""
        ran = self._ran[start:]
        kinds = {device.name: device.kind for device in self._devices}
        return tuple(
            RanOn(
                self.name,
                device,
                kinds.get(device, device),
                f"fake {device}",
                ran.count(device),
                ran.count(device) / len(ran),
                evidence="counted",
            )
            for device in sorted(set(ran), key=ran.count, reverse=True)
        )


class FakeScope(Scope):
    """A device scope of the fake framework."""

    def __init__(self, backend: FakeBackend, device: str) -> None:
        self._backend = backend
        self._device = device
        self._before = backend.current
        backend.current = device

    def holds(self) -> bool:
        return self._backend.current == self._device

    def leave(self) -> Sentence | None:
        left_open = not self.holds()
        self._backend.current = self._before
        return Sentence("A device scope was left open.") if left_open else None


class FakeObservation(Observation):
    """The operations of the fake framework since the start."""

    def __init__(self, backend: FakeBackend, start: int) -> None:
        self._backend = backend
        self._start = start

    def finish(self) -> Observed:
        return Observed(self._backend.ran_since(self._start), None)
