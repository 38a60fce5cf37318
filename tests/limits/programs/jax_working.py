"""Cells of JAX on large arrays, and cells that wait for data, for copies or for Python."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="jax-products-one-after-the-other",
        framework="jax",
        kinds=COMPUTE,
        why="Each product of 1,500 rows and columns is seven thousand million operations, and is waited for.",
        clock="calls product",
        before=[
            """
            import jax, jax.numpy as jnp
            x = jnp.ones((1_500, 1_500)) / 1_500

            def product(y):
                return jnp.matmul(y, x).block_until_ready()

            y = product(x)
            """,
        ],
        code="for _ in range(20):\n    y = product(y)",
        mended="import time\ny = product(x[:8])\ntime.sleep(0.5)",
    ),
    Program(
        id="jax-products-waited-for-at-the-end",
        framework="jax",
        kinds=COMPUTE,
        why="Starting 20 products takes a millisecond; the time is spent where the last one is waited for.",
        clock="calls jax.block_until_ready",
        before=[
            "import jax, jax.numpy as jnp\nx = jnp.ones((1_500, 1_500)) / 1_500\nf = jax.jit(jnp.matmul)",
            "y = f(x, x).block_until_ready()",
        ],
        code="y = x\nfor _ in range(20):\n    y = f(y, x)\ny = jax.block_until_ready(y)",
    ),
    Program(
        id="jax-losses-read-at-each-step",
        framework="jax",
        kinds=COMPUTE,
        why="`float` waits for each step, which computes for 50 ms: on a CPU there is nothing to copy.",
        clock="calls train",
        before=[
            """
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
            """,
        ],
        code="""
            losses = []
            for _ in range(20):
                w, loss = train(w)
                losses.append(loss)
        """,
    ),
    Program(
        id="jax-convolutions",
        framework="jax",
        kinds=COMPUTE,
        why="Each convolution of 16 images has a thousand million products and sums; Python starts 20.",
        clock="calls convolve",
        before=[
            """
            import jax, jax.numpy as jnp
            images, filters = jnp.ones((16, 32, 64, 64)), jnp.ones((32, 32, 3, 3))
            f = jax.jit(lambda images: jax.lax.conv(images, filters, (1, 1), "SAME"))

            def convolve():
                return f(images).block_until_ready()

            y = convolve()
            """,
        ],
        code="for _ in range(50):\n    y = convolve()",
    ),
    Program(
        id="jax-sums-of-large-arrays",
        framework="jax",
        kinds=BANDWIDTH,
        why="Each sum reads 240 MB and writes 120 MB.",
        clock="calls add",
        before=[
            """
            import jax, jax.numpy as jnp
            x, y = jnp.ones(30_000_000), jnp.ones(30_000_000)

            def add():
                return jnp.add(x, y).block_until_ready()

            z = add()
            """,
        ],
        code="for _ in range(25):\n    z = add()",
    ),
    Program(
        id="jax-sort",
        framework="jax",
        kinds=ON_DEVICE,
        why="A single operation sorts three million numbers; Python starts three.",
        clock="calls sort",
        before=[
            """
            import jax, jax.numpy as jnp
            x = jax.random.uniform(jax.random.key(0), (2_000_000,))

            def sort():
                return jnp.sort(x).block_until_ready()

            y = sort()
            """,
        ],
        code="for _ in range(3):\n    y = sort()",
    ),
    Program(
        id="jax-batches-made-in-python",
        framework="jax",
        kinds=("input", "python"),
        why="Each batch is parsed from lines of text in Python; the step is a product with 64 weights.",
        clock="calls batches()",
        before=[
            """
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
            """,
        ],
        code="for epoch in range(30):\n    for batch in batches():\n        w = step(w, batch)",
        mended="""
            everything = jnp.array(list(batches()))
            for epoch in range(400):
                for batch in everything[:20]:
                    w = step(w, batch)
        """,
    ),
    Program(
        id="jax-arrays-copied-in-and-out",
        framework="jax",
        kinds=("transfer", *ON_DEVICE),
        why="An array of 100 MB is copied into one of JAX's and out of it, and nothing is computed.",
        clock="calls jnp.array, np.array",
        before=["import jax.numpy as jnp\nimport numpy as np\ndata = np.ones(25_000_000, 'float32')"],
        code="""
            for step in range(12):
                array = jnp.array(data)
                back = np.array(array)
        """,
        mended="total = sum(number for number in range(10_000_000))",
        mended_kinds=("python",),
    ),
    Program(
        id="jax-callback-that-sleeps",
        framework="jax",
        kinds=("waiting",),
        why="A function of Python that the program calls back sleeps 0.2 s, four times.",
        clock="idle",
        before=[
            """
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
            """,
        ],
        code="for _ in range(5):\n    x = step(x)\nx.block_until_ready()",
    ),
    Program(
        id="jax-search-in-python",
        framework="jax",
        kinds=("python",),
        why="Places on a board are searched in Python's lists and sets, after a single sum.",
        clock="calls search",
        before=[
            """
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
            """,
        ],
        code="rows = board.tolist()\nprint(board.sum(), search(rows))",
    ),
)
