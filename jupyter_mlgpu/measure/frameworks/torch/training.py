"""Training and inference with PyTorch; each fast path is a named option.

The batch is drawn once and lies on the device. The loss stays there until it is read. Only the first steps
wait for the device.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.benchmarks import CaseRunner, Option, Set, Training
from jupyter_mlgpu.measure.frameworks.models import Encoder, Model
from jupyter_mlgpu.measure.frameworks.torch import compilers
from jupyter_mlgpu.measure.frameworks.torch.bert import bert, layers
from jupyter_mlgpu.measure.frameworks.torch.mobilenet import mobilenet
from jupyter_mlgpu.measure.frameworks.torch.resnet import PUBLISHED, resnet
from jupyter_mlgpu.record.errors import BenchError

OPTIONS: Mapping[str, Option] = {
    "tf32": Option("float32 products and convolutions on tensor cores, in the type tf32", device="cuda"),
    "bf16": Option("autocast: products and convolutions in bfloat16, weights and optimizer in float32"),
    "bf16_weights": Option("everything in bfloat16, weights and optimizer too"),
    "channels_last": Option("images and weights in memory with the colour last (NHWC)", model="image"),
    "flash": Option("scaled_dot_product_attention, one fused kernel, in place of three steps", model="text"),
    "fused": Option("the optimizer's step for all weights in a few kernels (fused=True)", training=True),
    "compile_layers": Option(
        "torch.compile of one layer for all layers alike, which takes a quarter of the time", model="text"
    ),
    "compile": Option("torch.compile: kernels made for this model", slow_to_start=True),
    "max_autotune": Option(
        "torch.compile that tries several kernels for each product", device="cuda", slow_to_start=True
    ),
    "reduce_overhead": Option(
        "torch.compile that replays forward and backward as CUDA graphs", device="cuda", slow_to_start=True
    ),
    "cuda_graphs": Option(
        "the whole step, optimizer included, recorded once and replayed as one CUDA graph", device="cuda"
    ),
}

#: Steps before a CUDA graph is captured: they compile, choose algorithms and create the optimizer's tensors.
BEFORE_RECORDING = 3

#: The mode of torch.compile by option. CUDA graphs of max-autotune are left to `cuda_graphs`.
_MODES = {
    "compile": "default",
    "reduce_overhead": "reduce-overhead",
    "max_autotune": "max-autotune-no-cudagraphs",
}


def build(model: Model, flash: bool = True) -> Any:
    """Return the module of a model, on PyTorch's default device."""
    shape = model.shape
    if isinstance(shape, Encoder):
        return bert(model.classes, shape, flash)
    if model.name == "resnet50":
        found = resnet(model.classes, shape.blocks or PUBLISHED, shape.shrink)
    else:
        found = mobilenet(model.classes, shape.blocks, shape.shrink)
    for module in found.modules():
        # The number of batches is only needed for a cumulative mean, which is not used; it costs a launch per
        # layer.
        if getattr(module, "num_batches_tracked", None) is not None:
            module.num_batches_tracked = None
    return found


def draw(model: Model, batch: int, device: str) -> tuple[Any, Any]:
    """Return a random batch on the device: images in float32 or tokens, and labels; as fast as a real one."""
    import torch

    shape = model.shape
    labels = torch.randint(0, model.classes, (batch,), device=device)
    if isinstance(shape, Encoder):
        return torch.randint(0, shape.vocabulary, (batch, shape.tokens), device=device), labels
    return torch.randn(batch, 3, shape.side, shape.side, device=device), labels


class TorchTraining:
    """A model in training or inference, which runs a number of steps at a time.

    Raises PyTorch's own errors, mostly out of memory. `TRAINING.why_not` says beforehand which options are
    not possible.
    """

    def __init__(
        self,
        model: Model,
        batch: int,
        options: Collection[str],
        device: str = "cpu",
        training: bool = True,
        rate: float | None = None,
    ) -> None:
        import torch

        self._torch, self._options = torch, frozenset(options)
        self._kind, self._mixed, self._text = (
            device.partition(":")[0],
            "bf16" in options,
            model.kind == "text",
        )
        self._replay: Callable[[], None] | None = None
        self.type_ran = "bfloat16" if self._options & {"bf16", "bf16_weights"} else "float32"
        self.note: str | None = None
        if self._kind == "cuda":
            self._benchmark = torch.backends.cudnn.benchmark
            torch.backends.cudnn.benchmark = True  # shapes are always the same
            self._precision = (torch.get_float32_matmul_precision(), True)  # True is PyTorch's default
            tf32 = "tf32" in self._options
            self._set_precision("high" if tf32 else "highest", tf32)
        with torch.device(device):
            self._model = build(model, "flash" in self._options)
            self._inputs, self._labels = draw(model, batch, device)
        self._model.train(training)
        self._prepare_types()
        if "compile_layers" in self._options:
            for layer in layers(self._model):
                layer.compile(dynamic=False)
        self._optimizer = self._make_optimizer(model, rate) if training else None
        self._forward = self._compiled(self._loss_of if training else self._logits_of)
        self._last: Any = None
        if "cuda_graphs" in self._options:
            self.record()

    @property
    def parameters(self) -> int:
        """The number of trained values."""
        return sum(one.numel() for one in self._model.parameters())

    def run(self, steps: int) -> None:
        """Run `steps` steps; on a GPU they may still be running when this returns."""
        step = self._replay or self._step
        for _ in range(steps):
            step()

    def wait(self) -> None:
        """Wait until all steps are done."""
        if self._kind == "cuda":
            self._torch.cuda.synchronize()
        elif self._kind == "mps":
            self._torch.mps.synchronize()

    def loss(self) -> float:
        """Return the loss of the last training step (of inference, the mean of all outputs); synchronizes."""
        return float(self._last.float().mean())

    def record(self) -> None:
        """Capture the whole step as one CUDA graph and replay it from now on; compiled code is used again."""
        torch = self._torch
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(BEFORE_RECORDING):
                self._step()
        torch.cuda.current_stream().wait_stream(side)
        if self._optimizer is not None:  # gradients are then created within the graph, in its own memory
            self._optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self._step()
        self._replay = graph.replay

    def close(self) -> None:
        """Free the memory on the device."""
        self.wait()
        self._replay = self._last = self._optimizer = None
        self._model = self._inputs = self._labels = None
        del self._forward
        if self._kind == "cuda":
            self._set_precision(*self._precision)
            self._torch.backends.cudnn.benchmark = self._benchmark
        if self._options & {"reduce_overhead", "compile_layers"}:
            # Otherwise graphs keep their memory, and the next case reports it as its own; and a layer that
            # was compiled for eight batches or modes is not compiled for a ninth. Everything else that this
            # process has compiled is compiled again at its next call.
            self._torch.compiler.reset()
        if self._kind == "cuda":
            self._torch.cuda.empty_cache()

    def _step(self) -> None:
        if "reduce_overhead" in self._options:
            self._torch.compiler.cudagraph_mark_step_begin()
        if self._optimizer is None:
            with self._torch.inference_mode():
                self._last = self._forward(self._inputs)
            return
        self._optimizer.zero_grad(set_to_none=True)
        loss = self._forward(self._inputs, self._labels)
        loss.backward()
        self._optimizer.step()
        self._last = loss.detach()

    def _logits_of(self, inputs: Any) -> Any:
        torch = self._torch
        # Each weight is used once per step, so caching its copy is useless, and a CUDA graph forbids it.
        with torch.autocast(self._kind, torch.bfloat16, enabled=self._mixed, cache_enabled=False):
            return self._model(inputs)

    def _loss_of(self, inputs: Any, labels: Any) -> Any:
        logits = self._logits_of(inputs)
        return self._torch.nn.functional.cross_entropy(logits.float(), labels)

    def _prepare_types(self) -> None:
        torch = self._torch
        if "bf16_weights" in self._options:
            self._model.to(torch.bfloat16)
            if not self._text:
                self._inputs = self._inputs.to(torch.bfloat16)
        if "channels_last" in self._options:
            self._model.to(memory_format=torch.channels_last)
            self._inputs = self._inputs.contiguous(memory_format=torch.channels_last)

    def _make_optimizer(self, model: Model, rate: float | None) -> Any:
        optim, parameters = self._torch.optim, self._model.parameters()
        fused = True if "fused" in self._options else None  # None: PyTorch's own choice, foreach on a GPU
        if model.optimizer == "sgd":
            return optim.SGD(parameters, lr=0.01 if rate is None else rate, momentum=0.9, fused=fused)
        # The number of the step must lie on the device; otherwise a CUDA graph would replay the first step
        # forever. The fused optimizer has it there anyway.
        capturable = self._kind == "cuda" and bool(self._options & {"fused", "cuda_graphs"})
        rate = 2e-5 if rate is None else rate
        return optim.Adam(parameters, lr=rate, fused=fused, capturable=capturable)

    def _compiled(self, function: Callable[..., Any]) -> Callable[..., Any]:
        for option, mode in _MODES.items():
            if option in self._options:
                found: Callable[..., Any] = self._torch.compile(function, mode=mode, dynamic=False)
                return found
        return function

    def _set_precision(self, products: str, convolutions: bool) -> None:
        """Set the precision of float32 products, and allow tf32 in convolutions or not."""
        with warnings.catch_warnings():  # newer versions warn of newer names, which older ones lack
            warnings.simplefilter("ignore")
            self._torch.set_float32_matmul_precision(products)
            self._torch.backends.cudnn.allow_tf32 = convolutions


def _sets(model: Model, kind: str) -> tuple[Set, ...]:
    layout = "channels_last" if model.kind == "image" else "flash"
    if kind != "cuda":
        return ((), (layout,), (layout, "fused"), (layout, "fused", "compile"))[: 4 if kind == "cpu" else 2]
    best = ("bf16", layout, "fused")
    layers_alike = ((*best, "compile_layers", "cuda_graphs"),) if model.kind == "text" else ()
    return (
        (),
        ("tf32",),
        ("bf16",),
        ("bf16", layout),
        best,
        (*best, "cuda_graphs"),
        (*best, "compile"),
        (*best, "reduce_overhead"),
        (*best, "max_autotune", "cuda_graphs"),
        *layers_alike,
        ("bf16_weights", layout, "fused", "compile", "cuda_graphs"),
        (*best, "compile", "cuda_graphs"),
    )


def _fastest(model: Model, kind: str) -> tuple[Set, ...]:
    if kind not in ("cpu", "cuda"):
        return (("channels_last",) if model.kind == "image" else ("flash",),)
    best: Set = ("channels_last" if model.kind == "image" else "flash", "fused")
    graphs: Set = ()
    if kind == "cuda":
        best, graphs = ("bf16", *best), ("cuda_graphs",)
    if model.kind == "text":
        return (*best, *graphs), (*best, "compile_layers", *graphs)
    # Each layer of a network of convolutions has other shapes; two cores compile it for minutes.
    return ((*best, *graphs), (*best, "compile", *graphs))[: 2 if kind == "cuda" else 1]


def _start(device: Device, model: Model, batch: int, options: Set, training: bool) -> CaseRunner:
    if why := compilers.why_not_compiling(options, device.kind):
        raise BenchError(why)
    return TorchTraining(model, batch, options, device.native_name, training)


TRAINING = Training("torch", OPTIONS, _sets, _fastest, _start)
