"""Measures a matrix times a vector in bf16, int8 and int4 on a GPU, and all the products of a Llama 3 8B."""

import statistics
import traceback
from functools import partial

import torch
import triton
import triton.language as tl
from torch.nn.functional import linear

from jupyter_mlgpu.lessons import figures

SIDE, GROUP, MATRICES, ROUNDS = 16384, 32, 4, 25
BF16 = torch.bfloat16

# Without it PyTorch's compiler leaves a product with one row to a library, and fuses nothing into it.
torch._inductor.config.coordinate_descent_tuning = True


@triton.jit
def int8_kernel(x, weights, scale, out, columns, block: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((block,), tl.float32)
    for start in range(0, columns, block):
        place = start + tl.arange(0, block)
        weight = tl.load(weights + row * columns + place).to(tl.float32)
        total += weight * tl.load(x + place).to(tl.float32)
    tl.store(out + row, tl.sum(total) * tl.load(scale + row).to(tl.float32))


@triton.jit
def int4_kernel(pairs, packed, scales, out, half, groups: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros((groups, 16), tl.float32)
    for start in range(0, half // 16, groups):
        group = start + tl.arange(0, groups)
        place = group[:, None] * 16 + tl.arange(0, 16)[None, :]
        two = tl.load(packed + row * half + place).to(tl.int32)
        # 0x4B000000 is 8388608 in float32, its last bit worth 1: quicker than turning integers.
        low = ((two & 15) | 0x4B000000).to(tl.float32, bitcast=True) - 8388616.0
        high = ((two >> 4) | 0x4B000000).to(tl.float32, bitcast=True) - 8388616.0
        both = tl.load(pairs + place)  # two numbers of x in bf16, which is the upper half of float32
        first = (both << 16).to(tl.float32, bitcast=True)
        second = (both & -65536).to(tl.float32, bitcast=True)
        scale = tl.load(scales + row * (half // 16) + group).to(tl.float32)
        total += scale[:, None] * (low * first + high * second)
    tl.store(out + row, tl.sum(tl.sum(total, axis=1), axis=0))


def in_bf16(x, w):
    return linear(x, w)


def int8_eager(x, w, scale):
    return linear(x, w.to(BF16)) * scale


int8_compiled = torch.compile(int8_eager, dynamic=False)


def int8_triton(x, w, scale):
    out = torch.empty(1, w.shape[0], device=x.device, dtype=BF16)
    int8_kernel[(w.shape[0],)](x, w, scale, out, w.shape[1], block=2048)
    return out


def int4_triton(x, packed, scales):
    number, half = packed.shape
    out = torch.empty(1, number, device=x.device, dtype=BF16)
    int4_kernel[(number,)](x.view(torch.int32), packed, scales, out, half, groups=64)
    return out


def int4_pytorch(x, packed, scales_and_zeros):
    return torch.ops.aten._weight_int4pack_mm(x, packed, GROUP, scales_and_zeros)


def random_int8(rows, columns):
    """Weights from -127 to 127, and a scale for each row, such that they are like those of a network."""
    weights = torch.randint(-127, 128, (rows, columns), device="cuda", dtype=torch.int8)
    return weights, torch.full((rows,), 1 / (127 * columns**0.5), device="cuda", dtype=BF16)


def random_int4(rows, columns):
    """Two weights in a byte, from 0 to 15 for -8 to 7, and a scale for each group of 32."""
    packed = torch.randint(0, 256, (rows, columns // 2), device="cuda", dtype=torch.uint8)
    scales = torch.rand(rows, columns // GROUP, device="cuda") / (8 * columns**0.5)
    return packed, scales.to(BF16)


def unpacked(packed, scales):
    """The same weights in float32."""
    pairs = torch.stack([packed & 15, packed >> 4], dim=-1).flatten(1).float() - 8
    return pairs * scales.float().repeat_interleave(GROUP, dim=1)


def for_pytorch(packed, scales):
    """The same weights in the order of PyTorch's kernel, whose first weight of a byte is the high one.

    The kernel takes a scale and an offset for each group, 16 bits each: 5 bits a weight, 0.625 bytes.
    """
    turned = ((packed & 15) << 4) | (packed >> 4)
    pairs = torch.stack([scales, torch.zeros_like(scales)], dim=-1).transpose(0, 1).contiguous()
    return torch.ops.aten._convert_weight_to_int4pack(turned, 8), pairs


def microseconds(work, times):
    """The median of seven timings of `work`, each with all its products, divided by how many these are."""
    for _ in range(3):
        work()
    taken = []
    for _ in range(7):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(ROUNDS):
            work()
        end.record()
        torch.cuda.synchronize()
        taken.append(start.elapsed_time(end) * 1000 / (ROUNDS * times))
    return statistics.median(taken)


def all_products(product, given):
    for one in given:
        product(*one)


def one_matrix():
    """Rows of the first table: a product of a 16384 x 16384 matrix with a vector."""
    torch.manual_seed(0)
    x = torch.randn(1, SIDE, device="cuda", dtype=BF16)
    in_int8 = [random_int8(SIDE, SIDE) for _ in range(MATRICES)]
    in_int4 = [random_int4(SIDE, SIDE) for _ in range(MATRICES)]
    dense = [((w.to(BF16) * scale[:, None]),) for w, scale in in_int8]
    right8 = linear(x.float(), in_int8[0][0].float() * in_int8[0][1].float()[:, None])
    right4 = linear(x.float(), unpacked(*in_int4[0]))
    pytorch4 = "int4 in groups of 32, PyTorch's kernel"
    cases = [
        ("bf16", in_bf16, lambda: dense, 2, right8),
        ("int8, turned into bf16 first", int8_eager, lambda: in_int8, 1, right8),
        ("int8, the same with torch.compile", int8_compiled, lambda: in_int8, 1, right8),
        ("int8, a kernel in Triton", int8_triton, lambda: in_int8, 1, right8),
        ("int4 in groups of 32, a kernel in Triton", int4_triton, lambda: in_int4, 0.5625, right4),
        (pytorch4, int4_pytorch, lambda: [for_pytorch(*w) for w in in_int4], 0.625, right4),
    ]
    rows, first = [], None
    for name, product, weights, width, right in cases:
        try:
            matrices = weights()
            error = ((product(x, *matrices[0]).float() - right).norm() / right.norm()).item()
            print(name, "relative error of the result", error, flush=True)
            if error > 0.05:
                print("WRONG result, left out")
                continue
            one = microseconds(partial(all_products, product, [(x, *w) for w in matrices]), MATRICES)
        except Exception:
            traceback.print_exc()
            continue
        first = first or one
        rows.append(
            {
                "weights": name,
                "MB": round(width * SIDE**2 / 1e6),
                "µs": round(one, 1),
                "GB/s of weights": round(width * SIDE**2 / one / 1000),
                "times as fast": f"{first / one:.2f}",
            }
        )
        print(rows[-1], flush=True)
    return rows


def llama():
    """Rows of the second table: the 225 products that a token of Llama 3 8B needs, without the attention."""
    shapes = [(4096, 4096), (1024, 4096), (1024, 4096), (4096, 4096)]
    shapes += [(14336, 4096), (14336, 4096), (4096, 14336)]
    shapes = 32 * shapes + [(128256, 4096)]
    count = sum(rows * columns for rows, columns in shapes)
    inputs = {columns: torch.randn(1, columns, device="cuda", dtype=BF16) for columns in (4096, 14336)}
    cases = [
        ("bf16", in_bf16, lambda n, k: (torch.randn(n, k, device="cuda", dtype=BF16),), 2),
        ("int8, torch.compile", int8_compiled, random_int8, 1),
        ("int4, PyTorch's kernel", int4_pytorch, lambda n, k: for_pytorch(*random_int4(n, k)), 0.625),
    ]
    rows = []
    for name, product, random, width in cases:
        try:
            weights = [(inputs[columns], *random(number, columns)) for number, columns in shapes]
            token = partial(all_products, product, weights)
            aside = torch.cuda.Stream()
            with torch.cuda.stream(aside):
                for _ in range(3):
                    token()
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                token()
            one = microseconds(graph.replay, 1)
            graph, weights = None, None
            torch.cuda.empty_cache()
        except Exception:
            traceback.print_exc()
            torch.cuda.empty_cache()
            continue
        rows.append(
            {
                "weights": name,
                "GB": round(width * count / 1e9, 2),
                "tokens/s at best": round(4800e9 / (width * count)),
                "tokens/s": round(1e6 / one),
                "of the best": f"{1e6 / one * width * count / 4800e9:.0%}",
            }
        )
        print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    print(torch.cuda.get_device_name(), torch.__version__, triton.__version__)
    print(figures("16_gpu", one_matrix()))
    torch.cuda.empty_cache()
    print(figures("16_llama", llama()))
