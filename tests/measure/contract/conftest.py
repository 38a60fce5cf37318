"""The backends that are installed, each with a way to run something; the end of a run names the others."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.testing import FakeBackend

MEBIBYTES_4 = 4 * 1024**2


@dataclass
class Subject:
    """A backend, and what the suite needs of its framework."""

    backend: Any
    operate: Callable[[], Any]  # run something; returns its result
    where: Callable[[], str]  # the device on which something that is run now ends up
    ready: Callable[[Any], bool] = lambda result: True  # whether the device has finished a result
    allocate: Callable[[], Any] = lambda: None  # make 4 MiB
    make: Callable[[], Any] = lambda: None  # a value that stays where it is made
    compile: Callable[[], Any] | None = None  # make a function that compiles when first called, and call it
    stays: bool = True  # whether such a value stays on one device
    apart: bool = True  # whether each thread has its own device
    stand_in: Device | None = None  # to be chosen where the framework has one device

    @property
    def devices(self) -> tuple[Any, ...]:
        return self.backend.find_devices()

    @property
    def other(self) -> Any:
        """A device on which things do not end up by themselves."""
        home = self.where()
        elsewhere = [device for device in self.devices if device.name != home]
        if not elsewhere and self.stand_in is not None:
            return self.stand_in
        if not elsewhere:
            pytest.skip(f"{self.backend.name} has no second device here")
        return elsewhere[-1]  # a GPU, where there is one

    def able(self, device: Any, name: str) -> Any:
        return next(one for one in self.backend.capabilities(device) if one.name == name)


def fake() -> Subject:
    backend = FakeBackend(devices=("cpu:0", "cpu:1"))
    backend.misplaced_values["the_value"] = "cpu:0"

    def compiles() -> Callable[[], Any]:
        backend.compile()
        return backend.run

    return Subject(backend, backend.run, lambda: backend.current or "cpu:0", apart=False, compile=compiles)


def tensorflow() -> Subject:
    tf = framework("tensorflow")

    def added() -> Any:
        return tf.ones(()) + 1.0

    cpu = tf.config.list_physical_devices("CPU")[0]
    if not tf.config.get_logical_device_configuration(cpu):
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return Subject(
        registry.backend("tensorflow"),
        operate=lambda: tf.add(tf.constant(1.0), 1.0),
        where=lambda: tf.add(tf.constant(1.0), 1.0).device.rpartition("device:")[2].lower(),
        allocate=lambda: tf.zeros((1024, 1024)),
        make=lambda: tf.Variable([1.0]),
        compile=lambda: called(tf.function(added)),
    )


def torch() -> Subject:
    torch = framework("torch")

    def ready(result: Any) -> bool:
        return result.device.type != "cuda" or torch.cuda.current_stream().query()

    def where() -> str:
        device = (torch.ones(1) + 1).device
        short = "gpu" if device.type in ("cuda", "mps") else device.type
        return f"{short}:{device.index or 0}"

    return Subject(
        registry.backend("torch"),
        operate=lambda: torch.ones(1000, 1000) @ torch.ones(1000, 1000),
        where=where,
        ready=ready,
        allocate=lambda: torch.ones(1024, 1024),
        make=lambda: torch.nn.Linear(2, 2),
        compile=lambda: called(torch.compile(lambda: torch.ones(2) + 1, backend="aot_eager")),
        # PyTorch has one CPU device. `meta` holds no data, and can be chosen as any other.
        stand_in=Device("torch", "meta:0", "meta", "meta"),
    )


def jax() -> Subject:
    jax = framework("jax")
    backend = registry.backend("jax")
    if not backend.started():
        jax.config.update("jax_num_cpu_devices", 2)

    return Subject(
        backend,
        operate=lambda: jax.numpy.ones((1000, 1000)) @ jax.numpy.ones((1000, 1000)),
        where=lambda: _jax_name(backend, jax.numpy.ones(1) + 1),
        ready=lambda result: result.is_ready(),
        allocate=lambda: jax.numpy.ones((1024, 1024)).block_until_ready(),
        make=lambda: jax.device_put(jax.numpy.ones(1), next(iter(jax.numpy.ones(1).devices()))),
        compile=lambda: called(jax.jit(lambda: jax.numpy.ones(2) + 1)),
    )


def _jax_name(backend: Any, array: Any) -> str:
    from jupyter_mlgpu.measure.frameworks.jax.backend import native_device

    (native,) = array.devices()
    return next(one.name for one in backend.find_devices() if native_device(one) == native)


def mlx() -> Subject:
    mx = framework("mlx.core")

    def evaluated(result: Any) -> Any:
        mx.eval(result)
        return result

    def where() -> str:
        device = mx.default_device()
        return next(one.name for one in backend.devices() if one.native_name == str(device))

    backend = registry.backend("mlx")
    return Subject(
        backend,
        operate=lambda: evaluated(mx.ones((100, 100)) @ mx.ones((100, 100))),
        where=where,
        allocate=lambda: evaluated(mx.ones((1024, 1024)) + 1),
        make=lambda: mx.ones(1),
        stays=False,
        apart=False,  # read in MLX's source: the default device is that of all threads
    )


def called(function: Callable[[], Any]) -> Callable[[], Any]:
    """A function that has been called."""
    function()
    return function


def framework(name: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a framework's own, while it is imported
        return importlib.import_module(name)


SUBJECTS = (fake, tensorflow, torch, jax, mlx)


def parameter(make: Callable[[], Subject]) -> Any:
    name = make.__name__
    needs = [pytest.mark.needs(name)] if name in registry.FRAMEWORKS else []
    return pytest.param(make, id=name, marks=needs)


@pytest.fixture(scope="session", params=map(parameter, SUBJECTS))
def subject(request: pytest.FixtureRequest) -> Subject:
    """A backend; a test may ask for one by its framework's name."""
    by_name = {make.__name__: make for make in SUBJECTS}
    return by_name.get(request.param, request.param)()


@pytest.fixture(scope="session")
def tried() -> set[str]:
    """The backends that this suite knows, installed or not."""
    return {make.__name__ for make in SUBJECTS}
