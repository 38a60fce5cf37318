"""Devices of Abacus: the public fake, which asks Abacus where its sums ran."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Capability, Device, Observed
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.testing import FakeBackend
from mlgpu_abacus import FRAMEWORK

DEVICES = ("cpu:0", "gpu:0")


class AbacusBackend(FakeBackend):
    """See `jupyter_mlgpu.measure.frameworks.base.Backend`."""

    def __init__(self) -> None:
        super().__init__(FRAMEWORK.name, DEVICES)

    def loaded(self) -> bool:
        """Whether `import abacus` has finished."""
        return imported("abacus")

    def versions(self) -> Mapping[str, str]:
        """Abacus's own."""
        return {self.name: _abacus().__version__}

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """There is no memory."""
        return FRAMEWORK.capabilities(device.kind, {"allocator_peak": "Beads take no memory."})

    def enter(self, device: Device) -> AbacusScope:
        """Work sums out on a device."""
        return AbacusScope(device)

    def observe(self) -> AbacusObservation:
        """Count sums from now on."""
        return AbacusObservation()


class AbacusScope:
    """See `jupyter_mlgpu.measure.frameworks.base.Scope`."""

    def __init__(self, device: Device) -> None:
        self._before, self._device = _abacus().device, device.name
        _abacus().device = device.name

    def holds(self) -> bool:
        """Whether sums still run there."""
        return _abacus().device == self._device

    def leave(self) -> str | None:
        """Put back what was found."""
        _abacus().device = self._before
        return None


class AbacusObservation:
    """See `jupyter_mlgpu.measure.frameworks.base.Observation`."""

    def __init__(self) -> None:
        self._start = len(_abacus().ran_on)

    def finish(self) -> Observed:
        """Where sums ran since then."""
        counted = FakeBackend(FRAMEWORK.name, DEVICES)
        for device in _abacus().ran_on[self._start :]:
            counted.run(device=device)
        return Observed(counted.ran_since(0), None)


def _abacus() -> Any:
    return sys.modules["abacus"]
