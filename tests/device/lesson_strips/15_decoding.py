import torch
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention

WORDS, LAYERS, WIDTH, HEADS, LENGTH = 50_257, 48, 1600, 25, 2048  # the sizes of GPT-2 XL
SIZE, ROOM = WIDTH // HEADS, 256  # numbers of a head; places in the cache


def random(*shape):
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16) / 50


words, places = random(WORDS, WIDTH), random(LENGTH, WIDTH)
shapes = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)]
blocks = [[random(*shape) for shape in shapes] for _ in range(LAYERS)]
cache = torch.zeros(LAYERS, 2, HEADS, ROOM, SIZE, device="cuda", dtype=torch.bfloat16)
numbers = torch.arange(LENGTH, device="cuda")
prompt = torch.randint(WORDS, (LENGTH,), device="cuda")
token, place = prompt[:1].clone(), numbers[:1].clone()


def gpt(tokens, at, attend):
    """The likeliest next token after these."""
    x = words[tokens] + places[at]
    for number, (qkv, out, wide, narrow) in enumerate(blocks):
        parts = linear(layer_norm(x, [WIDTH]), qkv).view(-1, 3, HEADS, SIZE).permute(1, 2, 0, 3)
        x = x + linear(attend(number, *parts).transpose(0, 1).reshape(-1, WIDTH), out)
        x = x + linear(gelu(linear(layer_norm(x, [WIDTH]), wide)), narrow)
    return linear(layer_norm(x[-1:], [WIDTH]), words).argmax(-1)


def all_at_once(number, queries, keys, values):
    return scaled_dot_product_attention(queries[None], keys[None], values[None], is_causal=True)[0]


def from_cache(number, queries, keys, values):
    cache[number, 0].index_copy_(1, place, keys)
    cache[number, 1].index_copy_(1, place, values)
    scores = queries @ cache[number, 0].transpose(1, 2) / SIZE**0.5
    return scores.masked_fill(numbers[:ROOM] > place, -1e9).softmax(-1) @ cache[number, 1]


def step():
    token.copy_(gpt(token, place, from_cache))
    place.add_(1)


gpt(prompt, numbers, all_at_once)
aside = torch.cuda.Stream()
with torch.cuda.stream(aside):
    for _ in range(3):
        step()
torch.cuda.synchronize()
recorded = torch.cuda.CUDAGraph()
with torch.cuda.graph(recorded):
    step()
recorded.replay()
torch.cuda.synchronize()
# %%
for _ in range(20):
    gpt(prompt, numbers, all_at_once)  # 2,048 tokens at once
torch.cuda.synchronize()
# %%
place.zero_()
for _ in range(100):
    step()  # one token
torch.cuda.synchronize()
# %%
place.zero_()
for _ in range(100):
    recorded.replay()  # one token
torch.cuda.synchronize()
