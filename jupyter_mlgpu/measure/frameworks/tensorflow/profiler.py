"""TensorFlow's profiler for one cell.

The session is TensorFlow's own, created as `tf.profiler.experimental.start` does, but not registered in that
module. A cell that starts its own (as the TensorBoard callback does) then gets it, instead of an
AlreadyExistsError because of us. TensorFlow writes its profile only to a file: each session has a new
temporary folder, which is removed with it. On Metal only the host is profiled: the binary of tensorflow-metal
1.2.0 exports no TF_InitProfiler (read).
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import numbers, version
from jupyter_mlgpu.measure.frameworks.tensorflow import profile_reader
from jupyter_mlgpu.measure.frameworks.tensorflow.context import eager_context
from jupyter_mlgpu.measure.frameworks.tensorflow.convolutions import Moves, in_graphs
from jupyter_mlgpu.measure.frameworks.tensorflow.names import kind_of
from jupyter_mlgpu.measure.frameworks.user_profiler import CellSession, ProfilerModuleProxy
from jupyter_mlgpu.measure.ops import xspace
from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.record.sentence import say

#: Level 2 of the host's tracer is the first with operations of graphs, level 3 the first with their input
#: shapes. Level 3 has half as many events more, including graphs' arguments and results, and takes twice the
#: time to stop (measured on 2.19.1). Python calls are not traced.
OPTIONS = {"host_tracer_level": 2, "python_tracer_level": 0, "device_tracer_level": 1}
WITH_SHAPES = OPTIONS | {"host_tracer_level": 3}

_RUNNING = Refused(
    say(
        "A TensorFlow profiler is already running (the TensorBoard callback or tf.profiler): "
        "ours was not started, so there are no times per operation."
    ),
    running=True,
)
_NO_FLOP = say(
    "TensorFlow's profiler reports input shapes of operations in graphs, but no FLOP: those "
    "of matrix products and convolutions are derived from the shapes, and others are not counted."
)
_ALL_EAGER = say(
    "No FLOP were counted, so the cell is compared with no roof: put its work into a `tf.function`. "
    "In Keras, `fit`, `predict_on_batch` and `train_on_batch` are such functions, a call of the model is not."
)
# 2.20.0 answers each option with "host_tracer_level expects an i value", 2.21.0 ignores it: level 2 stays.
_NO_SHAPES = say(
    "From TensorFlow 2.20 on, its profiler cannot be asked for input shapes, so FLOP are not known; "
    "with 2.19 they are."
)
_METAL = say(
    "TensorFlow's profiler does not see a Mac's GPU, because tensorflow-metal does not "
    "support profiling: the operations below are from the host only and have no shares of "
    "the total. Metal System Trace in Xcode's Instruments shows those on the GPU."
)


class TensorFlowProfiler(Profiler):
    """TensorFlow's profiler, before it starts."""

    framework = "tensorflow"

    def start(self, shapes: bool = False) -> Session | Refused:
        from tensorflow.python.framework.errors_impl import AlreadyExistsError
        from tensorflow.python.profiler import profiler_v2

        if profiler_v2._profiler is not None:
            return _RUNNING
        try:
            folder = Path(tempfile.mkdtemp(prefix="jupyter_mlgpu-"))
        except OSError as error:
            return Refused(
                say(
                    "TensorFlow's profiler needs a temporary folder, but none can be created ({error}).",
                    error=error,
                )
            )
        try:
            native = profiler_v2._pywrap_profiler.ProfilerSession()
            native.start(str(folder), WITH_SHAPES if shapes else OPTIONS)
        except AlreadyExistsError:  # started from outside, by a profiler server
            shutil.rmtree(folder, ignore_errors=True)
            return _RUNNING
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return TensorFlowSession(native, folder, profiler_v2, shapes)


class TensorFlowSession(CellSession):
    """TensorFlow's profiler while it is on; its folder is removed with it."""

    def __init__(self, native: Any, folder: Path, module: Any, shapes: bool = False) -> None:
        super().__init__(module, (_NO_FLOP if has_shapes() else _NO_SHAPES,) if shapes else ())
        self._shapes = shapes
        self._native = native
        self._folder = folder
        self._replaced.replace(
            "_pywrap_profiler", ProfilerModuleProxy(module._pywrap_profiler, self._stop_for_user)
        )

    def stop(self) -> Profile:
        """Turn the profiler off and return its profile; raises OSError if it cannot be written."""
        try:
            return super().stop()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def abandon(self) -> None:
        """Turn the profiler off and remove its folder."""
        super().abandon()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _turn_off(self) -> None:
        native, self._native = self._native, None
        native.export_to_tb()

    def _read(self) -> Profile:
        from tensorflow.tsl.profiler.protobuf import xplane_pb2

        files = sorted(self._folder.glob("plugins/profile/*/*.xplane.pb"))
        if not files:
            raise OSError(say("TensorFlow wrote no profile"))
        data, left_out = xspace.cut(files[0].read_bytes())
        has_metal = kind_of("GPU") == "metal"
        events = profile_reader.read(
            xplane_pb2.XSpace.FromString(data),
            tf32=_in_tf32(),
            graphs=_convolutions() if self._shapes else None,
        )
        problems = [_METAL] if has_metal else []
        if self._shapes and has_shapes() and all(one.flops is None for one in events.events):
            problems.append(_ALL_EAGER)
        return self._profile(
            "tensorflow", events, *problems, left_out=left_out, xspace=data, devices_unseen=has_metal
        )


def has_shapes() -> bool:
    """Return True if the level of the host's tracer can be set, as input shapes need."""
    return numbers(version("tensorflow") or "") < (2, 20)


def _convolutions() -> dict[str, Moves | None]:
    """Return the convolutions of the graphs that TensorFlow keeps (private; verified on 2.19.1), or none."""
    with suppress(Exception):
        return in_graphs(eager_context())
    return {}


def _in_tf32() -> bool:
    """Return True if TensorFlow computes products of float32 in tf32 on a GPU that supports it."""
    from tensorflow.python.framework import config

    return bool(config.tensor_float_32_execution_enabled())
