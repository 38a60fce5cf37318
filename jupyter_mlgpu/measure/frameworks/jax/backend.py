"""JAX on CPU, CUDA, and a Mac's GPU with one of the plug-ins in `platforms`.

`FRAMEWORK` lists where it was verified. Only `find_devices` starts JAX's clients: on a GPU these take most of
its memory, and before they start the user may still set the number of CPU devices.

The device of a cell is `jax.default_device`, which is local to this thread. Arrays that were put on a device
(`jax.device_put`) are computed there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pkgutil import iter_modules
from typing import Any

from jupyter_mlgpu.measure.frameworks import evidence, hardware, placed_values
from jupyter_mlgpu.measure.frameworks.allocator import (
    allocator_readings,
    no_allocator_readings,
    no_peak_reading,
    peak_reading,
)
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
from jupyter_mlgpu.measure.frameworks.jax import FRAMEWORK, platforms
from jupyter_mlgpu.measure.frameworks.jax.arrays import committed, live_arrays, placed
from jupyter_mlgpu.measure.frameworks.jax.compiling import CompilingClock
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue
from jupyter_mlgpu.measure.probes.memory import unified
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.record.sentence import Sentence, joined, say

NOT_REPORTED = say("JAX does not report where its programs ran.")
_STATISTICS = Sentence("Device.memory_stats")


class JaxBackend(Backend):
    """JAX's devices."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._compiling = CompilingClock()

    def versions(self) -> Mapping[str, str]:
        """Return the versions of JAX and of its compiled part."""
        found = {"jax": str(module("jax").__version__)}
        jaxlib = getattr(module("jaxlib"), "__version__", None)
        if jaxlib is not None:
            found["jaxlib"] = str(jaxlib)
        return found

    def started(self) -> bool:
        """Return True if JAX's clients exist (private; verified on 0.10.2)."""
        from jax._src import xla_bridge

        return bool(xla_bridge.backends_are_initialized())

    def devices(self) -> tuple[Device, ...]:
        """Return this process's devices; before JAX has started, only the first CPU, which needs no start."""
        if self.started():
            return tuple(device for device, _ in _found())
        requested = module("jax").config.jax_platforms
        if requested and "cpu" not in requested.split(","):
            return ()
        return (Device(self.name, "cpu:0", "cpu", "cpu"),)

    def find_devices(self) -> tuple[Device, ...]:
        """Return all of this process's devices; starts JAX."""
        return tuple(device for device, _ in _found())

    def default_device(self) -> Device | None:
        """Return the default device that is set, else the first of JAX's default platform: maybe a CPU."""
        if not self.started():
            return None
        jax = module("jax")
        default = jax.config.jax_default_device or jax.local_devices()[0]
        return next((device for device, native in _found() if native == default), None)

    def details(self, device: Device) -> Details:
        """Return the name from JAX, and memory and driver from NVML."""
        if device.kind in ("cpu", "metal"):
            return hardware.cpu()
        known = hardware.nvidia(device.name) if device.kind == "cuda" else Details()
        native = native_device(device)
        return known if native is None else Details(str(native.device_kind), known.memory, known.driver)

    def why_no_gpu(self) -> Sentence:
        """Return a sentence that says if a plug-in is missing or failed."""
        from jax._src import xla_bridge

        version = module("jax").__version__
        errors = getattr(xla_bridge, "_backend_errors", {})
        failed = [f"{name}: {text}" for name, text in errors.items() if name != "tpu"]
        if failed:
            return say(
                "JAX {version} could not start its plug-in ({why}).", version=version, why="; ".join(failed)
            )
        if platforms.gpus_among(getattr(xla_bridge, "_backend_factories", {})):
            return say("JAX {version} has a GPU plug-in but found no GPU it can use here.", version=version)
        if unified():
            return say(
                "JAX {version} has no plug-in for this Mac's GPU: `pip install jax-mps` installs one, with "
                "the JAX that it needs.",
                version=version,
            )
        return say("JAX {version} is installed for CPUs only, without a GPU plug-in.", version=version)

    def needs_restart(self) -> Sentence | None:
        """Return a sentence if JAX's platforms or CUDA_VISIBLE_DEVICES hide the GPU."""
        from jax._src import xla_bridge

        plugins = getattr(xla_bridge, "_backend_factories", {})
        hidden = hidden_by_configuration(module("jax").config.jax_platforms, plugins, self.started())
        cuda = "cuda" in plugins or _cuda_plugin()
        return hidden or (hardware.hidden_by_cuda(FRAMEWORK.title) if cuda else None)

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Return the capabilities: programs are not observed, and not every client keeps statistics."""
        why_not = {"placement": NOT_REPORTED}
        keeps_peak = device.kind != "metal" or "peak_bytes_in_use" in _statistics().get(device.name, {})
        if device.kind == "cpu" or not keeps_peak:
            why_not["allocator_peak"] = _no_peak(device.name)
        return FRAMEWORK.capabilities(device.kind, why_not)

    def enter(self, device: Device) -> JaxScope:
        """Make `device` the default device of this thread."""
        return JaxScope(device, native_device(device) if self.started() else "cpu")

    def synchronize(self) -> None:
        """Wait for every array that still exists, but not for work whose results were dropped."""
        if not self.started():
            return
        jax = module("jax")
        for platform in _platforms():
            jax.block_until_ready(jax.live_arrays(platform))

    def is_recorded(self) -> bool:
        """Return True if all its devices are CUDA GPUs and CPUs."""
        return all(device.kind in ("cpu", "cuda") for device in self.devices())

    def synchronize_cpu(self) -> None:
        """Wait for every array of the CPU that still exists."""
        if self.started() and "cpu" in _platforms():
            jax = module("jax")
            jax.block_until_ready(jax.live_arrays("cpu"))

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """Return the bytes of arrays and of their pool, if the client keeps statistics; a CPU's does not."""
        if not self.started():
            return no_allocator_readings(say("JAX has not used a device yet."))
        stats = _statistics().get(device.name, {})
        if "bytes_in_use" not in stats:
            return no_allocator_readings(_no_peak(device.name))
        return allocator_readings(
            say("{call} of {device}", call=_STATISTICS, device=device.name),
            stats["bytes_in_use"],
            stats.get("pool_bytes"),
            device=device.name,
        )

    def observe(self) -> JaxObservation:
        """Read the allocators' counters, and begin to count what is compiled on this thread.

        Programs are not observed (adr/0009).
        """
        with suppress(Exception):  # compilation is then not reported
            self._compiling.listen()
        return JaxObservation(self.started())

    def compiled(self) -> Compiled | None:
        """Return what JAX has traced, lowered and compiled since the first observation (`jax.monitoring`)."""
        return self._compiling.compiled()

    def release(self) -> None:
        """Stop counting what is compiled."""
        self._compiling.release()

    def placed_values(self, values: Mapping[str, object]) -> Sequence[PlacedValue]:
        """Return the arrays among the values, with their devices."""
        return placed(values, _names()) if self.started() else ()

    def misplaced_note(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Return a sentence about arrays committed by `jax.device_put`: JAX computes where they are."""
        found = (
            placed_values.misplaced_among(committed(values, _names()), device.name) if self.started() else []
        )
        if not found:
            return None
        name, native = found[0].name, native_device(device)
        remedy = f"{name} = jax.device_put({name}, jax.devices({native.platform!r})[{device.number}])"
        note = placed_values.misplaced_note_of(found, device.name)
        return say(
            "{told}: JAX computes where the data is. `{code}` moves {what}.",
            told=note,
            code=remedy,
            what=placed_values.pronoun(found),
        )


class JaxScope(Scope):
    """JAX's default device in one cell."""

    def __init__(self, device: Device, native: Any) -> None:
        self._config = module("jax").config
        self._native = native
        self._scope = module("jax").default_device(native)
        self._scope.__enter__()

    def holds(self) -> bool:
        """Return False inside a `jax.default_device(...)` of the user."""
        return bool(self._config.jax_default_device == self._native)

    def leave(self) -> Sentence | None:
        """Restore the default device found on entry; return a note if another one was left set."""
        left_open = not self.holds()
        self._scope.__exit__(None, None, None)
        if left_open:
            return say("This cell left a jax.default_device(...) open; it was closed when the cell ended.")
        return None


class JaxObservation(Observation):
    """The observation of JAX in one cell."""

    def __init__(self, started: bool) -> None:
        self._before = _statistics() if started else {}
        arrays = live_arrays(_platforms()) if started else []
        # Only their ids are kept, so that an array which the user deletes is freed.
        self._arrays = None if arrays is None else {id(array) for array in arrays}

    def finish(self) -> Observed:
        """Return the evidence from new arrays and allocations, and the peaks that this cell raised."""
        from jax._src import xla_bridge

        if not xla_bridge.backends_are_initialized():
            return Observed((), None, ())
        reasons = [NOT_REPORTED]
        readings = []
        allocations: dict[str, int] = {}
        for name, after in _statistics().items():
            before = self._before.get(name, {})
            times = after.get("num_allocs", 0) - before.get("num_allocs", 0)
            allocations[name] = times
            if "num_allocs" in after:
                reasons.append(say("Allocations on {device}: {times}.", device=name, times=times))
            readings.append(_peak(name, before, after))
        if not readings:
            readings = [no_peak_reading(_no_peak(say("the CPU")), _STATISTICS)]
        devices = [device for device, _ in _found()]
        new = self._new_arrays()
        if len(devices) > 1:
            used = [one for device in devices if (one := _evidence(device, allocations, new)) is not None]
            return Observed(tuple(used) or None, None if used else joined(*reasons), tuple(readings))
        if new or allocations.get(devices[0].name):
            return Observed((evidence.only_device(devices[0]),), None, tuple(readings))
        why = evidence.may_have_run(devices[0])
        return Observed(None, why, tuple(readings), only=devices[0].name)

    def _new_arrays(self) -> Counter[str]:
        """Return the number of this cell's remaining arrays by device; empty if there are too many."""
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
    """Return True if the plug-in for CUDA is installed, even if JAX does not list it.

    JAX 0.11.2 does not list a plug-in that finds no GPU.
    """
    found = find_spec("jax_plugins")
    folders = None if found is None else found.submodule_search_locations
    return any(one.name.startswith("xla_cuda") for one in iter_modules(folders or []))


def _clients() -> Mapping[str, Any]:
    from jax.extend import backend

    clients: Mapping[str, Any] = backend.backends()
    return clients


def _platforms() -> set[str]:
    return set(_clients())


def _names() -> dict[Any, str]:
    """Return our short name of each of JAX's device objects."""
    return {native: device.name for device, native in _found()}


def _found() -> tuple[tuple[Device, Any], ...]:
    """Return each device with JAX's own object, CPUs first. Starts JAX."""
    return tuple(sorted(_devices_of_clients(), key=lambda one: one[0].kind != "cpu"))


def _devices_of_clients() -> Iterator[tuple[Device, Any]]:
    numbers: Counter[str] = Counter()
    for name, client in _clients().items():
        kind = platforms.kind(name)
        short = {"cpu": "cpu", "tpu": "tpu"}.get(kind, "gpu")
        for native in client.local_devices():
            yield Device("jax", f"{short}:{numbers[short]}", kind, str(native)), native
            numbers[short] += 1


def native_device(device: Device) -> Any:
    """Return JAX's own object for a device, None if JAX has no such device."""
    return next((native for one, native in _found() if one.name == device.name), None)


def _evidence(device: Device, allocations: Mapping[str, int], new: Counter[str]) -> RanOn | None:
    if allocations.get(device.name):
        return evidence.allocator(device, allocations[device.name])
    return evidence.results(device, new[device.name]) if new[device.name] else None


def _statistics() -> dict[str, Mapping[str, int]]:
    """Return the statistics of each device's allocator; devices that keep none are left out."""
    return {
        device.name: stats
        for device, native in _found()
        if (stats := platforms.reported(native.memory_stats()))
    }


def _peak(name: str, before: Mapping[str, int], after: Mapping[str, int]) -> Reading:
    value, earlier = after.get("peak_bytes_in_use"), before.get("peak_bytes_in_use", 0)
    detail = say("{call} of {device}", call=_STATISTICS, device=name)
    if value is None:
        return no_peak_reading(_no_peak(name), detail, name)
    if value <= earlier:
        why = say(
            "This cell stayed below JAX's earlier peak on {device}, which JAX cannot reset.",
            device=name,
        )
        return no_peak_reading(why, detail, name)
    return peak_reading(value, detail, device=name)


def _no_peak(name: str) -> Sentence:
    return say("JAX keeps no allocator statistics for {device}.", device=name)


def hidden_by_configuration(
    requested: str | None, plugins: Collection[str], started: bool
) -> Sentence | None:
    """Return a sentence if `jax_platforms` (`requested`) excludes every GPU plug-in that JAX has, else None.

    `plugins` are the names of the platforms for which JAX has a client or a plug-in.
    """
    named = requested.split(",") if requested else []
    installed = platforms.gpus_among(plugins)
    if not started or not named or not installed or {"gpu", *installed} & set(named):
        return None
    if installed == ["cuda"] and hardware.nvidia("gpu:0").driver is None:
        return None
    return say(
        "JAX was told to use only {platforms} (JAX_PLATFORMS, or jax_platforms in "
        "jax.config) and cannot switch platforms once it has started: first remove that "
        "setting.",
        platforms=requested or "",
    )
