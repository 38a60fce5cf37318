import torch
from torch.nn.functional import scaled_dot_product_attention

HEADS, SIZE = 4, 64


def random(length):
    return [torch.rand(1, HEADS, length, SIZE, device="cuda") for _ in range(3)]


def attend(queries, keys, values):
    scores = queries @ keys.transpose(-1, -2) / SIZE**0.5
    return torch.softmax(scores, -1) @ values


short, long = random(64), random(16_384)
attend(*short), attend(*long), scaled_dot_product_attention(*long)
# %%
for _ in range(10_000):
    attend(*short)
torch.cuda.synchronize()
# %%
for _ in range(50):
    attend(*long)
torch.cuda.synchronize()
# %%
for _ in range(50):
    scaled_dot_product_attention(*long)
torch.cuda.synchronize()
