"""Which device computes in this notebook, and with which framework."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from jupyter_mlgpu import kit
from jupyter_mlgpu.devicewords import DeviceWord
from jupyter_mlgpu.frameworks import registry
from jupyter_mlgpu.frameworks.base import Backend, Device
from jupyter_mlgpu.frameworks.imports import imported
from jupyter_mlgpu.render import words


@dataclass(frozen=True)
class Machine:
    """The device of the framework in use, as `gpu:0`, its hardware (None: not known), and the framework."""

    device: str
    hardware: str | None
    framework: str

    @property
    def has_gpu(self) -> bool:
        """Whether the framework in use has a GPU."""
        return self.device.startswith("gpu:")

    def __str__(self) -> str:
        hardware = f", {self.hardware}" if self.hardware else ""
        return f"{self.device}{hardware}, with {self.framework}"


def device() -> str:
    """One sentence on the device that computes here, and the framework.

    It is the device that was chosen with `%mlc_device`, else the one on which the framework computes unasked:
    its first GPU, or the processor. Where Keras is imported, the framework is the one that Keras uses.
    """
    found = here()
    return "No framework is loaded yet, so no device computes here." if found is None else f"{found}."


def here() -> Machine | None:
    """The same as data; None while no framework is imported."""
    backend, keras = _framework()
    if backend is None:
        return None
    found = _chosen(backend)
    version = backend.versions().get(backend.name)
    name = f"{words.framework(backend.name)} {version}" if version else words.framework(backend.name)
    framework = f"Keras {keras} on {name}" if keras else name
    return Machine(found.name, backend.details(found).hardware, framework)


def _framework() -> tuple[Backend | None, str | None]:
    """The backend that is in use, and the version of Keras where it is Keras that uses it."""
    if imported("keras"):
        keras = importlib.import_module("keras")
        name = keras.backend.backend()
        if name in registry.FRAMEWORKS:
            return registry.backend(name), keras.__version__
    return next(iter(registry.loaded()), None), None


def _chosen(backend: Backend) -> Device:
    devices = backend.find_devices()
    asked = [one for one in kit.current().selection.devices() if one.framework == backend.name]
    return asked[0] if asked else DeviceWord("any").find(devices)
