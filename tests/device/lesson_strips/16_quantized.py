import torch
from torch.nn.functional import linear

torch._inductor.config.coordinate_descent_tuning = True  # fuses a product with one row, as gpt-fast does
x = torch.randn(1, 16384, device="cuda", dtype=torch.bfloat16)
scale = torch.rand(16384, device="cuda", dtype=torch.bfloat16)
in_bf16 = [torch.randn(16384, 16384, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
in_int8 = [torch.randint(-127, 128, (16384, 16384), device="cuda", dtype=torch.int8) for _ in range(4)]


def of_bf16(w):
    return linear(x, w)


def of_int8(w):
    return linear(x, w.to(torch.bfloat16)) * scale


fused = torch.compile(of_int8)


def run(product, weights):
    for _ in range(800):
        for w in weights:
            product(w)
    torch.cuda.synchronize()


of_bf16(in_bf16[0]), of_int8(in_int8[0]), fused(in_int8[0])
# %%
run(of_bf16, in_bf16)
# %%
run(of_int8, in_int8)
# %%
run(fused, in_int8)
