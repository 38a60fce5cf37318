"""Milliseconds a token of GPTs with random weights on a GPU, and what the bytes of their weights allow."""

from __future__ import annotations

import statistics
import traceback
from collections.abc import Callable

import torch
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention

from jupyter_mlgpu.lessons import figures

#: Bytes a second by NVIDIA's data sheet of the H200.
DATA_SHEET = 4.8e12
#: Layers, width and heads: GPT-2's paper (2019) has the first two, GPT-3's (2020, table 2.1) the third.
SIZES = {"GPT-2 Medium": (24, 1024, 16), "GPT-2 XL": (48, 1600, 25), "GPT-3 6.7B": (32, 4096, 32)}
WORDS, LENGTH, ROOM, TOKENS = 50_257, 2048, 256, 50
DEVICE, KIND = "cuda", torch.bfloat16


def random(*shape: int) -> torch.Tensor:
    """Return random weights."""
    return torch.randn(shape, device=DEVICE, dtype=KIND) / 50


class Gpt:
    """A GPT with random weights, and a key-value cache for `batch` texts."""

    def __init__(self, layers: int, width: int, heads: int, batch: int = 1) -> None:
        self.width, self.heads, self.size = width, heads, width // heads
        self.words, self.places = random(WORDS, width), random(LENGTH, width)
        shapes = [(3 * width, width), (width, width), (4 * width, width), (width, 4 * width)]
        self.blocks = [[random(*shape) for shape in shapes] for _ in range(layers)]
        self.numbers = torch.arange(LENGTH, device=DEVICE)
        self.prompt = torch.randint(WORDS, (1, LENGTH), device=DEVICE)
        self.start(batch)

    def start(self, batch: int) -> None:
        """Begin `batch` new texts with an empty cache."""
        self.cache = torch.zeros(
            len(self.blocks), 2, batch, self.heads, ROOM, self.size, device=DEVICE, dtype=KIND
        )
        self.token = self.prompt[0, :1].repeat(batch)[:, None].clone()
        self.place = self.numbers[:1].clone()

    def parameters(self) -> int:
        """Return how many weights are read for a token; the positions are left out, only one row is read."""
        return self.words.numel() + sum(one.numel() for block in self.blocks for one in block)

    def cache_bytes(self) -> int:
        """Return the bytes of the cache."""
        return self.cache.numel() * self.cache.element_size()

    def next(
        self, tokens: torch.Tensor, at: torch.Tensor, attend: Callable[..., torch.Tensor]
    ) -> torch.Tensor:
        """Return the likeliest next token of each text."""
        batch, n = tokens.shape
        x = self.words[tokens] + self.places[at]
        for number, (qkv, out, wide, narrow) in enumerate(self.blocks):
            parts = linear(layer_norm(x, [self.width]), qkv).view(batch, n, 3, self.heads, self.size)
            mixed = attend(number, *parts.permute(2, 0, 3, 1, 4))
            x = x + linear(mixed.transpose(1, 2).reshape(batch, n, self.width), out)
            x = x + linear(gelu(linear(layer_norm(x, [self.width]), wide)), narrow)
        return linear(layer_norm(x[:, -1:], [self.width]), self.words).argmax(-1)

    def prefill(self) -> None:
        """Read LENGTH tokens at once."""
        self.next(
            self.prompt,
            self.numbers,
            lambda number, q, k, v: scaled_dot_product_attention(q, k, v, is_causal=True),
        )

    def from_cache(self, number: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        """Append a key and a value to the cache, and attend with one query for each text."""
        keys, values = self.cache[number]
        keys.index_copy_(2, self.place, k)
        values.index_copy_(2, self.place, v)
        scores = q @ keys.transpose(-1, -2) / self.size**0.5
        return scores.masked_fill(self.numbers[:ROOM] > self.place, -1e9).softmax(-1) @ values

    def step(self) -> None:
        """Write one token of each text."""
        self.token.copy_(self.next(self.token, self.place, self.from_cache))
        self.place.add_(1)


def milliseconds(work: Callable[[], None], runs: int = 5) -> float:
    """Return the median of some runs after a warm-up, timed with CUDA events."""
    work()
    found = []
    for _ in range(runs):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        found.append(start.elapsed_time(end))
    return statistics.median(found)


def written(gpt: Gpt, step: Callable[[], None]) -> Callable[[], None]:
    """Return what writes TOKENS tokens from the beginning of the cache."""

    def work() -> None:
        gpt.place.zero_()
        for _ in range(TOKENS):
            step()

    return work


def recorded(gpt: Gpt) -> torch.cuda.CUDAGraph:
    """Return one step as a CUDA graph."""
    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(3):
            gpt.step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        gpt.step()
    return graph


def same_tokens(gpt: Gpt, graph: torch.cuda.CUDAGraph) -> bool:
    """Return True if eager steps and the graph write the same tokens."""
    texts = []
    for step in (gpt.step, graph.replay):
        gpt.place.zero_()
        gpt.token.copy_(gpt.prompt[0, :1].repeat(len(gpt.token))[:, None])
        text = []
        for _ in range(20):
            step()
            text.append(gpt.token.flatten().tolist())
        texts.append(text)
    return texts[0] == texts[1]


def size_row(name: str) -> dict[str, object]:
    """Return the row of one size: what the bytes allow, and what was measured."""
    gpt = Gpt(*SIZES[name])
    weights, cache = gpt.parameters() * 2, gpt.cache_bytes()
    least = 1000 * (weights + cache) / DATA_SHEET
    prefill = milliseconds(gpt.prefill)
    eager = milliseconds(written(gpt, gpt.step)) / TOKENS
    graph = recorded(gpt)
    print(name, "the same tokens:", same_tokens(gpt, graph))
    replayed = milliseconds(written(gpt, graph.replay)) / TOKENS
    return {
        "size": name,
        "parameters": f"{gpt.parameters() / 1e9:.2f} billion",
        "GB of weights": round(weights / 1e9, 2),
        "least ms a token": round(least, 3),
        "launched one by one, ms": round(eager, 3),
        "CUDA graph, ms": round(replayed, 3),
        "of the bandwidth, %": round(100 * least / replayed),
        "prefill, tokens/s": round(LENGTH / prefill * 1000),
    }


def batch_row(batch: int) -> dict[str, object]:
    """Return the row of so many texts written at once by the GPT of XL's size."""
    gpt = Gpt(*SIZES["GPT-2 XL"], batch=batch)
    replayed = milliseconds(written(gpt, recorded(gpt).replay)) / TOKENS
    return {
        "texts at once": batch,
        "ms a step": round(replayed, 3),
        "tokens/s": round(1000 * batch / replayed),
        "MB of cache": round(gpt.cache_bytes() / 1e6),
    }


def bandwidth_row() -> dict[str, object]:
    """Return the bytes a second of a large matrix times a vector."""
    a, x = random(32_768, 16_384), random(16_384)

    def work() -> None:
        for _ in range(20):
            a @ x

    seconds = milliseconds(work) / 1000 / 20
    moved = a.numel() * a.element_size()
    return {
        "step": "a matrix times a vector",
        "GB": round(moved / 1e9, 2),
        "GB/s": round(moved / seconds / 1e9),
    }


def rows_of(row: Callable[..., dict[str, object]], *cases: tuple[object, ...]) -> list[dict[str, object]]:
    """Return the rows of all cases that could be measured."""
    found = []
    for case in cases:
        try:
            found.append(row(*case))
            print(found[-1], flush=True)
        except Exception:
            traceback.print_exc()
        torch.cuda.empty_cache()
    return found


figures("15_gpu", rows_of(size_row, *((name,) for name in SIZES)))
figures("15_gpu_batch", rows_of(batch_row, *((batch,) for batch in (1, 4, 16, 64, 256))))
figures("15_gpu_bandwidth", rows_of(bandwidth_row, ()))
