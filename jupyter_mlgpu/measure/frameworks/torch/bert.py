"""DistilBERT and BERT-Large for PyTorch, from one encoder: Devlin et al. 2019, arXiv:1810.04805."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.frameworks.models import Encoder

_EPSILON = 1e-12  # of the layer normalisations, as published


def bert(classes: int, shape: Encoder, flash: bool = True) -> Any:
    """Return an encoder with a layer of `classes` outputs over its first token.

    Tokens of [batch, tokens] become [batch, classes]. All sequences are full, so nothing is masked. Queries,
    keys and values come from one matrix of the size of three. With `flash`, attention is PyTorch's fused one,
    which never stores the [tokens, tokens] weights. Without it, attention is computed in separate steps.
    """
    import torch
    from torch import nn
    from torch.nn import functional

    width, heads = shape.width, shape.heads

    class TorchBertEmbedding(nn.Module):  # type: ignore[misc]
        """Embeddings of words and their positions, and of which of two texts they belong to."""

        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(shape.vocabulary, width)
            self.places = nn.Embedding(shape.positions, width)
            self.segments = nn.Embedding(shape.segments, width) if shape.segments else None
            self.norm, self.drop = nn.LayerNorm(width, eps=_EPSILON), nn.Dropout(shape.dropout)

        def forward(self, tokens: Any) -> Any:
            x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
            if self.segments is not None:  # one text: all tokens are of the first
                x = x + self.segments.weight[0]
            return self.drop(self.norm(x))

    class Attention(nn.Module):  # type: ignore[misc]
        """Attention of every token to all tokens."""

        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x: Any) -> Any:
            batch, tokens, _ = x.shape
            split = self.qkv(x).view(batch, tokens, 3, heads, width // heads)
            query, key, value = split.permute(2, 0, 3, 1, 4).unbind(0)
            dropout = shape.dropout if self.training else 0.0
            if flash:
                mixed = functional.scaled_dot_product_attention(query, key, value, dropout_p=dropout)
            else:
                weights = (query @ key.transpose(-2, -1) * (width // heads) ** -0.5).softmax(-1)
                mixed = functional.dropout(weights, dropout, self.training) @ value
            return self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))

    class TorchEncoderLayer(nn.Module):  # type: ignore[misc]
        """Attention and a feed-forward part, each added to its input and normalised."""

        def __init__(self) -> None:
            super().__init__()
            self.attention, self.drop = Attention(), nn.Dropout(shape.dropout)
            self.inner = nn.Sequential(
                nn.Linear(width, shape.inner), nn.GELU(), nn.Linear(shape.inner, width)
            )
            self.norm1, self.norm2 = nn.LayerNorm(width, eps=_EPSILON), nn.LayerNorm(width, eps=_EPSILON)

        def forward(self, x: Any) -> Any:
            x = self.norm1(x + self.drop(self.attention(x)))
            return self.norm2(x + self.drop(self.inner(x)))

    class First(nn.Module):  # type: ignore[misc]
        """The vector of the first token, which represents the whole text."""

        def forward(self, x: Any) -> Any:
            return x[:, 0]

    parts = [TorchBertEmbedding(), *(TorchEncoderLayer() for _ in range(shape.layers)), First()]
    if shape.pooler:
        parts += [nn.Linear(width, width), nn.Tanh()]
    model = nn.Sequential(*parts, nn.Dropout(shape.dropout), nn.Linear(width, classes))
    with torch.no_grad():
        for module in model.modules():  # as published: a narrow normal distribution, and no bias
            if isinstance(module, nn.Linear | nn.Embedding):
                nn.init.normal_(module.weight, std=0.02)
            if isinstance(module, nn.Linear):
                nn.init.zeros_(module.bias)
    return model


def layers(model: Any) -> list[Any]:
    """Return the layers of an encoder made by `bert`, which are all alike."""
    return [one for one in model if type(one).__name__ == "TorchEncoderLayer"]
