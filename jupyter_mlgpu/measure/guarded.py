"""Probes and backends, asked so that one that fails costs its own reading, says so, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jupyter_mlgpu.measure.frameworks.base import Backend, Device, Observation, Observed
from jupyter_mlgpu.measure.probes.base import Probe
from jupyter_mlgpu.measure.user_objects import text_of, type_name
from jupyter_mlgpu.record.quantities import PROFILED, QUANTITIES
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import Sentence, say

NO_FRAMEWORK = say("No framework known to jupyter_mlgpu was loaded.")
NOT_USED = say("No framework was seen using a device in this cell.")


def wait(backend: Backend, *, recorded: bool = False) -> None:
    """Wait until the devices are done; where it is `recorded`, but for GPUs of which CUDA's records tell."""
    try:
        if recorded and backend.is_recorded():
            backend.synchronize_cpu()
        else:
            backend.synchronize()
    except Exception:  # the device's own error reaches the user through the cell's own code
        return


def is_recorded(backend: Backend) -> bool:
    """Return whether CUDA's records tell all that the framework's devices do, but for a CPU's work."""
    try:
        return backend.is_recorded()
    except Exception:
        return False


def hardware(backend: Backend, device: Device) -> str | None:
    """The name of a device's hardware; None where it cannot be told."""
    try:
        return backend.details(device).hardware
    except Exception:
        return None


def held(backend: Backend) -> list[Reading]:
    """What the framework's allocators hold now."""
    try:
        if not backend.started():
            return [
                missing(
                    "memory_allocator",
                    say("{name} has not used a device yet.", name=backend.name),
                    scope="device",
                )
            ]
        return [reading for device in backend.devices() for reading in backend.memory(device)]
    except Exception as error:
        return [failed("memory_allocator", error)]


def begin(probe: Probe) -> Callable[[], Sequence[Reading]]:
    """Take a probe's first reading; what is returned takes the second."""
    try:
        stop = probe.start()
    except Exception as error:
        readings = [failed(probe.quantity, error)]
        return lambda: readings

    def end() -> Sequence[Reading]:
        try:
            taken = stop()
        except Exception as error:
            return [failed(probe.quantity, error)]
        return [taken] if isinstance(taken, Reading) else taken

    return end


def failed(quantity: str, error: Exception) -> Reading:
    """A reading that an exception has cost."""
    return missing(quantity, say("The measurement failed ({error}).", error=words(error)))


def finish(name: str, observation: Observation | Observed | Sentence) -> Observed:
    """What was observed; `observation` may tell it already, or may be the reason why nothing was."""
    if isinstance(observation, Observed):
        return observation
    if isinstance(observation, str):
        return Observed(None, observation, (missing("peak_memory_allocator", observation),))
    try:
        return observation.finish()
    except Exception as error:
        return Observed(
            None, say("{name} could not be observed to the end ({error}).", name=name, error=words(error))
        )


def in_order(readings: Sequence[Reading], why: Sentence) -> tuple[Reading, ...]:
    """All quantities in the order of `QUANTITIES`; one that nobody measured says why, but a profile's."""
    ordered: list[Reading] = []
    for quantity in QUANTITIES:
        of_this = [reading for reading in readings if reading.quantity == quantity]
        known = [reading for reading in of_this if reading.value is not None]
        ordered.extend(known or of_this[:1])
        if not of_this and quantity != "device_idle":
            ordered.append(missing(quantity, why))
    return (*ordered, *(reading for reading in readings if reading.quantity in PROFILED))


def words(error: BaseException) -> str:
    """An exception in a few words, without what it tells of the user's machine."""
    text, kind = beginning(text_of(error), 120), type_name(type(error))
    return f"{kind}: {text}" if text else kind
