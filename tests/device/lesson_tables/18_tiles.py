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
SHAPES = ((32, 32), (64, 64), (128, 128), (128, 256))
#: Sides of a block's tile and of the square of sums of a thread. Each differs from the last in one of them.
THREADS_TILES = ((32, 1), (32, 2), (32, 4), (128, 4), (128, 8))
#: NVIDIA's data sheet of the H200 SXM: dense tensor cores in bfloat16, ordinary cores in float32.
BFLOAT16, FLOAT32 = 989e12, 67e12


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
"""

#: A thread computes R x R numbers of a tile of T x T; 32 columns of a and 32 rows of b are fetched at a time.
REGISTERS = r"""
extern "C" __launch_bounds__(T / R * T / R) __global__ void registers(
    const float* a, const float* b, float* c, int n
) {
    __shared__ float left[T][33], right[32][T];  // 33: rows begin in different banks
    const int threads = T / R, x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * T, column = blockIdx.x * T;
    float total[R][R] = {};
    for (int first = 0; first < n; first += 32) {
        for (int at = y * threads + x; at < T * 32; at += threads * threads) {
            left[at / 32][at % 32] = a[(row + at / 32) * n + first + at % 32];
            right[at / T][at % T] = b[(first + at / T) * n + column + at % T];
        }
        __syncthreads();
        for (int k = 0; k < 32; k++) {
            float of_a[R], of_b[R];
            for (int i = 0; i < R; i++) of_a[i] = left[y + i * threads][k];
            for (int j = 0; j < R; j++) of_b[j] = right[k][x + j * threads];
            for (int i = 0; i < R; i++)
                for (int j = 0; j < R; j++) total[i][j] += of_a[i] * of_b[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) c[(row + y + i * threads) * n + column + x + j * threads] = total[i][j];
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
    print(chart("18_strides", x="stride, in numbers", y="GB/s used", lines=lines, log_x=True, log_y=True))
    return first


def best(a: Any, b: Any, c: Any, height: int, width: int) -> float:
    """Return the seconds of the product with tiles of that size, with the fastest of some settings."""
    found = []
    size = len(a)
    for depth, warps, stages in settings(height * width, a.element_size()):
        launch = partial(
            product[(size // height, size // width)],
            *(a, b, c, size, height, width, depth, "ieee"),
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
    warps = {1024: (1, 2, 4), 4096: (2, 4, 8), 16384: (4, 8), 32768: (8,)}[tile]
    if size == 4:
        return itertools.product((16, 32), warps, (2, 3))
    return itertools.product((32, 64), warps, (3, 4) if tile >= 16384 else (3,))


def written(a: Any, b: Any, c: Any, name: str) -> float:
    """Return the seconds of a kernel of the CUDA C above."""
    kernel = torch.cuda._compile_kernel(CUDA, name)
    blocks = len(a) // 32
    return seconds(partial(kernel, (blocks, blocks, 1), (32, 32, 1), [a, b, c, len(a)]), 5)


def in_registers(a: Any, b: Any, c: Any, tile: int, each: int) -> float:
    """Return the seconds of the kernel whose threads compute `each` x `each` numbers of a tile."""
    source = f"#define T {tile}\n#define R {each}\n{REGISTERS}"
    kernel = torch.cuda._compile_kernel(source, "registers")
    blocks, threads = len(a) // tile, tile // each
    return seconds(partial(kernel, (blocks, blocks, 1), (threads, threads, 1), [a, b, c, len(a)]), 5)


def tiles(numbers: str, dtype: Any, roof: float, size: int) -> list[dict[str, object]]:
    """Return a row for each program and tile."""
    torch.manual_seed(18)
    a, b = (torch.randn(size, size, device="cuda").to(dtype) for _ in range(2))
    c, exact = torch.empty_like(a), a[:64].double() @ b.double()
    tried: list[tuple[str, str, Callable[[], float]]] = []
    if dtype == torch.float32:
        tried += [
            ("CUDA C", "none, neighbours down a column", partial(written, a, b, c, "down")),
            ("CUDA C", "none, neighbours along a row", partial(written, a, b, c, "along")),
        ]
        for tile, each in THREADS_TILES:
            name = f"{tile} x {tile}" if each == 1 else f"{tile} x {tile}, {each} x {each} a thread"
            tried.append(("CUDA C", name, partial(in_registers, a, b, c, tile, each)))
    for height, width in SHAPES[: 3 if dtype == torch.float32 else 4]:
        tried.append(("Triton", f"{height} x {width}", partial(best, a, b, c, height, width)))
    tried.append(("PyTorch (cuBLAS)", "its own", partial(seconds, partial(torch.matmul, a, b, out=c))))
    rows: list[dict[str, object]] = []
    for program, tile, measure in tried:
        c.zero_()
        took = guarded(f"{program}, {tile}", measure)
        if took is None:
            continue
        error = ((c[:64].double() - exact).abs().max() / exact.abs().max()).item()
        rows.append(row_of(program, numbers, tile, took, 2 * size**3, roof))
        print(rows[-1], f"largest error {error:.0e}", flush=True)
    return rows


def row_of(
    program: str, numbers: str, tile: str, took: float, operations: int, roof: float
) -> dict[str, object]:
    rate = operations / took
    return {
        "program": program,
        "numbers": numbers,
        "tile": tile,
        "ms": float(f"{took * 1000:.3g}"),
        "TFLOP/s": float(f"{rate / 1e12:.3g}"),
        "% of the roof": float(f"{rate / roof * 100:.2g}"),
    }


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__, flush=True)
    first = guarded("strides", strides)
    torch.cuda.empty_cache()
    rows = guarded("float32", partial(tiles, "float32", torch.float32, FLOAT32, SIZE)) or []
    both = [*rows, *(guarded("bfloat16", partial(tiles, "bfloat16", torch.bfloat16, BFLOAT16, SIZE)) or [])]
    if first:
        both.insert(0, row_of("Triton: addition", "float32", "none", first, NUMBERS, FLOAT32))
    print(figures("18_tiles", both))
