"""The four models as benchmark cases: training and inference, with increasing sets of options.

The options are tried with the published batch; the other batches run only with the last, best set. A quick
benchmark has the sets of which one is the fastest, depending on the machine; which one, its figures show.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from jupyter_mlgpu.experiment.bench import families
from jupyter_mlgpu.experiment.bench.case import Case, CaseRequest, Needs, Work
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner, Set
from jupyter_mlgpu.measure.frameworks.models import MODELS, Model
from jupyter_mlgpu.record.errors import BenchError
from jupyter_mlgpu.record.sentence import say

#: The batches of the published measurements, with which the options are compared.
PUBLISHED = {"resnet50": 128, "mobilenetv2": 128, "distilbert": 64, "bert-large": 16}

#: The batches without a GPU, where a step of the published batch takes half a minute.
_ON_CPU = {"resnet50": 8, "mobilenetv2": 16, "distilbert": 4}

#: Memory that a framework takes for its libraries and workspaces, in addition to the model.
_WORKSPACE = 1 << 30

_FORMULA = (
    "of matrix products and convolutions alone, a multiplication and an addition being two; a training step "
    "counts three times its forward pass"
)
_TYPES = {"bf16": "bfloat16", "bf16_weights": "bfloat16", "fp16": "float16", "tf32": "tf32"}


def cases(asked: CaseRequest, *, name: str) -> Iterator[Case]:
    """Yield the cases of a model, by its name in `MODELS`: training first, then inference.

    Before them come the matrix products with which they are compared. In a quick benchmark the cases that
    start slowly are last.
    """
    found = list(_of_model(asked, name))
    for type_ in dict.fromkeys(one.type_asked for one in found):
        yield families.largest_product(asked, type_)
    yield from sorted(found, key=lambda one: one.slow_to_start) if asked.quick else found


def _of_model(asked: CaseRequest, name: str) -> Iterator[Case]:
    model, kind = MODELS[name], asked.device.kind
    # A model that is left out without a GPU has one case, which says so when it starts.
    first = _ON_CPU.get(name, 1) if kind == "cpu" else PUBLISHED[name]
    batches = () if kind == "cpu" else tuple(one for one in model.batches if one != first)
    if asked.quick:
        yield from _quick(asked, model, first, batches)
        return
    for training in (True, False):
        sets = registry.training(asked.framework).ladder(model, kind, training)
        for options in sets:
            yield _case(asked, model, first, options, training)
        for batch in batches:
            yield _case(asked, model, batch, sets[-1], training)


def _quick(asked: CaseRequest, model: Model, first: int, batches: tuple[int, ...]) -> Iterator[Case]:
    for training in (True, False):
        sets = registry.training(asked.framework).candidates(model, asked.device.kind, training)
        # With the published batches of text, a large GPU mostly reads and writes weights. The large batch is
        # first: on an H200 the time with JAX is enough for one case, and XLA compiles it in half the time.
        if training and model.kind == "text" and asked.device.kind == "cuda":
            yield _case(asked, model, batches[-1], sets[-1], training)
        for options in sets:
            yield _case(asked, model, first, options, training)


resnet50 = partial(cases, name="resnet50")
mobilenetv2 = partial(cases, name="mobilenetv2")
distilbert = partial(cases, name="distilbert")
bert_large = partial(cases, name="bert-large")


def _case(asked: CaseRequest, model: Model, batch: int, options: Set, training: bool) -> Case:
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
        slow_to_start=registry.training(asked.framework).slow_to_start(options),
        profiled=training and asked.device.kind != "cpu",
    )


def start(
    device: Device, *, model: Model, framework: str, batch: int, options: tuple[str, ...], training: bool
) -> CaseRunner:
    """Return a model ready to train or infer on a device. Raises BenchError if it cannot run."""
    how = registry.training(framework)
    why = how.why_not(model, options, device.kind, training)
    if why is None and device.kind == "cpu" and model.name not in _ON_CPU and model == MODELS[model.name]:
        why = say(
            "{model} is left out without a GPU: a single step takes tens of seconds and several GB.",
            model=model.title,
        )
    if why is not None:
        raise BenchError(why)
    return how.start(device, model, batch, options, training)
