"""Milliseconds a token of GPTs with random weights on a GPU, and what the bytes of their weights allow."""

from __future__ import annotations

import statistics
import traceback
from collections.abc import Callable

import torch
import torch._inductor.config
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


Attend = Callable[..., torch.Tensor]
Block = Callable[..., torch.Tensor]


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
        shape = (batch, self.heads, ROOM, self.size)
        self.cache = [[random(*shape) for _ in range(2)] for _ in self.blocks]
        self.token = self.prompt[0, :1].repeat(batch)[:, None].clone()
        self.place = self.numbers[:1].clone()

    def parameters(self) -> int:
        """Return how many weights are read for a token; the positions are left out, only one row is read."""
        return self.words.numel() + sum(one.numel() for block in self.blocks for one in block)

    def cache_bytes(self) -> int:
        """Return the bytes of the cache."""
        return sum(one.numel() * one.element_size() for kept in self.cache for one in kept)

    def next(self, tokens: torch.Tensor, at: torch.Tensor, attend: Attend, block: Block) -> torch.Tensor:
        """Return the likeliest next token of each text."""
        x = self.words[tokens] + self.places[at]
        for weights, kept in zip(self.blocks, self.cache, strict=True):
            x = block(x, self.heads, self.place, self.numbers, weights, kept, attend)
        return linear(layer_norm(x[:, -1:], [self.width]), self.words).argmax(-1)

    def prefill(self) -> None:
        """Read LENGTH tokens at once."""
        self.next(self.prompt, self.numbers, all_at_once, plain_block)

    def step(self, block: Block) -> None:
        """Write one token of each text."""
        self.token.copy_(self.next(self.token, self.place, from_cache, block))
        self.place.add_(1)


def all_at_once(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    keys: object,
    values: object,
    place: object,
    numbers: object,
) -> torch.Tensor:
    """Attend among all tokens of the prompt, none of which looks at a later one."""
    return scaled_dot_product_attention(q, k, v, is_causal=True)


def from_cache(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    place: torch.Tensor,
    numbers: torch.Tensor,
) -> torch.Tensor:
    """Append a key and a value to the cache, and attend with one query for each text."""
    keys.index_copy_(2, place, k)
    values.index_copy_(2, place, v)
    scores = q @ keys.transpose(-1, -2) / q.shape[-1] ** 0.5
    return scores.masked_fill(numbers[:ROOM] > place, -1e9).softmax(-1) @ values


def plain_block(
    x: torch.Tensor,
    heads: int,
    place: torch.Tensor,
    numbers: torch.Tensor,
    weights: list[torch.Tensor],
    kept: list[torch.Tensor],
    attend: Attend,
) -> torch.Tensor:
    """Return the vectors after one block."""
    qkv, out, wide, narrow = weights
    batch, n, width = x.shape
    parts = linear(layer_norm(x, [width]), qkv).view(batch, n, 3, heads, width // heads)
    mixed = attend(*parts.permute(2, 0, 3, 1, 4), *kept, place, numbers)
    x = x + linear(mixed.transpose(1, 2).reshape(batch, n, width), out)
    return x + linear(gelu(linear(layer_norm(x, [width]), wide)), narrow)


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


def recorded(gpt: Gpt, block: Block) -> torch.cuda.CUDAGraph:
    """Return one step as a CUDA graph."""
    gpt.place.zero_()
    gpt.step(block)
    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(3):
            gpt.step(block)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        gpt.step(block)
    return graph


def fused_milliseconds(gpt: Gpt) -> float | None:
    """Return milliseconds a token with fused operations, as a CUDA graph; None if it cannot be compiled."""
    try:
        torch._dynamo.reset()
        graph = recorded(gpt, torch.compile(plain_block, dynamic=False))
        return milliseconds(written(gpt, graph.replay)) / TOKENS
    except Exception:
        traceback.print_exc()
        return None


def same_tokens(gpt: Gpt, graph: torch.cuda.CUDAGraph) -> bool:
    """Return True if eager steps and the graph write the same tokens."""
    texts = []
    for step in (lambda: gpt.step(plain_block), graph.replay):
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
    eager = milliseconds(written(gpt, lambda: gpt.step(plain_block))) / TOKENS
    graph = recorded(gpt, plain_block)
    print(name, "the same tokens:", same_tokens(gpt, graph))
    replayed = milliseconds(written(gpt, graph.replay)) / TOKENS
    fused = fused_milliseconds(gpt)
    best = min(replayed, fused or replayed)
    return {
        "size": name,
        "parameters": f"{gpt.parameters() / 1e9:.2f} billion",
        "GB of weights": round(weights / 1e9, 2),
        "least, ms a token": round(least, 3),
        "launched one by one, ms": round(eager, 2),
        "CUDA graph, ms": round(replayed, 2),
        "fused as well, ms": fused and round(fused, 2),
        "of the bandwidth": f"{least / best:.0%}",
        "prefill, tokens/s": round(LENGTH / prefill * 1000),
    }


def batch_row(batch: int) -> dict[str, object]:
    """Return the row of so many texts written at once by the largest GPT."""
    gpt = Gpt(*SIZES["GPT-3 6.7B"], batch=batch)
    replayed = milliseconds(written(gpt, recorded(gpt, plain_block).replay)) / TOKENS
    return {
        "texts at once": batch,
        "ms a step": round(replayed, 3),
        "tokens/s": round(1000 * batch / replayed),
        "MB of caches": round(gpt.cache_bytes() / 1e6),
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


torch._inductor.config.coordinate_descent_tuning = (
    True  # makes products with one row itself, as gpt-fast does
)
figures("15_gpu", rows_of(size_row, *((name,) for name in SIZES)))
figures("15_gpu_batch", rows_of(batch_row, *((batch,) for batch in (1, 4, 16, 64, 256))))
figures("15_gpu_bandwidth", rows_of(bandwidth_row, ()))
