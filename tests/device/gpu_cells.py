"""Cells that use a GPU in many ways, by name: what each does, as a function without arguments."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any

Cells = dict[str, Callable[[], object]]


def of_torch(torch: Any) -> Cells:
    torch.manual_seed(0)
    device = "cuda"
    x, big = torch.randn(64, 64, device=device), torch.randn(4096, 4096, device=device, dtype=torch.bfloat16)
    square = torch.randn(1024, 1024, device=device)
    layer = torch.nn.TransformerEncoderLayer(256, 8, 1024, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 4, enable_nested_tensor=False).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    batch = torch.randn(16, 128, 256, device=device)
    images, convolution = torch.randn(16, 3, 224, 224, device=device), torch.nn.Conv2d(3, 64, 7).to(device)
    queries = torch.randn(4, 8, 1024, 64, device=device, dtype=torch.float16)
    pageable, pinned = torch.rand(3_000_000), torch.rand(3_000_000).pin_memory()
    back = torch.empty(3_000_000).pin_memory()
    flat = torch.rand(3_000_000, device=device)
    small = torch.nn.Sequential(*[torch.nn.Linear(64, 64) for _ in range(50)]).to(device)
    recurrent = torch.nn.LSTM(256, 256, 2, batch_first=True).to(device)
    embedding = torch.nn.Embedding(50_000, 256).to(device)
    tokens = torch.randint(0, 50_000, (64, 512), device=device)
    norm = torch.nn.LayerNorm(256).to(device)
    streams = [torch.cuda.Stream() for _ in range(4)]
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad():
        for _ in range(3):
            small(x)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            small(x)

    def train() -> None:
        for _ in range(5):
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()

    def train_mixed() -> None:
        for _ in range(5):
            optimizer.zero_grad()
            with torch.autocast(device, torch.bfloat16):
                loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()

    def on_streams(count: int) -> None:
        for _ in range(100):
            for stream in streams[:count]:
                with torch.cuda.stream(stream):
                    big @ big

    def in_two_threads() -> None:
        def add() -> None:
            for _ in range(1_000):
                x + 1

        threads = [threading.Thread(target=add) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    def with_pauses() -> None:
        for _ in range(10):
            big @ big
            torch.cuda.synchronize()
            sum(range(100_000))

    def copies_beside_work() -> None:
        for _ in range(20):
            with torch.cuda.stream(streams[0]):
                pinned.to(device, non_blocking=True)
            big @ big
        torch.cuda.synchronize()

    def graphs_and_kernels() -> None:
        for _ in range(50):
            graph.replay()
            square @ square

    return {
        "training steps of a Transformer": train,
        "training steps in mixed precision": train_mixed,
        "5,000 additions of 64 x 64": lambda: [x + 1 for _ in range(5_000)],
        "200 products of 4,096 in bfloat16": lambda: [big @ big for _ in range(200)],
        "products with pauses": with_pauses,
        "convolutions": lambda: [convolution(images) for _ in range(20)],
        "attention": lambda: [
            torch.nn.functional.scaled_dot_product_attention(queries, queries, queries) for _ in range(50)
        ],
        "an LSTM": lambda: [recurrent(batch) for _ in range(5)],
        "embeddings and a softmax": lambda: [embedding(tokens).softmax(-1) for _ in range(10)],
        "layer norms": lambda: [norm(batch) for _ in range(500)],
        "Fourier transforms": lambda: [torch.fft.rfft2(square) for _ in range(100)],
        "Cholesky decompositions": lambda: [
            torch.linalg.cholesky(square @ square.T + 1e5 * torch.eye(1024, device=device)) for _ in range(5)
        ],
        "gathers and scatters": lambda: [
            flat.scatter_add(0, tokens.flatten(), flat[: tokens.numel()]) for _ in range(50)
        ],
        "copies from pageable memory": lambda: [pageable.to(device) for _ in range(10)],
        "copies from pinned memory": lambda: [pinned.to(device, non_blocking=True) for _ in range(20)],
        "copies back": lambda: [batch.cpu() for _ in range(20)],
        "copies back to pinned memory": lambda: [back.copy_(flat, non_blocking=True) for _ in range(20)],
        "copies on the GPU": lambda: [flat.clone() for _ in range(100)],
        "copies beside products": copies_beside_work,
        "two streams": lambda: on_streams(2),
        "four streams": lambda: on_streams(4),
        "two threads": in_two_threads,
        "a CUDA graph": lambda: [graph.replay() for _ in range(100)],
        "a CUDA graph and products": graphs_and_kernels,
        "sorting": lambda: [torch.randn(1_000_000, device=device).sort() for _ in range(10)],
        "sets": lambda: [torch.zeros(1_000_000, device=device) for _ in range(100)],
        "reductions with waits": lambda: [float((x * n).sum()) for n in range(500)],
        "unified memory": _managed(torch),
    }


def compiled_by_torch(torch: Any) -> Cells:
    """What needs a compiler on the machine."""
    batch = torch.randn(4096, 1024, device="cuda")
    layers = torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU(), torch.nn.Linear(1024, 1024))
    compiled = torch.compile(layers.to("cuda"))
    return {"torch.compile": lambda: [compiled(batch) for _ in range(50)]}


def of_jax(jax: Any) -> Cells:
    import jax.numpy as jnp

    ones = jnp.ones((2048, 2048), jnp.bfloat16)
    x = jnp.ones((64, 64))
    images, weights = jnp.ones((16, 3, 224, 224)), jnp.ones((64, 3, 7, 7))
    queries = jnp.ones((4, 512, 8, 64), jnp.bfloat16)
    multiply = jax.jit(lambda one: one @ one * 1e-4)
    add = jax.jit(lambda one: one + 1)
    loop = jax.jit(lambda one: jax.lax.fori_loop(0, 50, lambda _, it: it @ it * 1e-4, one))
    scan = jax.jit(lambda one: jax.lax.scan(lambda it, _: (it @ it * 1e-4, it.sum()), one, None, 50))
    convolve = jax.jit(lambda one: jax.lax.conv(one, weights, (1, 1), "SAME"))
    attend = jax.jit(lambda one: jax.nn.dot_product_attention(one, one, one))
    gradient = jax.jit(jax.grad(lambda one: jnp.tanh(one @ one * 1e-4).sum().astype(jnp.float32)))

    def repeated(program: Callable[[Any], Any], argument: Any, times: int) -> Callable[[], object]:
        # `x + 1` alone would be thrown away: what is waited for is the last result.
        return lambda: jax.block_until_ready([program(argument) for _ in range(times)])

    return {
        "JAX: 100 products": repeated(multiply, ones, 100),
        "JAX: 2,000 additions": repeated(add, x, 2_000),
        "JAX: a loop of 50 products": repeated(loop, ones, 2),
        "JAX: a scan of 50 products": repeated(scan, ones, 2),
        "JAX: convolutions": repeated(convolve, images, 10),
        "JAX: attention": repeated(attend, queries, 50),
        "JAX: gradients": repeated(gradient, ones, 20),
    }


def _managed(torch: Any) -> Callable[[], object]:
    """Sets and copies of unified memory, through CUDA's driver."""
    driver = ctypes.CDLL("libcuda.so.1")
    torch.cuda.synchronize()
    address = ctypes.c_uint64()
    size = 16 * 1024**2
    assert driver.cuMemAllocManaged(ctypes.byref(address), ctypes.c_size_t(size), 1) == 0
    other = torch.empty(size, dtype=torch.uint8, device="cuda")

    def work() -> None:
        for value in range(20):
            driver.cuMemsetD8Async(address, ctypes.c_ubyte(value), ctypes.c_size_t(size), None)
            driver.cuMemcpyAsync(ctypes.c_uint64(other.data_ptr()), address, ctypes.c_size_t(size), None)
        driver.cuCtxSynchronize()

    return work
