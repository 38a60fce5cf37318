"""The GPT of 84 million random weights in PyTorch, in bfloat16 and with int8 matrices: its speed."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.teach.lessons.smallmodels import BLOCKS, HEADS, VOCABULARY, WIDTH, compared, milliseconds


def row(int8: bool) -> dict[str, object]:
    """Return tokens a second of the GPT in PyTorch, predicted and measured, with a forecast for MPS."""
    import torch

    from jupyter_mlgpu import plan

    device = "mps" if torch.backends.mps.is_available() else "cpu"
    model = build(device, int8)
    layers = [linear(8192, 8192, int8).to(device) for _ in range(4)]
    vector = torch.ones(1, 8192, dtype=torch.bfloat16, device=device)
    with torch.inference_mode():
        ms = milliseconds(lambda: sum(one(vector).sum() for one in layers).item(), pick=min)
    token = milliseconds(lambda: write(model, 20).item(), pick=min) / 20

    def two_tokens() -> Any:
        return write(model, 2)

    forecast = str(plan(two_tokens, target="mps")).splitlines()[0]
    name, rate = f"{'int8' if int8 else 'bf16'} on {device}", sum(map(bytes_of, layers)) / ms / 1e6
    return compared(name, bytes_of(model), rate, token) | {"on MPS": forecast}


def build(device: str, int8: bool = False) -> Any:
    """Return the large GPT in PyTorch in bfloat16, or with int8 matrices that have a scale for each row."""
    import torch
    from torch import nn
    from torch.nn.functional import embedding, gelu, rms_norm, scaled_dot_product_attention

    class TorchBlock(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.attend, self.out = linear(WIDTH, 3 * WIDTH, int8), linear(WIDTH, WIDTH, int8)
            self.wide = linear(WIDTH, 4 * WIDTH, int8)
            self.narrow = linear(4 * WIDTH, WIDTH, int8)

        def forward(self, x: Any, cache: Any) -> tuple[Any, Any]:
            parts = self.attend(rms_norm(x, (WIDTH,))).view(3, HEADS, 1, -1)
            cache = torch.cat([cache, parts[1:]], dim=2)
            mixed = scaled_dot_product_attention(parts[0], cache[0], cache[1])
            x = x + self.out(mixed.reshape(1, WIDTH))
            return x + self.narrow(gelu(self.wide(rms_norm(x, (WIDTH,))))), cache

    class TorchGpt(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.last = linear(WIDTH, VOCABULARY, int8)
            self.blocks = nn.ModuleList(TorchBlock() for _ in range(BLOCKS))

        def forward(self, token: Any, caches: list[Any]) -> Any:
            # The row of one token is read from the last matrix. Its scale is left out; speed stays the same.
            x = embedding(token, self.last.weight).to(torch.bfloat16)
            for number, block in enumerate(self.blocks):
                x, caches[number] = block(x, caches[number])
            return self.last(x)

    torch.manual_seed(0)
    return TorchGpt().to(device)


def linear(inputs: int, outputs: int, int8: bool) -> Any:
    """Return a linear layer with random weights, in bfloat16 or with PyTorch's product of int8 weights."""
    import torch
    from torch import nn

    class Int8Linear(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", torch.randint(-127, 128, (outputs, inputs), dtype=torch.int8))
            self.register_buffer("scale", torch.full((outputs,), inputs**-0.5 / 127, dtype=torch.bfloat16))

        def forward(self, x: Any) -> Any:
            return torch._weight_int8pack_mm(x, self.weight, self.scale)

    return Int8Linear() if int8 else nn.Linear(inputs, outputs, bias=False, dtype=torch.bfloat16)


def bytes_of(module: Any) -> int:
    """Return the bytes of all parameters and buffers of a PyTorch module."""
    return sum(one.nbytes for one in module.state_dict().values())


def write(model: Any, tokens: int) -> Any:
    """Write so many tokens with the GPT in PyTorch, and return the last one, a tensor on the device."""
    import torch

    device = model.last.weight.device
    with torch.inference_mode():
        token = torch.ones(1, dtype=torch.long, device=device)
        empty = torch.zeros(2, HEADS, 0, WIDTH // HEADS, device=device, dtype=torch.bfloat16)
        caches = [empty] * BLOCKS
        for _ in range(tokens):
            token = model(token, caches).argmax(-1)
    return token
