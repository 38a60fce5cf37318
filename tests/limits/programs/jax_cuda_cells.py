# Cells with JAX on a CUDA GPU, each a second or more on one of NVIDIA's H100 class.
# JAX takes what it needs of the memory, not three quarters, and has started.

# %% JAX_CUDA
import os
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
import jax, jax.numpy as jnp
import numpy as np
y = (jnp.ones((64, 64)) @ jnp.ones((64, 64))).block_until_ready()

# %% cuda-jax-first-call-of-a-jitted-function: JAX_CUDA, before
w = jnp.ones((2_048, 2_048), jnp.bfloat16) / 2_048
x = jnp.ones((4_096, 2_048), jnp.bfloat16)

@jax.jit
def network(x):
    for layer in range(100):
        x = jnp.tanh(x @ w) + x * layer
    return x.sum()
# %% cuda-jax-first-call-of-a-jitted-function: asked
y = network(x).block_until_ready()
# %% cuda-jax-first-call-of-a-jitted-function: mended
for _ in range(150):
    y = network(x)
jax.block_until_ready(y)

# %% cuda-jax-compiled-for-each-length: JAX_CUDA, before
sentences = [np.ones((length, 64), "float32") for length in range(5, 13)]

@jax.jit
def attend(x):
    for head in range(3):
        x = jax.nn.softmax(x @ x.T) @ x
    return x.mean()
# %% cuda-jax-compiled-for-each-length: asked
means = [float(attend(sentence)) for sentence in sentences]

# %% cuda-jax-steps-that-sleep: JAX_CUDA, before
import time
step = jax.jit(lambda x: jnp.tanh(x @ x))
x = step(jnp.ones((64, 64)) / 64)
# %% cuda-jax-steps-that-sleep: asked
for _ in range(24):
    x = step(x).block_until_ready()
    time.sleep(0.05)

# %% cuda-jax-search-in-python: JAX_CUDA, before
board = (jnp.arange(1_440_000) % 7 > 0).reshape(1_200, 1_200)

def search(rows):
    seen, waiting = {(0, 1)}, [(0, 1)]
    while waiting:
        row, column = waiting.pop()
        for place in ((row + 1, column), (row, column + 1), (row - 1, column), (row, column - 1)):
            inside = 0 <= place[0] < 1_200 and 0 <= place[1] < 1_200
            if inside and place not in seen and rows[place[0]][place[1]]:
                seen.add(place)
                waiting.append(place)
    return len(seen)
# %% cuda-jax-search-in-python: asked
rows = board.tolist()
print(board.sum(), search(rows))

# %% cuda-jax-batches-made-in-python: JAX_CUDA, before
lines = [",".join(str((row * column) % 17 / 16) for column in range(64)) for row in range(3_200)]

def batches():
    for start in range(0, len(lines), 64):
        rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 64]]
        yield np.array(rows, dtype="float32")

@jax.jit
def step(w, batch):
    return w - 0.01 * jax.grad(lambda w: ((batch @ w) ** 2).mean())(w)

w = step(jnp.ones(64), np.ones((64, 64), "float32"))
# %% cuda-jax-batches-made-in-python: asked
for epoch in range(50):
    for batch in batches():
        w = step(w, batch)

# %% cuda-jax-copied-to-the-gpu-at-each-step: JAX_CUDA, before
batch = np.ones(250_000_000, "float32")
total = jax.jit(jnp.sum)

def upload(batch):
    return jax.device_put(batch).block_until_ready()

y = total(upload(batch))
# %% cuda-jax-copied-to-the-gpu-at-each-step: asked
sums = [float(total(upload(batch))) for step in range(8)]
# %% cuda-jax-copied-to-the-gpu-at-each-step: mended
there = upload(batch)
for step in range(2_500):
    y = total(there)
jax.block_until_ready(y)

# %% cuda-jax-tiny-additions: JAX_CUDA, before
x = jnp.add(jnp.zeros(()), 1.0)
# %% cuda-jax-tiny-additions: asked
for step in range(50_000):
    x = jnp.add(x, 1.0)
jax.block_until_ready(x)
# %% cuda-jax-tiny-additions: mended
x = jnp.zeros(500_000_000)
for step in range(700):
    x = jnp.add(x, 1.0)
jax.block_until_ready(x)

# %% cuda-jax-products: JAX_CUDA, before
x = jnp.ones((8_192, 8_192), jnp.bfloat16) / 8_192
product = jax.jit(jnp.matmul)
y = product(x, x).block_until_ready()
# %% cuda-jax-products: asked
for _ in range(800):
    y = product(y, x)
y = jax.block_until_ready(y)
# %% cuda-jax-products: mended
import time
y = jax.block_until_ready(product(y, x))
time.sleep(1)

# %% cuda-jax-sums-of-large-arrays: JAX_CUDA, before
x, y = jnp.ones(500_000_000), jnp.ones(500_000_000)
z = jnp.add(x, y).block_until_ready()
# %% cuda-jax-sums-of-large-arrays: asked
for _ in range(600):
    z = jnp.add(x, y)
z = jax.block_until_ready(z)

# %% cuda-jax-another-program-on-the-gpu: JAX_CUDA, before
x = jnp.ones((8_192, 8_192), jnp.bfloat16) / 8_192
product = jax.jit(jnp.matmul)
y = product(x, x).block_until_ready()
# %% cuda-jax-another-program-on-the-gpu: asked
for _ in range(300):
    y = product(y, x)
y = jax.block_until_ready(y)
# %% cuda-jax-another-program-on-the-gpu: mended
for _ in range(300):
    y = product(y, x)
y = jax.block_until_ready(y)

# %% cuda-jax-learning-rate-as-a-static-argument: JAX_CUDA, before
import functools
x = jnp.ones((16_384, 1_024))
layers = [jnp.ones((1_024, 1_024)) / 1_024 for _ in range(2)]

def loss(layers, y):
    for w in layers:
        y = jnp.tanh(y @ w)
    return (y**2).mean()

def descend(layers, x, rate):
    return [w - rate * slope for w, slope in zip(layers, jax.grad(loss)(layers, x))]

step = functools.partial(jax.jit, static_argnames="rate")(descend)
layers = jax.block_until_ready(step(layers, x, rate=1.0))
# %% cuda-jax-learning-rate-as-a-static-argument: asked
for epoch in range(7):
    layers = step(layers, x, rate=0.1 * 0.9**epoch)
layers = jax.block_until_ready(layers)
# %% cuda-jax-learning-rate-as-a-static-argument: before mended
step = jax.jit(descend)
layers = jax.block_until_ready(step(layers, x, rate=0.1))
# %% cuda-jax-learning-rate-as-a-static-argument: mended
for epoch in range(1_000):
    layers = step(layers, x, rate=0.1 * 0.9**epoch)
layers = jax.block_until_ready(layers)

# %% cuda-jax-metrics-sent-again-and-again: JAX_CUDA, before
import time
class Tracker:
    def __init__(self):
        self.asked, self.losses = 0, []

    def send(self, loss):
        self.asked += 1
        if self.asked % 4:
            raise ConnectionError("429 Too Many Requests")
        self.losses.append(loss)

def send_patiently(tracker, loss, pause=0.1):
    while True:
        try:
            return tracker.send(loss)
        except ConnectionError:
            time.sleep(pause)
            pause *= 2

@jax.jit
def step(w):
    loss, slope = jax.value_and_grad(lambda w: (jnp.tanh(w @ w) ** 2).mean())(w)
    return w - 0.1 * slope, loss

w, loss = step(jnp.ones((64, 64)) / 64)
w, loss = step(w)
print(float(loss))
# %% cuda-jax-metrics-sent-again-and-again: asked
tracker = Tracker()
for epoch in range(3):
    w, loss = step(w)
    send_patiently(tracker, float(loss))

# %% cuda-jax-points-joined-in-python: JAX_CUDA, before
features = jax.random.normal(jax.random.key(0), (3_500, 64))
place = jax.jit(lambda features: jnp.tanh(features @ jnp.ones((64, 2)) / 8 + features[:, :2]))
points = place(features).tolist()

def spanning_tree(points):
    open_ends = {number: (float("inf"), 0) for number in range(1, len(points))}
    last, edges = 0, []
    while open_ends:
        x, y = points[last]
        for number, (distance, _) in open_ends.items():
            a, b = points[number]
            square = (a - x) * (a - x) + (b - y) * (b - y)
            if square < distance:
                open_ends[number] = (square, last)
        nearest = min(open_ends, key=open_ends.get)
        edges.append((open_ends.pop(nearest)[1], nearest))
        last = nearest
    return edges
# %% cuda-jax-points-joined-in-python: asked
points = place(features).tolist()
print(spanning_tree(points)[:5])

# %% cuda-jax-threads-that-count-words: JAX_CUDA, before
import queue, threading
texts = [f"Review {number}: the plot is thin, but its music (and the last scene!) is fine. " * 12
         for number in range(16_000)]

def counted(text):
    counts, code = [0.0] * 256, 0
    for letter in text.lower():
        if letter.isalnum():
            code = code * 31 + ord(letter)
        elif code:
            counts[code % 256] += 1
            code = 0
    return counts

def produce(texts, ready):
    for start in range(0, len(texts), 1_000):
        counts = [counted(text) for text in texts[start:start + 1_000]]
        ready.put(np.array(counts, dtype="float32"))
    ready.put(None)

@jax.jit
def step(w, batch):
    return w - 0.001 * jax.grad(lambda w: (jnp.tanh(batch @ w) ** 2).mean())(w)

w = step(jnp.ones(256) / 256, np.ones((1_000, 256), "float32"))
w = step(w, np.ones((1_000, 256), "float32")).block_until_ready()
# %% cuda-jax-threads-that-count-words: asked
ready = queue.Queue()
threads = [threading.Thread(target=produce, args=(texts[part::4], ready)) for part in range(4)]
for thread in threads:
    thread.start()
at_work = len(threads)
while at_work:
    if (batch := ready.get()) is None:
        at_work -= 1
    else:
        w = step(w, batch)
w = w.block_until_ready()

# %% cuda-jax-weights-fetched-after-each-step: JAX_CUDA, before
weights = {name: jnp.ones((8_192, 4_096)) for name in ("first", "middle", "last")}
step = jax.jit(lambda weights: jax.tree.map(lambda w: w * 0.999 + 0.001, weights))

def fetch(weights):
    return jax.device_get(weights)

weights = step(step(weights))
kept = fetch(weights)
# %% cuda-jax-weights-fetched-after-each-step: asked
for epoch in range(12):
    weights = step(weights)
    kept = fetch(weights)
# %% cuda-jax-weights-fetched-after-each-step: mended
for epoch in range(4_000):
    weights = step(weights)
weights = jax.block_until_ready(weights)
kept = fetch(weights)

# %% cuda-jax-pendulums-one-after-the-other: JAX_CUDA, before
@jax.jit
def move(pendulum):
    angle, speed = pendulum
    speed = speed - 0.01 * jnp.sin(angle)
    return angle + 0.01 * speed, speed

angles = list(jnp.linspace(0.1, 3.0, 100))
rest = jnp.zeros(())
pendulum = jax.block_until_ready(move(move((angles[0], rest))))
# %% cuda-jax-pendulums-one-after-the-other: asked
swung = []
for angle in angles:
    pendulum = angle, rest
    for moment in range(300):
        pendulum = move(pendulum)
    swung.append(pendulum)
swung = jax.block_until_ready(swung)
# %% cuda-jax-pendulums-one-after-the-other: before mended
start = jnp.linspace(0.1, 3.0, 100_000_000), jnp.zeros(100_000_000)
pendulums = jax.block_until_ready(move(move(start)))
# %% cuda-jax-pendulums-one-after-the-other: mended
pendulums = start
for moment in range(1_800):
    pendulums = move(pendulums)
pendulums = jax.block_until_ready(pendulums)

# %% cuda-jax-scan-over-layers: JAX_CUDA, before
@jax.jit
def network(x, w):
    layer = lambda x, _: (jnp.tanh(x @ w), None)
    return jax.lax.scan(layer, x, None, length=250)[0]

x = jax.random.normal(jax.random.key(0), (8_192, 8_192), jnp.bfloat16)
w = jax.random.normal(jax.random.key(1), (8_192, 8_192), jnp.bfloat16) / 64
y = network(x, w).block_until_ready()
# %% cuda-jax-scan-over-layers: asked
for text in range(4):
    y = network(y, w)
y = jax.block_until_ready(y)
