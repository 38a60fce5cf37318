# Cells with JAX on the CPU.

# %% jax-first-call-of-a-jitted-function: before
import jax, jax.numpy as jnp
w = jnp.ones((256, 256)) / 256
x = jnp.ones((64, 256))

@jax.jit
def network(x):
    for layer in range(60):
        x = jnp.tanh(x @ w) + x * layer
    return x.sum()
# %% jax-first-call-of-a-jitted-function: asked
y = network(x).block_until_ready()
# %% jax-first-call-of-a-jitted-function: mended
for _ in range(60):
    y = network(x).block_until_ready()

# %% jax-compiled-for-each-length: before
import jax, jax.numpy as jnp
import numpy as np
sentences = [np.ones((length, 16), "float32") for length in range(5, 17)]

@jax.jit
def attend(x):
    for head in range(3):
        x = jax.nn.softmax(x @ x.T) @ x
    return x.mean()
# %% jax-compiled-for-each-length: asked
means = [float(attend(sentence)) for sentence in sentences]
# %% jax-compiled-for-each-length: mended
padded = np.ones((12, 384, 256), "float32")
f = jax.jit(jax.vmap(attend))
f(padded)
means = [f(padded).block_until_ready() for _ in range(6)]

# %% jax-jit-in-a-loop: before
import jax, jax.numpy as jnp
x = jnp.ones((32, 32))
# %% jax-jit-in-a-loop: asked
for step in range(8):
    update = jax.jit(lambda x: jnp.tanh(x @ x / 32) + step)
    x = update(x)
# %% jax-jit-in-a-loop: before mended
update = jax.jit(lambda x, step: jnp.tanh(x @ x / 32) + step)
x = update(x, 0)
# %% jax-jit-in-a-loop: mended
for step in range(8):
    x = update(x, step)

# %% jax-static-argument-that-changes: before
import functools
import jax, jax.numpy as jnp

@functools.partial(jax.jit, static_argnames="repetitions")
def smooth(x, repetitions):
    for _ in range(repetitions):
        x = (x + jnp.roll(x, 1)) / 2
    return x

signal = jnp.arange(256.0)
# %% jax-static-argument-that-changes: asked
smoothed = [smooth(signal, repetitions=count) for count in range(1, 8)]

# %% jax-first-gradient: before
import jax, jax.numpy as jnp
weights = [jnp.ones((64, 64)) / 64 for _ in range(50)]
x = jnp.ones((16, 64))

@jax.jit
def gradients(weights, x):
    def loss(weights):
        y = x
        for w in weights:
            y = jax.nn.gelu(y @ w)
        return (y**2).mean()
    return jax.grad(loss)(weights)
# %% jax-first-gradient: asked
g = jax.block_until_ready(gradients(weights, x))

# %% jax-first-use-of-many-operations: before
import jax, jax.numpy as jnp
x = jnp.ones((37, 11))
# %% jax-first-use-of-many-operations: asked
y = jnp.linalg.qr(x)[1]
y = jnp.sort(jnp.cumsum(jnp.sin(y), axis=0), axis=1)
y = jnp.fft.fft(jnp.exp(y)).real + jax.nn.softmax(y)
y = jnp.linalg.svd(y)[1].block_until_ready()

# %% jax-tiny-additions: before
import jax, jax.numpy as jnp
x = jnp.add(jnp.zeros(()), 1.0)
# %% jax-tiny-additions: asked
for step in range(60_000):
    x = jnp.add(x, 1.0)
x.block_until_ready()
# %% jax-tiny-additions: mended
x = jnp.zeros(10_000_000)
for step in range(40):
    x = jnp.add(x, 1.0)
x.block_until_ready()

# %% jax-elements-set-one-by-one: before
import jax, jax.numpy as jnp
def put(table, index):
    return table.at[index].set(1.0)
table = put(jnp.zeros(64), 0)
# %% jax-elements-set-one-by-one: asked
for step in range(1_500):
    table = put(table, step % 64)
table.block_until_ready()

# %% jax-small-step-in-a-python-loop: before
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.tanh(x @ x))
x = step(jnp.ones((8, 8)) / 8)
# %% jax-small-step-in-a-python-loop: asked
for _ in range(60_000):
    x = step(x)
x.block_until_ready()
# %% jax-small-step-in-a-python-loop: before mended
big = jnp.ones((1_024, 1_024)) / 1_024
many = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda _, x: jnp.tanh(x @ x), x))
many(big).block_until_ready()
# %% jax-small-step-in-a-python-loop: mended
x = many(big).block_until_ready()

# %% jax-products-one-after-the-other: before
import jax, jax.numpy as jnp
x = jnp.ones((1_500, 1_500)) / 1_500

def product(y):
    return jnp.matmul(y, x).block_until_ready()

y = product(x)
# %% jax-products-one-after-the-other: asked
for _ in range(20):
    y = product(y)
# %% jax-products-one-after-the-other: mended
import time
y = product(x[:8])
time.sleep(0.5)

# %% jax-products-waited-for-at-the-end: before
import jax, jax.numpy as jnp
x = jnp.ones((1_500, 1_500)) / 1_500
f = jax.jit(jnp.matmul)
# %% jax-products-waited-for-at-the-end: before
y = f(x, x).block_until_ready()
# %% jax-products-waited-for-at-the-end: asked
y = x
for _ in range(20):
    y = f(y, x)
y = jax.block_until_ready(y)

# %% jax-losses-read-at-each-step: before
import jax, jax.numpy as jnp
w = jnp.ones((1_024, 1_024)) / 1_024
x = jnp.ones((1_024, 1_024))

@jax.jit
def step(w):
    loss, gradient = jax.value_and_grad(lambda w: ((x @ w) ** 2).mean())(w)
    return w - 0.1 * gradient, loss

def train(w):
    w, loss = step(w)
    return w, float(loss)

w, loss = train(w)
# %% jax-losses-read-at-each-step: asked
losses = []
for _ in range(20):
    w, loss = train(w)
    losses.append(loss)

# %% jax-convolutions: before
import jax, jax.numpy as jnp
images, filters = jnp.ones((16, 32, 64, 64)), jnp.ones((32, 32, 3, 3))
f = jax.jit(lambda images: jax.lax.conv(images, filters, (1, 1), "SAME"))

def convolve():
    return f(images).block_until_ready()

y = convolve()
# %% jax-convolutions: asked
for _ in range(50):
    y = convolve()

# %% jax-sums-of-large-arrays: before
import jax, jax.numpy as jnp
x, y = jnp.ones(30_000_000), jnp.ones(30_000_000)

def add():
    return jnp.add(x, y).block_until_ready()

z = add()
# %% jax-sums-of-large-arrays: asked
for _ in range(25):
    z = add()

# %% jax-sort: before
import jax, jax.numpy as jnp
x = jax.random.uniform(jax.random.key(0), (2_000_000,))

def sort():
    return jnp.sort(x).block_until_ready()

y = sort()
# %% jax-sort: asked
for _ in range(3):
    y = sort()

# %% jax-batches-made-in-python: before
import jax, jax.numpy as jnp
import numpy as np
lines = [",".join(str((row * column) % 17 / 16) for column in range(64)) for row in range(3_200)]

def batches():
    for start in range(0, len(lines), 32):
        rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 32]]
        yield np.array(rows, dtype="float32")

@jax.jit
def step(w, batch):
    return w - 0.01 * jax.grad(lambda w: ((batch @ w) ** 2).mean())(w)

w = step(jnp.ones(64), np.ones((32, 64), "float32"))
# %% jax-batches-made-in-python: asked
for epoch in range(30):
    for batch in batches():
        w = step(w, batch)
# %% jax-batches-made-in-python: mended
everything = jnp.array(list(batches()))
for epoch in range(400):
    for batch in everything[:20]:
        w = step(w, batch)

# %% jax-arrays-copied-in-and-out: before
import jax.numpy as jnp
import numpy as np
data = np.ones(25_000_000, 'float32')
# %% jax-arrays-copied-in-and-out: asked
for step in range(12):
    array = jnp.array(data)
    back = np.array(array)
# %% jax-arrays-copied-in-and-out: mended
total = sum(number for number in range(10_000_000))

# %% jax-callback-that-sleeps: before
import time
import jax, jax.numpy as jnp
import numpy as np

def ask_a_server(x):
    time.sleep(0.2)
    return np.asarray(x) + 1

@jax.jit
def step(x):
    return jax.pure_callback(ask_a_server, jax.ShapeDtypeStruct((), "float32"), x) * 0.5

x = step(jnp.float32(1)).block_until_ready()
# %% jax-callback-that-sleeps: asked
for _ in range(5):
    x = step(x)
x.block_until_ready()

# %% jax-search-in-python: before
import jax, jax.numpy as jnp
board = (jnp.arange(640_000) % 7 > 0).reshape(800, 800)

def search(rows):
    seen, waiting = {(0, 1)}, [(0, 1)]
    while waiting:
        row, column = waiting.pop()
        for place in ((row + 1, column), (row, column + 1), (row - 1, column), (row, column - 1)):
            inside = 0 <= place[0] < 800 and 0 <= place[1] < 800
            if inside and place not in seen and rows[place[0]][place[1]]:
                seen.add(place)
                waiting.append(place)
    return len(seen)
# %% jax-search-in-python: asked
rows = board.tolist()
print(board.sum(), search(rows))

# %% busy-machine-jax: before
import jax.numpy as jnp
x = jnp.zeros(()) + 1.0
# %% busy-machine-jax: asked
for step in range(15_000):
    x = jnp.add(x, 1.0)
# %% busy-machine-jax: mended
for step in range(60_000):
    x = jnp.add(x, 1.0)
