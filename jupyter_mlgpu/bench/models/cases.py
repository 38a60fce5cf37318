"""The four models as cases of the benchmark: training and inference, with each set of options of a ladder.

The options are tried with the published batch; the other batches run with the last set alone, the best one.
A quick benchmark has the best set that does not compile for a minute first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from typing import Any

from jupyter_mlgpu.backends.base import Device
from jupyter_mlgpu.backends.modules import installed
from jupyter_mlgpu.bench.case import Asked, Case, Needs, Runner, Work
from jupyter_mlgpu.bench.models import compilers
from jupyter_mlgpu.bench.models.ladders import ladder, quick
from jupyter_mlgpu.bench.models.options import why_not
from jupyter_mlgpu.bench.models.sizes import MODELS, Encoder, Model
from jupyter_mlgpu.errors import BenchError

#: Batches of the published measurements, with which the options are compared.
PUBLISHED = {"resnet50": 128, "mobilenetv2": 128, "distilbert": 64, "bert-large": 16}

#: Without a GPU a step of the published batch takes half a minute; this is the batch there.
_ON_CPU = {"resnet50": 8, "mobilenetv2": 16, "distilbert": 4}

#: Beside the model a framework takes memory for its libraries and what they work in.
_WORKSPACE = 1 << 30

_FORMULA = (
    "of matrix products and convolutions alone, a multiplication and an addition being two; a training step "
    "counts three times its forward pass"
)
_TYPES = {"bf16": "bfloat16", "bf16_weights": "bfloat16", "fp16": "float16", "tf32": "tf32"}


def cases(asked: Asked, *, name: str) -> Iterator[Case]:
    """The cases of a model, by its name in `MODELS`: training first, with `quick` the best set alone."""
    model, kind = MODELS[name], asked.device.kind
    # Where a model is left out for want of a GPU, its one case says so when it starts.
    first = _ON_CPU.get(name, 1) if kind == "cpu" else PUBLISHED[name]
    batches = () if kind == "cpu" else tuple(one for one in model.batches if one != first)
    for training in (True, False):
        sets = ladder(asked.framework, model, kind, training)
        for options in quick(sets) if asked.quick else sets:
            yield _case(asked, model, first, options, training)
        if not asked.quick:
            for batch in batches:
                yield _case(asked, model, batch, sets[-1], training)


resnet50 = partial(cases, name="resnet50")
mobilenetv2 = partial(cases, name="mobilenetv2")
distilbert = partial(cases, name="distilbert")
bert_large = partial(cases, name="bert-large")


def _case(asked: Asked, model: Model, batch: int, options: tuple[str, ...], training: bool) -> Case:
    type_ = next((_TYPES[one] for one in options if one in _TYPES), "float32")
    bytes_each = 2 if type_ in ("bfloat16", "float16") else 4
    need = model.training_bytes(batch, bytes_each) if training else model.inference_bytes(batch, bytes_each)
    passes = 3 if training else 1
    return Case(
        model.name,
        asked.framework,
        {"batch": batch, "mode": "train" if training else "infer"},
        Work(batch, f"{model.item}s", float(passes * batch * model.forward_flops()), formula=_FORMULA),
        Needs(need + _WORKSPACE),
        partial(
            start, model=model, framework=asked.framework, batch=batch, options=options, training=training
        ),
        type_asked=type_,
        peak_type=type_,
        options=options,
        chart="batch",
    )


def start(
    device: Device, *, model: Model, framework: str, batch: int, options: tuple[str, ...], training: bool
) -> Runner:
    """A model ready to train or infer on a device; raises BenchError with the reason where it cannot."""
    why = why_not(framework, model, options, device.kind, training)
    if why is None and framework == "torch":
        why = compilers.why_none(options, device.kind)
    if why is None and device.kind == "cpu" and model.name not in _ON_CPU and _published(model):
        why = f"{model.title} is left out without a GPU: a single step takes tens of seconds and several GB."
    if why is not None:
        raise BenchError(why)
    made: Any = {"torch": _torch, "jax": _jax, "tensorflow": _tensorflow, "mlx": _mlx}[framework]
    runner: Runner = made(device, model, batch, options, training)
    return runner


def _published(model: Model) -> bool:
    return model == MODELS[model.name]


def _torch(device: Device, *given: Any) -> Any:
    from jupyter_mlgpu.bench.models.torch_training import TorchTraining

    model, batch, options, training = given
    return TorchTraining(model, batch, options, device.native_name, training)


def _jax(device: Device, *given: Any) -> Any:
    import jax

    _keras("jax")
    from jupyter_mlgpu.bench.models.jax_training import JaxTraining

    model, batch, options, training = given
    kind, _, number = device.name.partition(":")
    native = jax.local_devices(backend="cpu" if kind == "cpu" else jax.default_backend())[int(number)]
    return JaxTraining(model, batch, options, native, training)


def _tensorflow(device: Device, *given: Any) -> Any:
    _keras("tensorflow")
    from jupyter_mlgpu.bench.models.tensorflow_training import TensorFlowTraining

    model, batch, options, training = given
    return TensorFlowTraining(model, batch, options, device.native_name, training)


def _mlx(device: Device, *given: Any) -> Any:
    import mlx.core as mx

    from jupyter_mlgpu.bench.models.mlx_training import NO_IMAGES, MlxTraining

    model, batch, options, training = given
    if not isinstance(model.shape, Encoder):
        raise BenchError(f"{model.title} is {NO_IMAGES}.")
    kind, _, number = device.name.partition(":")
    native = mx.Device(mx.cpu if kind == "cpu" else mx.gpu, int(number))
    return MlxTraining(model, batch, options, native, training)


def _keras(wanted: str) -> None:
    """Start Keras on a framework, if it has not started yet; raises BenchError where it runs on another."""
    if not installed("keras"):
        raise BenchError(
            "Keras is not installed here, and this case needs it: `pip install keras` installs it."
        )
    if "keras" not in sys.modules:
        os.environ.setdefault("KERAS_BACKEND", wanted)
    from jupyter_mlgpu.bench.models.jax_training import wrong_backend

    if why := wrong_backend(wanted):
        raise BenchError(why)
