"""Measure additions over strides, and products over tiles, in Triton and in CUDA C, for lesson 18.

Run it on a GPU with JUPYTER_MLGPU_RECORD_LESSONS set. Each time is the median of some runs, timed by CUDA
events after one that is not counted; a run launches the kernel for about 20 ms, so that the first launch's
delay hardly counts. The first rows of each product are compared with the product in float64.
"""

from __future__ import annotations

import itertools
import statistics
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
import triton
import triton.language as tl

from jupyter_mlgpu.lessons import chart, figures

NUMBERS, SIZE = 2**25, 4096
STRIDES = (1, 2, 4, 8, 16, 32)
SHAPES = ((16, 16), (32, 32), (64, 64), (128, 128), (128, 256))
#: NVIDIA's data sheet of the H200 SXM: dense tensor cores in bfloat16, ordinary cores in float32, memory.
BFLOAT16, FLOAT32, BANDWIDTH = 989e12, 67e12, 4.8e12


@triton.jit
def add(x, y, z, n, stride, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    total = tl.load(x + place * stride, mask=inside) + tl.load(y + place * stride, mask=inside)
    tl.store(z + place * stride, total, mask=inside)


@triton.jit
def copy(x, z, n, read, write, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    tl.store(z + place * write, tl.load(x + place * read, mask=inside), mask=inside)


@triton.jit
def product(
    a, b, c, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, PRECISION: tl.constexpr
):
    rows = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    columns = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    inner = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, n, DEPTH):
        left = tl.load(a + rows * n + first + inner[None, :])
        right = tl.load(b + (first + inner[:, None]) * n + columns)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + rows * n + columns, total.to(c.dtype.element_ty))


CUDA = r"""
extern "C" __global__ void down(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y * blockDim.y + threadIdx.y;
    float total = 0;
    for (int k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
    c[row * n + column] = total;
}
extern "C" __global__ void along(const float* a, const float* b, float* c, int n) {
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float total = 0;
    for (int k = 0; k < n; k++) total += a[row * n + k] * b[k * n + column];
    c[row * n + column] = total;
}
extern "C" __global__ void tiled(const float* a, const float* b, float* c, int n) {
    __shared__ float left[32][32], right[32][32];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 32 + y, column = blockIdx.x * 32 + x;
    float total = 0;
    for (int first = 0; first < n; first += 32) {
        left[y][x] = a[row * n + first + x];
        right[y][x] = b[(first + y) * n + column];
        __syncthreads();
        for (int k = 0; k < 32; k++) total += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + column] = total;
}
"""


def seconds(launch: Callable[[], Any], runs: int = 11) -> float:
    """Return the median seconds of a launch."""
    once = batch(launch, 1)
    launches = max(1, min(100, int(0.02 / once)))
    return statistics.median(batch(launch, launches) for _ in range(runs))


def batch(launch: Callable[[], Any], launches: int) -> float:
    """Return the seconds of a launch, of so many one after the other."""
    launch()
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(launches):
        launch()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000 / launches


def guarded(what: str, work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception:
        print(f"{what} failed:")
        traceback.print_exc()
        return None


def strides() -> float | None:
    """Measure the addition over strides, and copies; return the seconds of the addition of neighbours."""
    x, y, z = (torch.rand(max(STRIDES) * NUMBERS, device="cuda") for _ in range(3))
    grid = (triton.cdiv(NUMBERS, 1024),)
    lines: dict[str, list[tuple[float, float]]] = {"addition": [], "reading": [], "writing": []}
    first = None
    for stride in STRIDES:
        for name, bytes_each, launch in (
            ("addition", 12, partial(add[grid], x, y, z, NUMBERS, stride, BLOCK=1024)),
            ("reading", 8, partial(copy[grid], x, z, NUMBERS, stride, 1, BLOCK=1024)),
            ("writing", 8, partial(copy[grid], x, z, NUMBERS, 1, stride, BLOCK=1024)),
        ):
            took = guarded(name, partial(seconds, launch))
            if took is not None:
                first = first or took
                rate = bytes_each * NUMBERS / took / 1e9
                print(f"{name}, stride {stride}: {took * 1e6:.1f} us, {rate:.0f} GB/s", flush=True)
                lines[name].append((stride, rate))
    print(lines)
    shown = {"addition": lines["addition"]}
    print(chart("18_strides", x="stride, in numbers", y="GB/s used", lines=shown, log_x=True, log_y=True))
    return first


def best(a: Any, b: Any, c: Any, height: int, width: int) -> float:
    """Return the seconds of the product with tiles of that size, with the fastest of some settings."""
    found = []
    for depth, warps, stages in settings(height * width, a.element_size()):
        launch = partial(
            product[(SIZE // height, SIZE // width)],
            *(a, b, c, SIZE, height, width, depth, "ieee"),
            num_warps=warps,
            num_stages=stages,
        )
        took = guarded(f"{height} x {width}", partial(seconds, launch, 3))
        if took is not None:
            print(f"  {height} x {width}, {depth=} {warps=} {stages=}: {took * 1e3:.3f} ms", flush=True)
            found.append((took, launch))
    return seconds(min(found, key=lambda one: one[0])[1])


def settings(tile: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Return depths, warps and stages to try for tiles of so many numbers, of so many bytes each."""
    warps = {256: (1, 2), 1024: (1, 2, 4), 4096: (4,), 16384: (4, 8), 32768: (8,)}[tile]
    if size == 4:  # large tiles of float32 are slow to compile
        return itertools.product((16, 32) if tile <= 1024 else (16,), warps[-2:], (2,))
    return itertools.product((32, 64), warps, (3, 4) if tile >= 16384 else (3,))


def written(a: Any, b: Any, c: Any, name: str) -> float:
    """Return the seconds of a kernel of the CUDA C above."""
    kernel = torch.cuda._compile_kernel(CUDA, name)
    return seconds(partial(kernel, (SIZE // 32, SIZE // 32, 1), (32, 32, 1), [a, b, c, SIZE]), 5)


def tiles(numbers: str, dtype: Any, roof: float) -> list[dict[str, object]]:
    """Return a row for each program and tile."""
    torch.manual_seed(18)
    a, b = (torch.randn(SIZE, SIZE, device="cuda").to(dtype) for _ in range(2))
    c, exact = torch.empty_like(a), a[:64].double() @ b.double()
    tried: list[tuple[str, str, Callable[[], float]]] = []
    if dtype == torch.float32:
        tried += [
            ("CUDA C", "none, neighbours down a column", partial(written, a, b, c, "down")),
            ("CUDA C", "none, neighbours along a row", partial(written, a, b, c, "along")),
            ("CUDA C", "32 x 32", partial(written, a, b, c, "tiled")),
        ]
    for height, width in SHAPES[: 4 if dtype == torch.float32 else 5]:
        tried.append(("Triton", f"{height} x {width}", partial(best, a, b, c, height, width)))
    tried.append(("PyTorch (cuBLAS)", "its own", partial(seconds, partial(torch.matmul, a, b, out=c))))
    rows: list[dict[str, object]] = []
    for program, tile, measure in tried:
        c.zero_()
        took = guarded(f"{program}, {tile}", measure)
        if took is None:
            continue
        error = ((c[:64].double() - exact).abs().max() / exact.abs().max()).item()
        rate = 2 * SIZE**3 / took
        rows.append(
            {
                "program": program,
                "numbers": numbers,
                "tile": tile,
                "ms": float(f"{took * 1000:.3g}"),
                "TFLOP/s": float(f"{rate / 1e12:.3g}"),
                "% of the roof": float(f"{rate / roof * 100:.2g}"),
            }
        )
        print(rows[-1], f"largest error {error:.0e}", flush=True)
    return rows


def roofs(took: float) -> None:
    """Record the addition's rate beside the roofs."""
    rate, moved = NUMBERS / took, 12 * NUMBERS / took
    row = {
        "step": "addition",
        "ms": float(f"{took * 1000:.3g}"),
        "TFLOP/s": float(f"{rate / 1e12:.3g}"),
        "% of float32's roof": float(f"{rate / FLOAT32 * 100:.2g}"),
        "% of bfloat16's roof": float(f"{rate / BFLOAT16 * 100:.2g}"),
        "TB/s": float(f"{moved / 1e12:.3g}"),
        "% of the memory's roof": float(f"{moved / BANDWIDTH * 100:.3g}"),
    }
    print(figures("18_addition", [row]))


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__, flush=True)
    first = guarded("strides", strides)
    if first:
        guarded("roofs", partial(roofs, first))
    torch.cuda.empty_cache()
    rows = []
    for numbers, dtype, roof in (("float32", torch.float32, FLOAT32), ("bfloat16", torch.bfloat16, BFLOAT16)):
        rows += guarded(numbers, partial(tiles, numbers, dtype, roof)) or []
    print(figures("18_tiles", rows))
