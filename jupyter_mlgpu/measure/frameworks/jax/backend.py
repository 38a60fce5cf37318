"""JAX on CPU, CUDA, and METAL where Apple's plug-in still loads (jax-metal 0.1.1 needs JAX before 0.5.1).

Run on Linux CPUs. Where else, `FRAMEWORK` says. Nothing but `find_devices` starts JAX's clients: on
a GPU these take most of its memory, and before them the user may still say how many CPU devices to make.

The device of a cell is `jax.default_device`, which this thread alone sees. Arrays that were put on a
device (`jax.device_put`) are worked on there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from jupyter_mlgpu.measure.frameworks import evidence, hardware, misplaced_values
from jupyter_mlgpu.measure.frameworks.allocator import held, peak, unknown, unknown_peak
from jupyter_mlgpu.measure.frameworks.base import (
    Backend,
    Capability,
    Compiled,
    Details,
    Device,
    Observation,
    Observed,
    Scope,
)
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.jax import FRAMEWORK
from jupyter_mlgpu.measure.frameworks.jax.arrays import committed, live_arrays
from jupyter_mlgpu.measure.frameworks.jax.compiling import CompilingClock
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.record.sentence import Sentence, joined, say

NOT_WATCHED = say("JAX does not report where its programs ran.")
_STATISTICS = Sentence("Device.memory_stats")


class JaxBackend(Backend):
    """JAX's devices, as the kit asks of them."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._compiling = CompilingClock()

    def versions(self) -> Mapping[str, str]:
        """JAX's version, and that of its compiled part."""
        found = {"jax": str(module("jax").__version__)}
        jaxlib = getattr(module("jaxlib"), "__version__", None)
        if jaxlib is not None:
            found["jaxlib"] = str(jaxlib)
        return found

    def started(self) -> bool:
        """Whether JAX's clients exist (private; seen working on 0.10.2)."""
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())

    def devices(self) -> tuple[Device, ...]:
        """This process's devices; before JAX has started, the first CPU, which needs no start."""
        if self.started():
            return tuple(device for device, _ in _found())
        platforms = module("jax").config.jax_platforms
        if platforms and "cpu" not in platforms.split(","):
            return ()
        return (Device(self.name, "cpu:0", "cpu", "cpu"),)

    def find_devices(self) -> tuple[Device, ...]:
        """All of this process's devices; starts JAX."""
        return tuple(device for device, _ in _found())

    def details(self, device: Device) -> Details:
        """The name from JAX; memory and driver from the driver's own tool."""
        if device.kind in ("cpu", "metal"):
            return hardware.cpu()
        told = hardware.nvidia(device.name) if device.kind == "cuda" else Details()
        native = _native(device)
        return told if native is None else Details(str(native.device_kind), told.memory, told.driver)

    def why_no_gpu(self) -> Sentence:
        """Whether a plug-in is missing, or failed."""
        from jax._src import xla_bridge

        version = module("jax").__version__
        errors = getattr(xla_bridge, "_backend_errors", {})
        failed = [f"{name}: {text}" for name, text in errors.items() if name != "tpu"]
        if failed:
            return say(
                "JAX {version} could not start its plug-in ({why}).", version=version, why="; ".join(failed)
            )
        if {"cuda", "rocm", "METAL"} & set(getattr(xla_bridge, "_backend_factories", {})):
            return say("JAX {version} has a GPU plug-in but found no GPU it can use here.", version=version)
        return say("JAX {version} is installed for CPUs only, without a GPU plug-in.", version=version)

    def needs_restart(self) -> Sentence | None:
        """Hidden by JAX's choice of platforms, or by the variable of CUDA."""
        from jax._src import xla_bridge

        plugins = getattr(xla_bridge, "_backend_factories", {})
        platforms = module("jax").config.jax_platforms
        told = hidden_by_configuration(platforms, plugins, self.started())
        cuda = "cuda" in plugins or _cuda_plugin()
        return told or (hardware.hidden_by_cuda(FRAMEWORK.title) if cuda else None)

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Programs are not watched; only GPU clients keep statistics, whose peak cannot be reset."""
        why_not = {"placement": NOT_WATCHED}
        if device.kind in ("cpu", "metal"):
            why_not["allocator_peak"] = _no_peak(device.name)
        return FRAMEWORK.capabilities(device.kind, why_not)

    def enter(self, device: Device) -> JaxScope:
        """Make `device` the default device of this thread."""
        return JaxScope(device, _native(device) if self.started() else "cpu")

    def synchronize(self) -> None:
        """Wait for every array that is still there; work whose results were dropped is not waited for."""
        if not self.started():
            return
        jax = module("jax")
        for platform in _platforms():
            jax.block_until_ready(jax.live_arrays(platform))

    def is_recorded(self) -> bool:
        """Return whether its devices are CUDA GPUs and the CPU."""
        return all(device.kind in ("cpu", "cuda") for device in self.devices())

    def synchronize_cpu(self) -> None:
        """Wait for every array of the CPU that is still there."""
        if self.started() and "cpu" in _platforms():
            jax = module("jax")
            jax.block_until_ready(jax.live_arrays("cpu"))

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What arrays hold, and the pool they are in, where a client keeps statistics; a CPU's does not."""
        if not self.started():
            return unknown(say("JAX has not used a device yet."))
        stats = _statistics().get(device.name, {})
        if "bytes_in_use" not in stats:
            return unknown(_no_peak(device.name))
        return held(
            say("{call} of {device}", call=_STATISTICS, device=device.name),
            stats["bytes_in_use"],
            stats.get("pool_bytes"),
            device=device.name,
        )

    def observe(self) -> JaxObservation:
        """Note what the allocators have counted so far, and begin to hear what is compiled here.

        Programs are not watched (adr/0009).
        """
        with suppress(Exception):  # then it is not told
            self._compiling.listen()
        return JaxObservation(self.started())

    def compiled(self) -> Compiled | None:
        """What JAX has traced, lowered and compiled since it was first watched (`jax.monitoring`)."""
        return self._compiling.told()

    def release(self) -> None:
        """Hear no more of what is compiled."""
        self._compiling.release()

    def stays(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Arrays committed to a device (by `jax.device_put`): JAX works where they are."""
        found = misplaced_values.elsewhere(committed(values, _names()), device.name) if self.started() else []
        if not found:
            return None
        name, native = found[0].name, _native(device)
        remedy = f"{name} = jax.device_put({name}, jax.devices({native.platform!r})[{device.number}])"
        told = misplaced_values.misplaced_values_note(found, device.name)
        return say(
            "{told}: JAX computes where the data is. `{code}` moves {what}.",
            told=told,
            code=remedy,
            what=misplaced_values.it(found),
        )


class JaxScope(Scope):
    """JAX's default device in one cell."""

    def __init__(self, device: Device, native: Any) -> None:
        self._config = module("jax").config
        self._native = native
        self._scope = module("jax").default_device(native)
        self._scope.__enter__()

    def holds(self) -> bool:
        """False inside a jax.default_device(...) of the user's own."""
        return bool(self._config.jax_default_device == self._native)

    def leave(self) -> Sentence | None:
        """Put back the default device found on entry; says so where another one was left set."""
        left_open = not self.holds()
        self._scope.__exit__(None, None, None)
        if left_open:
            return say("This cell left a jax.default_device(...) open; it was closed when the cell ended.")
        return None


class JaxObservation(Observation):
    """JAX's part in one cell."""

    def __init__(self, started: bool) -> None:
        self._before = _statistics() if started else {}
        arrays = live_arrays(_platforms()) if started else []
        # Only their identities are kept: an array that the user lets go of is let go of.
        self._arrays = None if arrays is None else {id(array) for array in arrays}

    def finish(self) -> Observed:
        """Where new arrays are, whether a GPU's allocator was used, its peak where this cell raised it."""
        from jax._src import xla_bridge

        if not xla_bridge.backends_are_initialized():
            return Observed((), None, ())
        told = [NOT_WATCHED]
        readings = []
        given: dict[str, int] = {}
        for name, after in _statistics().items():
            before = self._before.get(name, {})
            times = after.get("num_allocs", 0) - before.get("num_allocs", 0)
            given[name] = times
            told.append(say("Allocations on {device}: {times}.", device=name, times=times))
            readings.append(_peak(name, before, after))
        if not readings:
            readings = [unknown_peak(_no_peak(say("the CPU")), _STATISTICS)]
        devices = [device for device, _ in _found()]
        new = self._new_arrays()
        if len(devices) > 1:
            used = [entry for device in devices if (entry := _evidence(device, given, new)) is not None]
            return Observed(tuple(used) or None, None if used else joined(*told), tuple(readings))
        if new or given.get(devices[0].name):
            return Observed((evidence.only_device(devices[0]),), None, tuple(readings))
        why = evidence.may_have_run(devices[0])
        return Observed(None, why, tuple(readings), only=devices[0].name)

    def _new_arrays(self) -> Counter[str]:
        """The arrays that this cell made and that are still there, by device; none if they are too many."""
        arrays = None if self._arrays is None else live_arrays(_platforms())
        names = _names()
        return Counter(
            names[native]
            for array in arrays or ()
            if id(array) not in (self._arrays or ())
            for native in array.devices()
            if native in names
        )


def _cuda_plugin() -> bool:
    """Whether the plug-in for CUDA is installed: one that sees no GPU, JAX does not list (seen, 0.11.2)."""
    found = find_spec("jax_plugins")
    folders = None if found is None else found.submodule_search_locations
    return any(one.name.startswith("xla_cuda") for one in iter_modules(folders or []))


def _clients() -> Mapping[str, Any]:
    from jax.extend import backend

    clients: Mapping[str, Any] = backend.backends()
    return clients


def _platforms() -> set[str]:
    return {client.platform for client in _clients().values()}


def _names() -> dict[Any, str]:
    """Our short name of each of JAX's device objects."""
    return {native: device.name for device, native in _found()}


def _found() -> tuple[tuple[Device, Any], ...]:
    """Each device with JAX's own object; CPUs first. Starts JAX."""
    return tuple(sorted(_each(), key=lambda one: one[0].kind != "cpu"))


def _each() -> Iterator[tuple[Device, Any]]:
    for name, client in _clients().items():
        kind = name.lower()  # cpu, cuda, rocm, metal
        short = {"cpu": "cpu", "tpu": "tpu"}.get(kind, "gpu")
        for number, native in enumerate(client.local_devices()):
            yield Device("jax", f"{short}:{number}", kind, str(native)), native


def _native(device: Device) -> Any:
    return next((native for one, native in _found() if one.name == device.name), None)


def _evidence(device: Device, given: Mapping[str, int], new: Counter[str]) -> RanOn | None:
    if given.get(device.name):
        return evidence.allocator(device, given[device.name])
    return evidence.results(device, new[device.name]) if new[device.name] else None


def _statistics() -> dict[str, Mapping[str, int]]:
    """What each device's allocator has counted; devices that keep no statistics are left out."""
    return {device.name: stats for device, native in _found() if (stats := native.memory_stats())}


def _peak(name: str, before: Mapping[str, int], after: Mapping[str, int]) -> Reading:
    value, earlier = after.get("peak_bytes_in_use"), before.get("peak_bytes_in_use", 0)
    detail = say("{call} of {device}", call=_STATISTICS, device=name)
    if value is None:
        return unknown_peak(_no_peak(name), detail, name)
    if value <= earlier:
        why = say(
            "This cell stayed below JAX's earlier peak on {device}, which JAX cannot reset.",
            device=name,
        )
        return unknown_peak(why, detail, name)
    return peak(value, detail, device=name)


def _no_peak(name: str) -> Sentence:
    return say("JAX keeps no allocator statistics for {device}.", device=name)


def hidden_by_configuration(
    platforms: str | None, plugins: Collection[str], started: bool
) -> Sentence | None:
    """A sentence where `jax_platforms` (`platforms`) leaves out every GPU plug-in that JAX has.

    `plugins` are the names of the platforms for which JAX has a client or a plug-in.
    """
    named = platforms.split(",") if platforms else []
    there = [name for name in ("cuda", "rocm", "METAL") if name in plugins]
    if not started or not named or not there or {"gpu", *there} & set(named):
        return None
    if there == ["cuda"] and hardware.nvidia("gpu:0").driver is None:
        return None
    return say(
        "JAX was told to use only {platforms} (JAX_PLATFORMS, or jax_platforms in "
        "jax.config) and cannot switch platforms once it has started: first remove that "
        "setting.",
        platforms=platforms or "",
    )
