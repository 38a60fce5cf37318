"""Cells of JAX on a CUDA GPU, each a second or two on one of NVIDIA's H100 class."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program

WAIT = "calls jax.block_until_ready"
#: JAX takes what it needs of the memory, not three quarters, and has started.
START = """
    import os
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax, jax.numpy as jnp
    import numpy as np
    y = (jnp.ones((64, 64)) @ jnp.ones((64, 64))).block_until_ready()
"""

PROGRAMS = (
    Program(
        id="cuda-jax-first-call-of-a-jitted-function",
        framework="jax-cuda",
        kinds=("compiling",),
        why="XLA compiles a hundred layers in the first call; a second call only runs them.",
        clock="again",
        before=[
            START,
            """
            w = jnp.ones((2_048, 2_048), jnp.bfloat16) / 2_048
            x = jnp.ones((4_096, 2_048), jnp.bfloat16)

            @jax.jit
            def network(x):
                for layer in range(100):
                    x = jnp.tanh(x @ w) + x * layer
                return x.sum()
            """,
        ],
        code="y = network(x).block_until_ready()",
        mended="for _ in range(150):\n    y = network(x)\njax.block_until_ready(y)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-jax-compiled-for-each-length",
        framework="jax-cuda",
        kinds=("compiling",),
        why="Each length is a new shape, compiled anew; a second loop finds all of them ready.",
        clock="again",
        before=[
            START,
            """
            sentences = [np.ones((length, 64), "float32") for length in range(5, 13)]

            @jax.jit
            def attend(x):
                for head in range(3):
                    x = jax.nn.softmax(x @ x.T) @ x
                return x.mean()
            """,
        ],
        code="means = [float(attend(sentence)) for sentence in sentences]",
    ),
    Program(
        id="cuda-jax-steps-that-sleep",
        framework="jax-cuda",
        kinds=("waiting",),
        why="The loop sleeps 50 ms after each step; a step takes less than one.",
        clock="idle",
        before=[
            START,
            """
            import time
            step = jax.jit(lambda x: jnp.tanh(x @ x))
            x = step(jnp.ones((64, 64)) / 64)
            """,
        ],
        code="""
            for _ in range(24):
                x = step(x).block_until_ready()
                time.sleep(0.05)
        """,
    ),
    Program(
        id="cuda-jax-search-in-python",
        framework="jax-cuda",
        kinds=("python",),
        why="Python searches its own lists and sets; the GPU has summed a board before.",
        clock="calls search",
        before=[
            START,
            """
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
            """,
        ],
        code="rows = board.tolist()\nprint(board.sum(), search(rows))",
    ),
    Program(
        id="cuda-jax-batches-made-in-python",
        framework="jax-cuda",
        kinds=("input", "python"),
        why="Each batch is parsed from lines of text in Python; the step is a product with 64 weights.",
        clock="calls batches()",
        before=[
            START,
            """
            lines = [",".join(str((row * column) % 17 / 16) for column in range(64)) for row in range(3_200)]

            def batches():
                for start in range(0, len(lines), 64):
                    rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 64]]
                    yield np.array(rows, dtype="float32")

            @jax.jit
            def step(w, batch):
                return w - 0.01 * jax.grad(lambda w: ((batch @ w) ** 2).mean())(w)

            w = step(jnp.ones(64), np.ones((64, 64), "float32"))
            """,
        ],
        code="for epoch in range(50):\n    for batch in batches():\n        w = step(w, batch)",
    ),
    Program(
        id="cuda-jax-copied-to-the-gpu-at-each-step",
        framework="jax-cuda",
        kinds=("transfer",),
        why="One GB is copied to the GPU at each step, for a sum of a millisecond.",
        clock="calls upload",
        before=[
            START,
            """
            batch = np.ones(250_000_000, "float32")
            total = jax.jit(jnp.sum)

            def upload(batch):
                return jax.device_put(batch).block_until_ready()

            y = total(upload(batch))
            """,
        ],
        code="sums = [float(total(upload(batch))) for step in range(8)]",
        mended="""
            there = upload(batch)
            for step in range(2_500):
                y = total(there)
            jax.block_until_ready(y)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-jax-tiny-additions",
        framework="jax-cuda",
        kinds=("launch",),
        why="Each operation adds one number, which the GPU does sooner than the host starts the next.",
        clock="without jnp.add",
        before=[START, "x = jnp.add(jnp.zeros(()), 1.0)"],
        code="for step in range(50_000):\n    x = jnp.add(x, 1.0)\njax.block_until_ready(x)",
        mended="""
            x = jnp.zeros(500_000_000)
            for step in range(700):
                x = jnp.add(x, 1.0)
            jax.block_until_ready(x)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="cuda-jax-products",
        framework="jax-cuda",
        kinds=COMPUTE,
        why="Each product in bfloat16 is 10^12 operations; the host starts 800 in advance.",
        clock=WAIT,
        before=[
            START,
            """
            x = jnp.ones((8_192, 8_192), jnp.bfloat16) / 8_192
            product = jax.jit(jnp.matmul)
            y = product(x, x).block_until_ready()
            """,
        ],
        code="for _ in range(800):\n    y = product(y, x)\ny = jax.block_until_ready(y)",
        mended="import time\ny = jax.block_until_ready(product(y, x))\ntime.sleep(1)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="cuda-jax-sums-of-large-arrays",
        framework="jax-cuda",
        kinds=BANDWIDTH,
        why="Each sum reads 4 GB and writes 2 GB for half a thousand million additions.",
        clock=WAIT,
        before=[
            START,
            """
            x, y = jnp.ones(500_000_000), jnp.ones(500_000_000)
            z = jnp.add(x, y).block_until_ready()
            """,
        ],
        code="for _ in range(600):\n    z = jnp.add(x, y)\nz = jax.block_until_ready(z)",
    ),
    Program(
        id="cuda-jax-another-program-on-the-gpu",
        framework="jax-cuda",
        kinds=("contention",),
        why="Three other processes multiply matrices on the GPU, which is shared by turns.",
        clock="mended",
        load="gpu",
        before=[
            START,
            """
            x = jnp.ones((8_192, 8_192), jnp.bfloat16) / 8_192
            product = jax.jit(jnp.matmul)
            y = product(x, x).block_until_ready()
            """,
        ],
        code="for _ in range(300):\n    y = product(y, x)\ny = jax.block_until_ready(y)",
        mended="for _ in range(300):\n    y = product(y, x)\ny = jax.block_until_ready(y)",
        mended_kinds=ON_DEVICE,
    ),
)
