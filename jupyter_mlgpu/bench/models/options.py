"""The named options of training and inference: what each does, where it applies, and which exclude others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jupyter_mlgpu.bench.models.sizes import Model


@dataclass(frozen=True, slots=True)
class Option:
    """One thing that can be switched on; `model` and `device` name the kind that it needs, None any."""

    says: str
    model: str | None = None
    device: str | None = None
    training: bool = False


TORCH: Mapping[str, Option] = {
    "tf32": Option("float32 products and convolutions on tensor cores, in the type tf32", device="cuda"),
    "bf16": Option("autocast: products and convolutions in bfloat16, weights and optimizer in float32"),
    "bf16_weights": Option("everything in bfloat16, weights and optimizer too"),
    "channels_last": Option("images and weights in memory with the colour last (NHWC)", model="image"),
    "flash": Option("scaled_dot_product_attention, one fused kernel, in place of three steps", model="text"),
    "fused": Option("the optimizer's step for all weights in a few kernels (fused=True)", training=True),
    "compile": Option("torch.compile: kernels made for this model"),
    "max_autotune": Option("torch.compile that tries several kernels for each product", device="cuda"),
    "reduce_overhead": Option(
        "torch.compile that replays forward and backward as CUDA graphs", device="cuda"
    ),
    "cuda_graphs": Option(
        "the whole step, optimizer included, recorded once and replayed as one CUDA graph", device="cuda"
    ),
}

JAX: Mapping[str, Option] = {
    "bf16": Option("Keras's policy mixed_bfloat16: layers in bfloat16, weights and optimizer in float32"),
    "donate": Option("the step may write new weights over the old ones (donated buffers)", training=True),
    "one_pass_norm": Option("batch normalisation that reads its input once for both moments", model="image"),
    "no_bias": Option("no bias in convolutions whose batch normalisation takes it away again", model="image"),
    "shifted_depthwise": Option(
        "depthwise convolutions as sums of shifted products, which XLA joins", model="image"
    ),
    "flash": Option("cuDNN's fused attention; it has no dropout of the weights", model="text", device="cuda"),
    "scan": Option(
        "all steps of a measurement in one call of the compiled program (lax.fori_loop)", training=True
    ),
}

TENSORFLOW: Mapping[str, Option] = {
    "bf16": Option("Keras's policy mixed_bfloat16: layers in bfloat16, weights and optimizer in float32"),
    "fp16": Option("Keras's policy mixed_float16, with loss scaling: for GPUs without bfloat16"),
    "function": Option("the step as a graph (tf.function)"),
    "xla": Option("the graph compiled by XLA (jit_compile=True)"),
}

MLX: Mapping[str, Option] = {
    "compile": Option("mx.compile: the step's small operations joined"),
    "bf16_weights": Option("everything in bfloat16, weights and optimizer too"),
}

OPTIONS: Mapping[str, Mapping[str, Option]] = {
    "torch": TORCH,
    "jax": JAX,
    "tensorflow": TENSORFLOW,
    "mlx": MLX,
}

#: Pairs that ask for two different things at once.
_EXCLUDE = (
    ("bf16", "bf16_weights"),
    ("bf16", "fp16"),
    ("compile", "max_autotune"),
    ("compile", "reduce_overhead"),
    ("max_autotune", "reduce_overhead"),
    ("reduce_overhead", "cuda_graphs"),
    ("function", "xla"),
)


def why_not(
    framework: str, model: Model, options: Collection[str], device_kind: str, training: bool = True
) -> str | None:
    """Why these options cannot be had together, for this model on this kind of device; else None."""
    known = OPTIONS[framework]
    for name in options:
        option = known.get(name)
        if option is None:
            return f"Unknown option {name!r} for {framework}. Choose from {', '.join(known)}."
        if option.model not in (None, model.kind):
            return f"{name} is for models of {option.model}s, and {model.title} takes {model.kind}s."
        if option.device not in (None, device_kind):
            return (
                f"{name} needs a device of the kind {option.device}; this one is of the kind {device_kind}."
            )
        if option.training and not training:
            return f"{name} is for training, and this is inference."
    for first, second in _EXCLUDE:
        if first in options and second in options:
            return f"{first} and {second} exclude each other: choose one."
    return None
