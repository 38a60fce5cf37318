"""The backend of a framework that is older than the oldest version that its own backend supports.

It has no devices and observes nothing, so that no function is called which the version lacks. The first
record has a note with what to install, and each later one gives it as the reason why nothing is known.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from importlib import metadata

from jupyter_mlgpu.measure.frameworks.allocator import no_allocator_readings
from jupyter_mlgpu.measure.frameworks.base import (
    Backend,
    Capability,
    Details,
    Device,
    Framework,
    Observation,
    Observed,
    Scope,
)
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.record.errors import DeviceError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say


class OldBackend(Backend):
    """Stands for the backend of `framework`, whose `module` has been imported in an old `version`."""

    def __init__(self, framework: Framework, module: str, version: str) -> None:
        self.name = framework.name
        self.why_too_old = say(
            "Found {title} {version}; receipts need {oldest} or newer: run `{line}` and restart the kernel.",
            title=framework.title,
            version=version,
            oldest=framework.oldest or "",
            line=" ".join(["%pip install -U", *_parts(framework)]),
        )
        self._module = module
        self._version = version
        self._noted = False

    def loaded(self) -> bool:
        return imported(self._module)

    def versions(self) -> Mapping[str, str]:
        return {self.name: self._version}

    def started(self) -> bool:
        """Return False: what it has used is not known."""
        return False

    def devices(self) -> tuple[Device, ...]:
        return ()

    def find_devices(self) -> tuple[Device, ...]:
        """Raise DeviceError with what to install."""
        raise DeviceError(self.why_too_old)

    def details(self, device: Device) -> Details:
        return Details()

    def why_no_gpu(self) -> Sentence:
        return self.why_too_old

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        return ()

    def enter(self, device: Device) -> Scope:
        """Raise DeviceError with what to install; there is no device to enter."""
        raise DeviceError(self.why_too_old)

    def synchronize(self) -> None:
        return

    def synchronize_cpu(self) -> None:
        return

    def memory(self, device: Device) -> tuple[Reading, ...]:
        return no_allocator_readings(self.why_too_old)

    def observe(self) -> Observation:
        notes = () if self._noted else (self.why_too_old,)
        self._noted = True
        return _Unobserved(Observed(None, self.why_too_old, notes=notes))


def _parts(framework: Framework) -> list[str]:
    """Return the framework's name, and its other installed packages with that name, such as `mlx-cpu`."""
    installed = {str(one.metadata["Name"]).lower() for one in metadata.distributions()}
    parts = {name for pattern in framework.packages for name in fnmatch.filter(installed, pattern)}
    return sorted({framework.name} | {name for name in parts if name.startswith(framework.name)})


class _Unobserved(Observation):
    def __init__(self, observed: Observed) -> None:
        self._observed = observed

    def finish(self) -> Observed:
        return self._observed
