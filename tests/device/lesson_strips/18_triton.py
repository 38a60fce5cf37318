import torch
import triton
import triton.language as tl


@triton.jit
def add(x, y, z, n, stride, BLOCK: tl.constexpr):  # constexpr: known when the kernel is compiled
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = place < n
    total = tl.load(x + place * stride, mask=inside) + tl.load(y + place * stride, mask=inside)
    tl.store(z + place * stride, total, mask=inside)


@triton.jit
def product(a, b, c, n, TILE: tl.constexpr, DEPTH: tl.constexpr):
    rows = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    columns = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    inner = tl.arange(0, DEPTH)  # a thin slice: DEPTH columns of a, DEPTH rows of b
    total = tl.zeros((TILE, TILE), tl.float32)
    for first in range(0, n, DEPTH):
        left = tl.load(a + rows * n + first + inner[None, :])
        right = tl.load(b + (first + inner[:, None]) * n + columns)
        total = tl.dot(left, right, total)
    tl.store(c + rows * n + columns, total.to(tl.bfloat16))


def additions(stride):
    for _ in range(3000):
        add[(NUMBERS // 1024,)](x, y, z, NUMBERS, stride, BLOCK=1024)
    torch.cuda.synchronize()


def products(tile, warps):
    for _ in range(1500):
        product[(SIZE // tile, SIZE // tile)](a, b, c, SIZE, TILE=tile, DEPTH=64, num_warps=warps)
    torch.cuda.synchronize()


NUMBERS, SIZE = 2**25, 4096
x, y, z = (torch.rand(4 * NUMBERS, device="cuda") for _ in range(3))
a, b, c = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(3))
additions(1), additions(4), products(32, 1), products(128, 4)
# %%
additions(stride=1)
# %%
additions(stride=4)
# %%
products(tile=32, warps=1)
# %%
products(tile=128, warps=4)
