"""Which sets of options are measured one after another: each difference shows what one option does."""

from __future__ import annotations

from jupyter_mlgpu.bench.models.sizes import Model

Set = tuple[str, ...]


def ladder(framework: str, model: Model, kind: str, training: bool) -> tuple[Set, ...]:
    """The sets for a model on a kind of device, the plainest first and the best last."""
    found = {"torch": _torch, "jax": _jax, "tensorflow": _tensorflow, "mlx": _mlx}[framework](model, kind)
    if training:
        return found
    # Without training there is no optimizer, and nothing to write over.
    kept = tuple(tuple(one for one in each if one not in ("fused", "donate", "scan")) for each in found)
    return tuple(dict.fromkeys(kept))


#: What compiles for a minute before its first step.
_COMPILING = {"compile", "reduce_overhead", "max_autotune", "xla"}


def quick(sets: tuple[Set, ...]) -> tuple[Set, ...]:
    """Of a ladder the best set that is ready at once."""
    return tuple(one for one in sets if not _COMPILING & set(one))[-1:]


def _torch(model: Model, kind: str) -> tuple[Set, ...]:
    layout = "channels_last" if model.kind == "image" else "flash"
    if kind != "cuda":
        return ((), (layout,), (layout, "fused"), (layout, "fused", "compile"))[: 4 if kind == "cpu" else 2]
    best = ("bf16", layout, "fused")
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
        ("bf16_weights", layout, "fused", "compile", "cuda_graphs"),
        (*best, "compile", "cuda_graphs"),
    )


def _jax(model: Model, kind: str) -> tuple[Set, ...]:
    if kind != "cuda":
        return (), ("donate",)
    plain = ("bf16", "donate")
    if model.kind == "text":
        return ("bf16",), plain, (*plain, "flash"), (*plain, "flash", "scan")
    # Of the two networks ResNet50 has biases to leave out, and MobileNetV2 depthwise convolutions.
    other = "no_bias" if model.name == "resnet50" else "shifted_depthwise"
    norm = (*plain, "one_pass_norm")
    return ("bf16",), plain, norm, (*norm, other), (*norm, other, "scan")


def _tensorflow(model: Model, kind: str) -> tuple[Set, ...]:
    if kind == "cuda":
        # The published figures of an RTX 3090 are with float16 and XLA.
        return ("bf16", "function"), ("fp16", "xla"), ("bf16", "xla")
    if kind == "metal":  # has no XLA, and no bfloat16
        return (), ("function",), ("fp16", "function")
    return (), ("function",), ("xla",)


def _mlx(model: Model, kind: str) -> tuple[Set, ...]:
    return (), ("compile",), ("bf16_weights", "compile")
