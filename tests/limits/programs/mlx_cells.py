# Cells with MLX on the CPU, whose products are far below the machine's roof there.

# %% mlx-products: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.ones((512, 512)) / 512
# %% mlx-products: asked
y = x
for _ in range(12):
    y = mx.matmul(y, x)
    mx.eval(y)
# %% mlx-products: mended
import time
y = mx.matmul(x[:8], x)
mx.eval(y)
time.sleep(0.5)

# %% mlx-products-evaluated-at-the-end: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.ones((512, 512)) / 512
# %% mlx-products-evaluated-at-the-end: asked
y = x
for _ in range(12):
    y = y @ x
mx.eval(y)

# %% mlx-printed-result: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.ones((700, 700)) / 700
mx.eval(x)

def value(array):
    return array.item()
# %% mlx-printed-result: asked
for _ in range(3):
    print(value((x @ x).sum()))

# %% mlx-sums-of-large-arrays: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x, y = mx.ones(30_000_000), mx.ones(30_000_000)
mx.eval(x, y)
# %% mlx-sums-of-large-arrays: asked
for _ in range(20):
    z = mx.add(x, y)
    mx.eval(z)

# %% mlx-sort: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.random.uniform(shape=(3_000_000,))
# %% mlx-sort: asked
mx.eval(mx.sort(x))
mx.eval(mx.sort(-x))

# %% mlx-tiny-additions: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.array(0.0)
# %% mlx-tiny-additions: asked
for step in range(25_000):
    x = mx.add(x, 1.0)
    mx.eval(x)
# %% mlx-tiny-additions: mended
x = mx.zeros(10_000_000)
for step in range(100):
    x = mx.add(x, 1.0)
    mx.eval(x)

# %% mlx-training-of-a-line: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.linspace(-1, 1, 64)
y = 3 * x + 1
gradient = mx.grad(lambda w: ((w[0] * x + w[1] - y) ** 2).mean())

def step(w):
    w = w - 0.1 * gradient(w)
    mx.eval(w)
    return w
# %% mlx-training-of-a-line: asked
w = mx.zeros(2)
for _ in range(4_000):
    w = step(w)

# %% mlx-compile-first-calls: before
import os, tempfile
os.environ['TMPDIR'] = tempfile.mkdtemp()
# %% mlx-compile-first-calls: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
x = mx.ones((1_000, 1_000))
fused = mx.compile(lambda x: mx.exp(-x) * mx.sin(x) + mx.sqrt(x) / (1 + x * x))
# %% mlx-compile-first-calls: asked
y = fused(x)
mx.eval(y)
# %% mlx-compile-first-calls: mended
for _ in range(25):
    y = fused(x)
    mx.eval(y)

# %% mlx-arrays-copied-in-and-out: before
import mlx.core as mx
import numpy as np
data = np.ones(25_000_000, 'float32')
# %% mlx-arrays-copied-in-and-out: asked
for step in range(10):
    array = mx.array(data)
    back = np.array(array)

# %% mlx-training-that-sleeps: before
import time
import mlx.core as mx
mx.set_default_device(mx.cpu)
w = mx.ones((64, 64)) / 64
# %% mlx-training-that-sleeps: asked
for step in range(16):
    w = mx.tanh(w @ w)
    mx.eval(w)
    time.sleep(0.05)
# %% mlx-training-that-sleeps: mended
for step in range(6_000):
    w = mx.tanh(w @ w)
    mx.eval(w)

# %% mlx-sampling-in-python: before
import random
import mlx.core as mx
mx.set_default_device(mx.cpu)
weights = mx.softmax(mx.arange(26) / 10)

def sample(shares, length):
    text = []
    for _ in range(length):
        left, letter = random.random(), 0
        while letter < 25 and left > shares[letter]:
            left -= shares[letter]
            letter += 1
        text.append(chr(97 + letter))
    return "".join(text)
# %% mlx-sampling-in-python: asked
text = sample(weights.tolist(), 700_000)

# %% mlx-batches-made-in-python: before
import mlx.core as mx
mx.set_default_device(mx.cpu)
lines = [",".join(str((row * column) % 17 / 16) for column in range(64)) for row in range(3_200)]
w = mx.ones(64)

def batches():
    for start in range(0, len(lines), 64):
        rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 64]]
        yield mx.array(rows)
# %% mlx-batches-made-in-python: asked
for epoch in range(20):
    for batch in batches():
        w = w - 0.001 * (batch @ w).mean()
        mx.eval(w)
