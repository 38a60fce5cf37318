import torch
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention

WORDS, LAYERS, WIDTH, HEADS, LENGTH = 50_257, 32, 4096, 32, 2048  # the sizes of GPT-3 6.7B
SIZE, ROOM = WIDTH // HEADS, 256  # numbers of a head; places in the cache


def random(*shape):
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16) / 50


words, places = random(WORDS, WIDTH), random(LENGTH, WIDTH)
shapes = [(3 * WIDTH, WIDTH), (WIDTH, WIDTH), (4 * WIDTH, WIDTH), (WIDTH, 4 * WIDTH)]
blocks = [[random(*shape) for shape in shapes] for _ in range(LAYERS)]
cache = [[random(HEADS, ROOM, SIZE) for _ in range(2)] for _ in range(LAYERS)]
numbers = torch.arange(LENGTH, device="cuda")
prompt = torch.randint(WORDS, (LENGTH,), device="cuda")
token, place = prompt[:1].clone(), numbers[:1].clone()


def all_at_once(queries, keys, values, kept_keys, kept_values):
    return scaled_dot_product_attention(queries[None], keys[None], values[None], is_causal=True)[0]


def from_cache(query, key, value, keys, values):
    keys.index_copy_(1, place, key)
    values.index_copy_(1, place, value)
    scores = query @ keys.transpose(1, 2) / SIZE**0.5
    return scores.masked_fill(numbers[:ROOM] > place, -1e9).softmax(-1) @ values


def block(x, weights, kept, attend):
    qkv, out, wide, narrow = weights
    parts = linear(layer_norm(x, [WIDTH]), qkv).view(-1, 3, HEADS, SIZE).permute(1, 2, 0, 3)
    x = x + linear(attend(*parts, *kept).transpose(0, 1).reshape(-1, WIDTH), out)
    return x + linear(gelu(linear(layer_norm(x, [WIDTH]), wide)), narrow)


def gpt(tokens, at, attend, block=block):
    """The likeliest next token after these."""
    x = words[tokens] + places[at]
    for weights, kept in zip(blocks, cache, strict=True):
        x = block(x, weights, kept, attend)
    return linear(layer_norm(x[-1:], [WIDTH]), words).argmax(-1)


def step(block=block):
    """Write one token."""
    token.copy_(gpt(token, place, from_cache, block))
    place.add_(1)


def record(block):
    """A step as a CUDA graph."""
    step(block)
    aside = torch.cuda.Stream()
    with torch.cuda.stream(aside):
        for _ in range(3):
            step(block)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step(block)
    graph.replay()
    return graph


torch._inductor.config.coordinate_descent_tuning = (
    True  # makes products with one row itself, as gpt-fast does
)
recorded, fused = record(block), record(torch.compile(block, dynamic=False))
gpt(prompt, numbers, all_at_once)
torch.cuda.synchronize()
# %%
for _ in range(15):
    gpt(prompt, numbers, all_at_once)  # 2,048 tokens at once
torch.cuda.synchronize()
# %%
place.zero_()
for _ in range(60):
    step()  # one token, each operation launched by itself
torch.cuda.synchronize()
# %%
place.zero_()
for _ in range(120):
    recorded.replay()  # one token
torch.cuda.synchronize()
# %%
place.zero_()
for _ in range(120):
    fused.replay()  # one token, operations fused
torch.cuda.synchronize()
