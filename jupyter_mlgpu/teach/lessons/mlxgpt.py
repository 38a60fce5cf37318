"""The GPT of 84 million random weights in MLX: its speed in three types, and the memory of its training."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.teach.lessons.smallmodels import BLOCKS, HEADS, VOCABULARY, WIDTH, compared, milliseconds


def row(bits: int) -> dict[str, object]:
    """Return tokens a second of the GPT in MLX in so many bits: predicted from one layer, and measured."""
    import mlx.core as mx
    from mlx import nn

    model, layers = build(), [nn.Linear(8192, 8192, bias=False) for _ in range(4)]
    if bits < 32:
        nn.quantize(model, group_size=32, bits=bits)
        layers = [one.to_quantized(group_size=32, bits=bits) for one in layers]
    vector = mx.random.normal((1, 8192))
    ms = milliseconds(lambda: mx.eval([one(vector) for one in layers]), pick=min)
    token = milliseconds(lambda: write(model, 20), pick=min) / 20
    return compared(f"{bits} bits", bytes_of(model), sum(map(bytes_of, layers)) / ms / 1e6, token)


def build() -> Any:
    """Return the large GPT in MLX, with random weights in float32."""
    import mlx.core as mx
    from mlx import nn

    class MlxBlock(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.norm, self.norm_wide = nn.RMSNorm(WIDTH), nn.RMSNorm(WIDTH)
            self.attend = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
            self.out = nn.Linear(WIDTH, WIDTH, bias=False)
            self.wide = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
            self.narrow = nn.Linear(4 * WIDTH, WIDTH, bias=False)

        def __call__(self, x: Any, cache: Any) -> tuple[Any, Any]:
            parts = mx.split(self.attend(self.norm(x)), 3, axis=-1)
            q, k, v = (mx.unflatten(one, -1, (HEADS, -1)).swapaxes(1, 2) for one in parts)
            if cache:
                k, v = mx.concatenate([cache[0], k], axis=2), mx.concatenate([cache[1], v], axis=2)
            scale, mask = q.shape[-1] ** -0.5, "causal" if x.shape[1] > 1 else None
            mixed = mx.fast.scaled_dot_product_attention(q, k, v, scale=scale, mask=mask)
            x = x + self.out(mixed.swapaxes(1, 2).flatten(2))
            return x + self.narrow(nn.gelu(self.wide(self.norm_wide(x)))), (k, v)

    class MlxGpt(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(VOCABULARY, WIDTH)
            self.blocks = [MlxBlock() for _ in range(BLOCKS)]

        def __call__(self, tokens: Any, caches: list[Any]) -> Any:
            x = self.words(tokens)
            for number, block in enumerate(self.blocks):
                x, caches[number] = block(x, caches[number])
            return self.words.as_linear(x)

    mx.random.seed(0)
    model = MlxGpt()
    mx.eval(model.parameters())
    return model


def bytes_of(model: Any) -> int:
    """Return the bytes of all arrays of an MLX model: weights, scales and offsets."""
    from mlx.utils import tree_flatten

    return sum(one.nbytes for _, one in tree_flatten(model.parameters()))


def write(model: Any, tokens: int) -> None:
    """Write so many tokens with the GPT in MLX, each time the likeliest one."""
    import mlx.core as mx

    token, caches = mx.array([[1]]), [None] * BLOCKS
    for _ in range(tokens):
        token = mx.argmax(model(token, caches), axis=-1)
        mx.eval(token, caches)


def add_adapters(model: Any, rank: int, scale: float = 20.0) -> None:
    """Freeze the GPT in MLX, and put adapters beside its linear layers, as mlx-lm's LoRALinear does."""
    import mlx.core as mx
    from mlx import nn
    from mlx.utils import tree_map_with_path

    class LoRALinear(nn.Module):  # type: ignore[misc]
        def __init__(self, linear: Any, inputs: int, outputs: int) -> None:
            super().__init__()
            self.linear = linear
            self.lora_a = mx.random.uniform(-(inputs**-0.5), inputs**-0.5, (inputs, rank))
            self.lora_b = mx.zeros((rank, outputs))

        def __call__(self, x: Any) -> Any:
            return self.linear(x) + scale * ((x @ self.lora_a) @ self.lora_b)

    widths = {"attend": (1, 3), "out": (1, 1), "wide": (1, 4), "narrow": (4, 1)}

    def wrapped(path: str, layer: Any) -> Any:
        if path not in widths:
            return layer
        inputs, outputs = widths[path]
        return LoRALinear(layer, inputs * WIDTH, outputs * WIDTH)

    model.freeze()
    for block in model.blocks:
        leaves = block.leaf_modules()
        block.update_modules(tree_map_with_path(wrapped, leaves, is_leaf=nn.Module.is_module))


def training_peak(model: Any, steps: int = 2) -> tuple[int, int]:
    """Train the GPT in MLX with Adam; return how many weights are trained, and the peak memory in bytes.

    A step reads one row of 16 tokens, so that the layers keep little for the backward pass.
    """
    import mlx.core as mx
    from mlx import nn, optimizers
    from mlx.utils import tree_flatten

    def loss(model: Any, rows: Any) -> Any:
        scores = model(rows[:, :-1], [None] * BLOCKS)
        return nn.losses.cross_entropy(scores, rows[:, 1:], reduction="mean")

    rows = mx.random.randint(0, VOCABULARY, (1, 17))
    optimizer, gradients_of = optimizers.Adam(1e-4), nn.value_and_grad(model, loss)
    mx.eval(model.parameters(), rows)
    mx.clear_cache()
    mx.reset_peak_memory()
    for _ in range(steps):
        _, gradients = gradients_of(model, rows)
        optimizer.update(model, gradients)
        mx.eval(model.parameters(), optimizer.state)
    count = sum(one.size for _, one in tree_flatten(model.trainable_parameters()))
    return count, mx.get_peak_memory()
