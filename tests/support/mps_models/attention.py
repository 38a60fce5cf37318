"""Models with attention, and what is put into them: experts, and adapters of low rank."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import nn


class Positions(nn.Module):
    def __init__(self, width, length=64):
        super().__init__()
        at = torch.arange(length)[:, None]
        rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10000.0) / width))
        table = torch.zeros(length, width)
        table[:, 0::2], table[:, 1::2] = torch.sin(at * rates), torch.cos(at * rates)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.shape[1]]


class Encoder(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(500, width), Positions(width)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(width, 4, 64, batch_first=True), 2)
        self.out = nn.Linear(width, 5)

    def forward(self, words):
        hidden = self.positions(self.embedding(words))
        return self.out(self.encoder(hidden, src_key_padding_mask=words == 0).mean(1))


def transformer_encoder():
    return Encoder(), torch.randint(0, 500, (8, 24)), torch.randint(0, 5, (8,))


class Translator(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.source, self.target = nn.Embedding(200, width), nn.Embedding(200, width)
        self.transformer = nn.Transformer(width, 4, 2, 2, 64, batch_first=True)
        self.out = nn.Linear(width, 200)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=source.device)
        return self.out(self.transformer(self.source(source), self.target(target), tgt_mask=mask))


def transformer():
    words = [torch.randint(0, 200, (4, length)) for length in (14, 10, 10)]
    return Translator(), *words


class CausalAttention(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.heads = heads
        self.inward, self.outward = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.dropout = nn.Dropout(0.1)
        self.register_buffer("mask", torch.tril(torch.ones(length, length)).view(1, 1, length, length))

    def forward(self, x):
        batch, length, width = x.shape
        split = [
            one.view(batch, length, self.heads, width // self.heads).transpose(1, 2)
            for one in self.inward(x).split(width, 2)
        ]
        scores = (split[0] @ split[1].transpose(-2, -1)) / math.sqrt(width // self.heads)
        scores = scores.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
        out = self.dropout(F.softmax(scores, -1)) @ split[2]
        return self.outward(out.transpose(1, 2).contiguous().view(batch, length, width))


class FusedAttention(CausalAttention):
    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = self.inward(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        out = F.scaled_dot_product_attention(query, key, value, is_causal=True, dropout_p=0.1)
        return self.outward(out.transpose(1, 2).reshape(batch, length, width))


class GPT(nn.Module):
    def __init__(self, attention, width=64, length=32):
        super().__init__()
        self.words, self.positions = nn.Embedding(256, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(
            nn.ModuleDict(
                {
                    "ln1": nn.LayerNorm(width),
                    "attention": attention(width, 4, length),
                    "ln2": nn.LayerNorm(width),
                    "mlp": nn.Sequential(
                        nn.Linear(width, 4 * width), nn.GELU("tanh"), nn.Linear(4 * width, width)
                    ),
                }
            )
            for _ in range(3)
        )
        self.norm = nn.RMSNorm(width)
        self.head = nn.Linear(width, 256, bias=False)
        self.head.weight = self.words.weight

    def forward(self, words):
        x = self.words(words) + self.positions(torch.arange(words.shape[1], device=words.device))
        for block in self.blocks:
            x = x + block["attention"](block["ln1"](x))
            x = x + block["mlp"](block["ln2"](x))
        return self.head(self.norm(x))


def gpt():
    words = torch.randint(0, 256, (4, 33))
    return GPT(FusedAttention), words[:, :-1], words[:, 1:]


def attention_by_hand():
    model = GPT(CausalAttention)

    def generate(words):
        for _ in range(3):
            logits = model(words[:, -32:])[:, -1] / 0.8
            lowest = torch.topk(logits, 40).values[:, [-1]]
            logits[logits < lowest] = -float("inf")
            words = torch.cat([words, torch.multinomial(logits.softmax(-1), 1)], 1)
        F.cross_entropy(model(words[:, :-1]).transpose(1, 2), words[:, 1:]).backward()
        return words

    return generate, torch.randint(0, 256, (2, 20))


class Experts(nn.Module):
    def __init__(self, width=32, experts=4, chosen=2):
        super().__init__()
        self.router, self.chosen = nn.Linear(width, experts), chosen
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 64), nn.SiLU(), nn.Linear(64, width)) for _ in range(experts)
        )

    def forward(self, x):
        flat = x.flatten(0, 1)
        weights, picked = torch.topk(self.router(flat).softmax(-1), self.chosen, dim=-1)
        weights = weights / weights.sum(-1, keepdim=True)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            rows, places = torch.where(picked == number)
            out.index_add_(0, rows, expert(flat[rows]) * weights[rows, places, None])
        return out.view_as(x), F.one_hot(picked, len(self.experts)).float().mean()


def mixture_of_experts():
    x = torch.randn(4, 8, 32)
    return Experts(), x, torch.randn(4, 8, 32)


class LoraLinear(nn.Module):
    def __init__(self, layer, rank=4):
        super().__init__()
        self.layer = layer.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, layer.in_features) * 0.01)
        self.b = nn.Parameter(torch.zeros(layer.out_features, rank))

    def forward(self, x):
        return self.layer(x) + F.dropout(x, 0.05, self.training) @ self.a.T @ self.b.T


def lora():
    model = GPT(FusedAttention)
    for block in model.blocks:
        block["attention"].inward = LoraLinear(block["attention"].inward)
    words = torch.randint(0, 256, (4, 33))
    return model, words[:, :-1], words[:, 1:]
