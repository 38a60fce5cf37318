"""`device`: the device that computes in this notebook, and the framework."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend, Device
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.record.device_request import AUTO
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say


@dataclass(frozen=True)
class Machine:
    """The device of the framework in use, as `gpu:0`; its hardware (None: unknown); the framework."""

    device: str
    hardware: str | None
    framework: str

    @property
    def has_gpu(self) -> bool:
        """True if the framework computes on a GPU."""
        return self.device.startswith("gpu:")

    def sentence(self) -> Sentence:
        """Return the three in one sentence."""
        if not self.hardware:
            return say("{device}, with {framework}.", device=self.device, framework=self.framework)
        return say(
            "{device}, {hardware}, with {framework}.",
            device=self.device,
            hardware=self.hardware,
            framework=self.framework,
        )


def device() -> str:
    """Return one sentence on the device that computes here, and the framework.

    The device is the one chosen with `%mlc_device`, otherwise the framework's default: its first GPU, or the
    CPU. If Keras is imported, the framework is Keras's backend.
    """
    found = here()
    nothing = say("No framework is loaded yet, so no device is in use here.")
    return translate(nothing if found is None else found.sentence())


def here() -> Machine | None:
    """Return the device and framework in use, or None if no framework is imported."""
    backend, keras = _framework()
    if backend is None:
        return None
    found = _device_in_use(backend)
    name = _with_version(backend)
    framework = say("Keras {version} on {framework}", version=keras, framework=name) if keras else name
    return Machine(found.name, backend.details(found).hardware, framework)


def frameworks() -> str:
    """Return the imported frameworks with their versions: "TensorFlow 2.19.1, JAX 0.10.2"."""
    return ", ".join(_with_version(one) for one in registry.loaded())


def gpu() -> tuple[Backend, Device] | None:
    """Return the framework in use and its GPU; None if it computes on the CPU, or none is imported."""
    backend, _ = _framework()
    if backend is None:
        return None
    found = _device_in_use(backend)
    return (backend, found) if found.name.startswith("gpu:") else None


def _framework() -> tuple[Backend | None, str | None]:
    """Return the backend in use, and the version of Keras if Keras uses it."""
    if imported("keras"):
        keras = importlib.import_module("keras")
        name = keras.backend.backend()
        if name in registry.FRAMEWORKS:
            return registry.backend(name), keras.__version__
    return next(iter(registry.loaded()), None), None


def _with_version(backend: Backend) -> str:
    version = backend.versions().get(backend.name)
    return f"{registry.title(backend.name)} {version}" if version else registry.title(backend.name)


def _device_in_use(backend: Backend) -> Device:
    devices = backend.find_devices()
    selected = [one for one in runtime.current().selection.devices() if one.framework == backend.name]
    return selected[0] if selected else AUTO.find(devices)
