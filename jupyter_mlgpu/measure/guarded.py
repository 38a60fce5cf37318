"""Calls to probes and backends. One that fails costs only its own reading, which then says why."""

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
    """Wait until the devices are done. If `recorded`, do not wait for GPUs that CUDA's records cover."""
    try:
        if recorded and backend.is_recorded():
            backend.synchronize_cpu()
        else:
            backend.synchronize()
    except Exception:  # the device's own error reaches the user through the cell's own code
        return


def is_recorded(backend: Backend) -> bool:
    """Return True if CUDA's records cover all work of the framework's devices except that of the CPU."""
    try:
        return backend.is_recorded()
    except Exception:
        return False


def hardware(backend: Backend, device: Device) -> str | None:
    """Return the name of a device's hardware, None if it is unknown."""
    try:
        return backend.details(device).hardware
    except Exception:
        return None


def allocator_memory(backend: Backend) -> list[Reading]:
    """Return the memory that the framework's allocators hold now."""
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
    """Take a probe's first reading and return a function that takes the second."""
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
    """Return a missing reading whose reason is an exception."""
    return missing(quantity, say("The measurement failed ({error}).", error=words(error)))


def finish(name: str, observation: Observation | Observed | Sentence) -> Observed:
    """Return what was observed. `observation` may be the result already, or the reason for having none."""
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
    """Return all quantities in the order of `QUANTITIES`, those that were not measured with the reason `why`.

    Quantities that only a profile has are left out if they were not measured.
    """
    ordered: list[Reading] = []
    for quantity in QUANTITIES:
        of_this = [reading for reading in readings if reading.quantity == quantity]
        known = [reading for reading in of_this if reading.value is not None]
        ordered.extend(known or of_this[:1])
        if not of_this and quantity != "device_idle":
            ordered.append(missing(quantity, why))
    return (*ordered, *(reading for reading in readings if reading.quantity in PROFILED))


def words(error: BaseException) -> str:
    """Return an exception as a short text, without details of the user's machine."""
    text, kind = beginning(text_of(error), 120), type_name(type(error))
    return f"{kind}: {text}" if text else kind
