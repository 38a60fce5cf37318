"""TensorFlow on CPU, CUDA and the Metal plug-in.

Run on Linux CPUs, and on an emulated Metal device (tests/metal_emulator). Not yet run on CUDA: there,
device kinds follow from how the wheel was built (`tf.test.is_built_with_cuda`, `is_built_with_rocm`). A
plug-in's device is known by its platform's name.

The device of a cell is set on TensorFlow's thread-local state rather than with `tf.device`: entering
`tf.device` initialises the context, after which a user could no longer configure devices, and leaving
it raises where the user's own code left another one open.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib import metadata
from typing import Any

from jupyter_mlgpu.measure.frameworks import hardware, misplaced_values
from jupyter_mlgpu.measure.frameworks.allocator import unknown
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
from jupyter_mlgpu.measure.frameworks.tensorflow.graphs import GraphCollection
from jupyter_mlgpu.measure.frameworks.tensorflow.memory import in_use, no_statistics, peak, peaks_of
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of
from jupyter_mlgpu.measure.frameworks.tensorflow.placement import Mark, PlacementWatch, unwatched
from jupyter_mlgpu.measure.frameworks.tensorflow.unseen import Unseen
from jupyter_mlgpu.measure.frameworks.tensorflow.weights import variables
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say


class TensorFlowBackend(Backend):
    """TensorFlow's devices, as the kit asks of them."""

    name = FRAMEWORK.name

    def __init__(self) -> None:
        self._graphs = GraphCollection()
        self._calls = GraphCalls(self._graphs)
        self._unseen = Unseen()
        self._here = threading.local()
        self._peaks: dict[str, Peaks] = {}
        self._fixed: tuple[object, tuple[Device, ...]] = (None, ())

    def versions(self) -> Mapping[str, str]:
        """TensorFlow's version, and Keras's and tensorflow-metal's where they are installed."""
        found = {"tensorflow": str(module("tensorflow").__version__)}
        keras = getattr(module("keras"), "__version__", None)
        if keras is not None:
            found["keras"] = str(keras)
        if sys.platform == "darwin":
            with suppress(metadata.PackageNotFoundError):
                found["tensorflow-metal"] = metadata.version("tensorflow-metal")
        return found

    def started(self) -> bool:
        """Whether TensorFlow's context exists."""
        return _initialised()

    def devices(self) -> tuple[Device, ...]:
        """Logical devices; before the context exists, those it will have as configured so far."""
        context = _context()._context_handle
        if context is None:
            return self._devices()
        # They no longer change then, and are asked for several times around each cell.
        if self._fixed[0] is not context:
            self._fixed = (context, self._devices())
        return self._fixed[1]

    def _devices(self) -> tuple[Device, ...]:
        return tuple(
            Device(self.name, f"{kind.lower()}:{number}", kind_of(kind), f"/device:{kind}:{number}")
            for kind in ("CPU", "GPU")
            for number in range(self._count(kind))
        )

    def details(self, device: Device) -> Details:
        """From the machine and the driver: asking TensorFlow may start it."""
        return hardware.nvidia(device.name) if device.kind == "cuda" else hardware.cpu()

    def why_no_gpu(self) -> Sentence:
        """Whether the build or the machine is what lacks."""
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
        """Hidden by tf.config, or by the variable of CUDA."""
        tf = module("tensorflow")
        told = hidden_by_configuration(tf.config, _initialised())
        return told or (hardware.hidden_by_cuda(FRAMEWORK.title) if tf.test.is_built_with_cuda() else None)

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Operations are watched everywhere; of CPUs the allocator tells too little, of Metal nothing."""
        told = device.kind not in ("cpu", "metal")
        why_not = {} if told else {"allocator_peak": no_statistics(device.name)}
        return FRAMEWORK.capabilities(device.kind, why_not)

    def enter(self, device: Device) -> TensorFlowScope:
        """Place the operations that this thread runs on `device`, as `with tf.device(...)` would."""
        return TensorFlowScope(device)

    def synchronize(self) -> None:
        """Wait for the devices; does nothing before the context exists, since nothing can be under way.

        A CPU has finished when TensorFlow's queues are empty; TensorFlow's barrier runs an operation on
        every device, and is left to machines that have more. It is empty for plug-in devices, so on Metal
        a tiny result is fetched: a device runs what it is given in order.
        """
        if not _initialised():
            return
        if all(device.kind == "cpu" for device in self.devices()):
            _context().sync_executors()
            return
        tf = module("tensorflow")
        with unwatched():
            tf.test.experimental.sync_devices()
            for device in tf.config.list_logical_devices("GPU") if kind_of("GPU") == "metal" else ():
                with tf.device(device.name):
                    tf.ones(()).numpy()

    def is_recorded(self) -> bool:
        """Return whether it has only the CPU: its GPUs were not seen going on without being waited for."""
        return not _initialised() or all(device.kind == "cpu" for device in self.devices())

    def synchronize_cpu(self) -> None:
        """Wait until TensorFlow's queues are empty."""
        if _initialised():
            _context().sync_executors()

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What tensors hold; TensorFlow does not tell what it has reserved."""
        if not _initialised():
            return unknown(say("TensorFlow has not used a device yet."))
        return in_use(device.name)

    def observe(self) -> TensorFlowObservation:
        """Watch placement, and start the allocators' peaks afresh."""
        if not hasattr(self._here, "watch"):
            self._here.watch = PlacementWatch(self._graphs, self._calls, self._unseen)
        return TensorFlowObservation(self._here.watch, self._follow() if _initialised() else {})

    def compiled(self) -> Compiled | None:
        """The tracing of `tf.function` (TensorFlow's own counter; private, seen with 2.19); XLA's first runs.

        How graphs are optimised, and compiled by XLA, it does not tell, nor how many it has traced.
        """
        tracing = module("tensorflow.python.eager.polymorphic_function.tracing_compilation")
        counter = getattr(tracing, "_graph_building_time_counter", None)
        return (
            None
            if counter is None
            else Compiled(counter.get_cell().value() / 1e6, None, self._graphs.first_runs)
        )

    def calls_back(self) -> bool:
        """Whether functions of Python stand in its graphs (`tf.py_function`; private, seen with 2.19)."""
        script_ops = module("tensorflow.python.ops.script_ops")
        return bool(script_ops is not None and script_ops._py_funcs.size())

    def release(self) -> None:
        """Learn no more from graphs that are called between cells."""
        self._calls.release()

    def stays(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Variables stay where they were made; graphs copy them at each call, which is told apart."""
        found = misplaced_values.elsewhere(variables(values), device.name) if _initialised() else []
        if not found:
            return None
        told, again = (
            misplaced_values.misplaced_values_note(found, device.name),
            say("`%mlc_device {device}`", device=device.name),
        )
        return say(
            "{told}. To move {what}, create `{name}` again after {command}.",
            told=told,
            name=found[0].name,
            command=again,
            what=misplaced_values.it(found),
        )

    def _follow(self) -> dict[str, Peaks]:
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

        self._context = _context()
        self._before = (self._context.device_name, self._context.device_spec)
        # Once initialised, TensorFlow says under which job its devices run (a cluster names its own).
        base = self._context.devices()[0] if _initialised() else "/job:localhost/replica:0/task:0"
        kind = device.name.partition(":")[0].upper()
        self._spec = DeviceSpecV2.from_string(base).replace(device_type=kind, device_index=device.number)
        self._context._set_device(self._spec.to_string(), self._spec)

    def holds(self) -> bool:
        """False inside a tf.device(...) of the user's own."""
        return self._context.device_spec is self._spec

    def leave(self) -> Sentence | None:
        """Put back the device found on entry; says so where the user's code left another one set."""
        left_open = not self.holds()
        self._context._set_device(*self._before)
        return (
            say("This cell left a tf.device(...) open; it was closed when the cell ended.")
            if left_open
            else None
        )


class TensorFlowObservation(Observation):
    """TensorFlow's part in one cell."""

    def __init__(self, watch: PlacementWatch, peaks: Mapping[str, Peaks]) -> None:
        self._watch = watch
        self._mark: Mark = watch.start()
        self._marks = {name: (one, one.start()) for name, one in peaks.items()}

    def finish(self) -> Observed:
        """Placement since the start, and the allocator's peak of every device that was used."""
        seen = self._watch.finish(self._mark)
        peaks = {name: one.finish(mark) for name, (one, mark) in self._marks.items()}
        if not _initialised():
            return Observed((), None, ())
        readings = tuple(peak(one.device, peaks.get(one.device)) for one in seen.ran_on or ())
        return Observed(seen.ran_on, seen.why, readings, seen.notes)


def _context() -> Any:
    from tensorflow.python.eager import context

    return context.context()


def _initialised() -> bool:
    return _context()._context_handle is not None


def hidden_by_configuration(config: Any, started: bool) -> Sentence | None:
    """A sentence where `tf.config` (`config`) was told to leave out every GPU, and it is too late."""
    # Before the start it can still be told otherwise; afterwards it says "Visible devices cannot be
    # modified after being initialized".
    if not started or config.get_visible_devices("GPU") or not config.list_physical_devices("GPU"):
        return None
    return say(
        "TensorFlow was told to hide its GPU (tf.config.set_visible_devices) and cannot make "
        "it visible again once it has started: first remove that line."
    )
