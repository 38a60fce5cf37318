"""Devices to compile for: the words of `device`, and the targets that it returns."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.graphs.mlcompute.engine import Executable
from jupyter_mlgpu.graphs.mlcompute.names import choose, insist
from jupyter_mlgpu.graphs.mlcompute.structure import Program
from jupyter_mlgpu.record.errors import DeviceError, MissingPackageError

ENGINES = ("tensorflow", "numpy", "apple")


@dataclass(frozen=True)
class Target:
    """A device of an engine, as `device` returns it.

    Attributes:
        asked: Apple's word, CPU, GPU, Any or ANE.
        engine: the library that computes.
        place: the device in the engine's words; "" leaves the choice to the engine.
        what: a description for people.
        asynchronous: true if an execution returns before the device has finished.
    """

    asked: str
    engine: str
    place: str
    what: str
    asynchronous: bool = False

    def compile(self, program: Program) -> Executable:
        """Return the program, ready to run on this device."""
        # Each engine is imported only when it is chosen, because TensorFlow takes seconds.
        if self.engine == "numpy":
            from jupyter_mlgpu.graphs.mlcompute.numpy_engine import NumpyExecutable

            return NumpyExecutable(program)
        if self.engine == "apple":
            from jupyter_mlgpu.graphs.mlcompute.apple import AppleExecutable, framework

            return AppleExecutable(program, self.place, framework())
        from jupyter_mlgpu.graphs.mlcompute.tensorflow_engine import TensorFlowExecutable

        return TensorFlowExecutable(program, self.place, self.asynchronous)

    def __str__(self) -> str:
        return f"{self.asked}: {self.what}"


def device(name: str = "any", engine: str = "tensorflow") -> Target:
    """Return a device to compile for.

    Names are `any` (the engine's choice), `cpu`, `gpu`, and `ane`, Apple's Neural Engine. Printed, it
    describes itself. Engines are `tensorflow`, `numpy` and, on a Mac, `apple`: ML Compute itself.

    Raises:
        GraphError: an unknown word.
        DeviceError: there is no such device here.
        MissingPackageError: the engine is not installed.
    """
    asked, chosen = choose("MLCDeviceType", name, "device"), choose(ENGINES, engine, "device")
    if chosen == "apple":
        from jupyter_mlgpu.graphs.mlcompute.apple import framework

        framework()
        return Target(asked, chosen, asked, "through Apple's ML Compute, which does not tell what it chose")
    reaches = 'only Apple\'s ML Compute, the engine "apple", reaches the Neural Engine; take device("any")'
    insist(asked != "ANE", f"There is no ANE for the engine {chosen}: {reaches}.", DeviceError)
    if chosen == "tensorflow":
        return _tensorflow(asked)
    hint = 'NumPy has no GPU, it computes on the CPU: take device("cpu", "numpy").'
    insist(asked != "GPU", hint, DeviceError)
    return Target(asked, chosen, "", "CPU, through NumPy")


def _tensorflow(asked: str) -> Target:
    try:
        import tensorflow as tf
    except ImportError as error:
        install = 'install jupyter_mlgpu[tensorflow], or take device("cpu", "numpy")'
        why = f"TensorFlow, which computes graphs here, cannot be imported ({error})"
        raise MissingPackageError(f"{why}: {install}.") from error
    gpus = tf.config.list_logical_devices("GPU") if asked != "CPU" else []
    none = f"There is no GPU here that TensorFlow {tf.__version__} can use; it finds CPU alone"
    insist(gpus or asked != "GPU", f'{none}, so take device("any") or device("cpu").', DeviceError)
    kind = "GPU" if gpus else "CPU"
    place = {"Any": "", "GPU": "/device:GPU:0", "CPU": "/device:CPU:0"}[asked]
    return Target(asked, "tensorflow", place, f"{kind}, through TensorFlow {tf.__version__}", bool(gpus))
