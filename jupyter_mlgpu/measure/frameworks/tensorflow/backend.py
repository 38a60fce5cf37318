"""TensorFlow on CPU, CUDA and the Metal plug-in.

It was run on Linux CPUs and on an emulated Metal device (tests/metal_emulator), and not yet on CUDA. Device
kinds there follow from how the wheel was built (`tf.test.is_built_with_cuda`, `is_built_with_rocm`). A
plug-in's device is recognised by its platform's name.

The device of a cell is set in TensorFlow's thread-local state rather than with `tf.device`. Entering
`tf.device` initialises the context, after which a user could no longer configure devices. Leaving it raises
an error if the user's own code left another one open.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

from jupyter_mlgpu.measure.frameworks import hardware, placed_values
from jupyter_mlgpu.measure.frameworks.allocator import no_allocator_readings
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
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.tensorflow import FRAMEWORK
from jupyter_mlgpu.measure.frameworks.tensorflow.calls import GraphCalls
from jupyter_mlgpu.measure.frameworks.tensorflow.context import eager_context
from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import GraphCollection
from jupyter_mlgpu.measure.frameworks.tensorflow.memory import in_use, no_statistics, peak, peaks_of
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of
from jupyter_mlgpu.measure.frameworks.tensorflow.placement import Mark, PlacementCounter, without_callbacks
from jupyter_mlgpu.measure.frameworks.tensorflow.unobserved_work import UnobservedWork
from jupyter_mlgpu.measure.frameworks.tensorflow.weights import variables
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say


class TensorFlowBackend(Backend):
    """TensorFlow's devices."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._graphs = GraphCollection()
        self._calls = GraphCalls(self._graphs)
        self._unobserved = UnobservedWork()
        self._here = threading.local()
        self._peaks: dict[str, Peaks] = {}
        self._cached: tuple[object, tuple[Device, ...]] = (None, ())

    def versions(self) -> Mapping[str, str]:
        """Return the versions of TensorFlow, and of Keras and tensorflow-metal if they are installed."""
        found = {"tensorflow": str(module("tensorflow").__version__)}
        keras = getattr(module("keras"), "__version__", None)
        if keras is not None:
            found["keras"] = str(keras)
        if sys.platform == "darwin":
            with suppress(metadata.PackageNotFoundError):
                found["tensorflow-metal"] = metadata.version("tensorflow-metal")
        return found

    def started(self) -> bool:
        """Return True if TensorFlow's context exists."""
        return _initialised()

    def devices(self) -> tuple[Device, ...]:
        """Return the logical devices; before the context exists, those of the current configuration."""
        context = eager_context()._context_handle
        if context is None:
            return self._devices()
        # They no longer change then, and are read several times around each cell.
        if self._cached[0] is not context:
            self._cached = (context, self._devices())
        return self._cached[1]

    def _devices(self) -> tuple[Device, ...]:
        return tuple(
            Device(self.name, f"{kind.lower()}:{number}", kind_of(kind), f"/device:{kind}:{number}")
            for kind in ("CPU", "GPU")
            for number in range(self._count(kind))
        )

    def details(self, device: Device) -> Details:
        """Return details from the machine and the driver: asking TensorFlow may start it."""
        return hardware.nvidia(device.name) if device.kind == "cuda" else hardware.cpu()

    def why_no_gpu(self) -> Sentence:
        """Return a sentence that says if the build or the machine lacks a GPU."""
        tf = module("tensorflow")
        if sys.platform == "darwin":
            return say(
                "TensorFlow {version} needs tensorflow-metal to use a Mac's GPU.", version=tf.__version__
            )
        if tf.test.is_built_with_gpu_support():
            return say(
                "TensorFlow {version} supports GPUs but finds no GPU it can use here.",
                version=tf.__version__,
            )
        return say("TensorFlow {version} is a CPU-only build.", version=tf.__version__)

    def needs_restart(self) -> Sentence | None:
        """Return a sentence if tf.config or CUDA_VISIBLE_DEVICES hide the GPU."""
        tf = module("tensorflow")
        hidden = hidden_by_configuration(tf.config, _initialised())
        return hidden or (hardware.hidden_by_cuda(FRAMEWORK.title) if tf.test.is_built_with_cuda() else None)

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Return the capabilities: only the allocator's peak is missing, on CPUs and Metal."""
        has_statistics = device.kind not in ("cpu", "metal")
        why_not = {} if has_statistics else {"allocator_peak": no_statistics(device.name)}
        return FRAMEWORK.capabilities(device.kind, why_not)

    def enter(self, device: Device) -> TensorFlowScope:
        """Place this thread's operations on `device`, as `with tf.device(...)` would."""
        return TensorFlowScope(device)

    def synchronize(self) -> None:
        """Wait for the devices. Before the context exists nothing can be running, and this does nothing.

        A CPU has finished when TensorFlow's queues are empty. TensorFlow's barrier runs an operation on every
        device, so it is used only on machines with more devices. It does nothing for plug-in devices, so on
        Metal a tiny result is fetched: a device runs its work in order.
        """
        if not _initialised():
            return
        if all(device.kind == "cpu" for device in self.devices()):
            eager_context().sync_executors()
            return
        tf = module("tensorflow")
        with without_callbacks():
            tf.test.experimental.sync_devices()
            for device in tf.config.list_logical_devices("GPU") if kind_of("GPU") == "metal" else ():
                with tf.device(device.name):
                    tf.ones(()).numpy()

    def is_recorded(self) -> bool:
        """Return True if it has only the CPU: its GPUs have not been seen working asynchronously."""
        return not _initialised() or all(device.kind == "cpu" for device in self.devices())

    def synchronize_cpu(self) -> None:
        """Wait until TensorFlow's queues are empty."""
        if _initialised():
            eager_context().sync_executors()

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """Return the bytes in use by tensors; TensorFlow does not report what it has reserved."""
        if not _initialised():
            return no_allocator_readings(say("TensorFlow has not used a device yet."))
        return in_use(device.name)

    def observe(self) -> TensorFlowObservation:
        """Begin to observe placement, and reset the allocators' peaks."""
        if not hasattr(self._here, "placement"):
            self._here.placement = PlacementCounter(self._graphs, self._calls, self._unobserved)
        return TensorFlowObservation(self._here.placement, self._counters() if _initialised() else {})

    def compiled(self) -> Compiled | None:
        """Return the seconds of tracing `tf.function`, and of first runs of graphs that XLA compiles.

        Tracing has a counter of TensorFlow's own (private; verified on 2.19). TensorFlow reports neither the
        time to optimise graphs or to compile them with XLA, nor the number of traced functions.
        """
        tracing = module("tensorflow.python.eager.polymorphic_function.tracing_compilation")
        counter = getattr(tracing, "_graph_building_time_counter", None)
        return (
            None
            if counter is None
            else Compiled(counter.get_cell().value() / 1e6, None, self._graphs.first_runs)
        )

    def calls_back(self) -> bool:
        """Return True if its graphs call Python functions (`tf.py_function`; private, verified on 2.19)."""
        script_ops = module("tensorflow.python.ops.script_ops")
        return bool(script_ops is not None and script_ops._py_funcs.size())

    def release(self) -> None:
        """Stop learning from graphs that are called between cells."""
        self._calls.release()

    def misplaced_note(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Return a sentence about variables: they stay where they were created, and graphs copy them."""
        found = placed_values.misplaced_among(variables(values), device.name) if _initialised() else []
        if not found:
            return None
        command = say("`%mlc_device {device}`", device=device.name)
        return say(
            "{told}. To move {what}, create `{name}` again after {command}.",
            told=placed_values.misplaced_note_of(found, device.name),
            name=found[0].name,
            command=command,
            what=placed_values.pronoun(found),
        )

    def _counters(self) -> dict[str, Peaks]:
        for name in {device.name for device in self.devices()} - self._peaks.keys():
            counter = peaks_of(name)
            if counter is not None:
                self._peaks[name] = counter
        return self._peaks

    def _count(self, kind: str) -> int:
        config = module("tensorflow").config
        if _initialised():
            return len(config.list_logical_devices(kind))
        count = 0
        for physical in config.get_visible_devices(kind):
            count += len(config.get_logical_device_configuration(physical) or [None])
        return count


class TensorFlowScope(Scope):
    """TensorFlow's default device in one cell."""

    def __init__(self, device: Device) -> None:
        from tensorflow.python.framework.device_spec import DeviceSpecV2

        self._context = eager_context()
        self._before = (self._context.device_name, self._context.device_spec)
        # Once initialised, TensorFlow has a job for its devices (in a cluster, the user's job).
        base = self._context.devices()[0] if _initialised() else "/job:localhost/replica:0/task:0"
        kind = device.name.partition(":")[0].upper()
        self._spec = DeviceSpecV2.from_string(base).replace(device_type=kind, device_index=device.number)
        self._context._set_device(self._spec.to_string(), self._spec)

    def holds(self) -> bool:
        """Return False inside a `tf.device(...)` of the user."""
        return self._context.device_spec is self._spec

    def leave(self) -> Sentence | None:
        """Restore the device found on entry; return a note if the user's code left another one set."""
        left_open = not self.holds()
        self._context._set_device(*self._before)
        return (
            say("This cell left a tf.device(...) open; it was closed when the cell ended.")
            if left_open
            else None
        )


class TensorFlowObservation(Observation):
    """The observation of TensorFlow in one cell."""

    def __init__(self, placement: PlacementCounter, peaks: Mapping[str, Peaks]) -> None:
        self._placement = placement
        self._mark: Mark = placement.start()
        self._marks = {name: (one, one.start()) for name, one in peaks.items()}

    def finish(self) -> Observed:
        """Return the placement since the start, and the allocator's peak of every device that was used."""
        placement = self._placement.finish(self._mark)
        peaks = {name: one.finish(mark) for name, (one, mark) in self._marks.items()}
        if not _initialised():
            return Observed((), None, ())
        readings = tuple(peak(one.device, peaks.get(one.device)) for one in placement.ran_on or ())
        return Observed(placement.ran_on, placement.why, readings, placement.notes)


def _initialised() -> bool:
    return eager_context()._context_handle is not None


def hidden_by_configuration(config: Any, started: bool) -> Sentence | None:
    """Return a sentence if `tf.config` (`config`) hides every GPU and TensorFlow has started, else None."""
    # Before the start it can still be changed; afterwards TensorFlow says "Visible devices cannot be
    # modified after being initialized".
    if not started or config.get_visible_devices("GPU") or not config.list_physical_devices("GPU"):
        return None
    return say(
        "TensorFlow was told to hide its GPU (tf.config.set_visible_devices) and cannot make "
        "it visible again once it has started: first remove that line."
    )
