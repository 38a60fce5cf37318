"""Cells of JAX that compile, or that start many small operations."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="jax-first-call-of-a-jitted-function",
        framework="jax",
        kinds=("compiling",),
        why="XLA compiles sixty layers in the first call; a second call only runs them.",
        clock="again",
        before=[
            """
            import jax, jax.numpy as jnp
            w = jnp.ones((256, 256)) / 256
            x = jnp.ones((64, 256))

            @jax.jit
            def network(x):
                for layer in range(60):
                    x = jnp.tanh(x @ w) + x * layer
                return x.sum()
            """,
        ],
        code="y = network(x).block_until_ready()",
        mended="for _ in range(60):\n    y = network(x).block_until_ready()",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="jax-compiled-for-each-length",
        framework="jax",
        kinds=("compiling",),
        why="Each length is a new shape, compiled anew; a second loop finds all of them ready.",
        clock="again",
        before=[
            """
            import jax, jax.numpy as jnp
            import numpy as np
            sentences = [np.ones((length, 16), "float32") for length in range(5, 17)]

            @jax.jit
            def attend(x):
                for head in range(3):
                    x = jax.nn.softmax(x @ x.T) @ x
                return x.mean()
            """,
        ],
        code="means = [float(attend(sentence)) for sentence in sentences]",
        mended="""
            padded = np.ones((12, 384, 256), "float32")
            f = jax.jit(jax.vmap(attend))
            f(padded)
            means = [f(padded).block_until_ready() for _ in range(6)]
        """,
    ),
    Program(
        id="jax-jit-in-a-loop",
        framework="jax",
        kinds=("compiling",),
        why="Each step makes a new function, which is compiled for that step alone.",
        clock="mended",
        before=["import jax, jax.numpy as jnp\nx = jnp.ones((32, 32))"],
        code="""
            for step in range(8):
                update = jax.jit(lambda x: jnp.tanh(x @ x / 32) + step)
                x = update(x)
        """,
        mended_before=["update = jax.jit(lambda x, step: jnp.tanh(x @ x / 32) + step)\nx = update(x, 0)"],
        mended="for step in range(8):\n    x = update(x, step)",
    ),
    Program(
        id="jax-static-argument-that-changes",
        framework="jax",
        kinds=("compiling",),
        why="The number of repetitions is static, so each is compiled anew; a second loop finds all ready.",
        clock="again",
        before=[
            """
            import functools
            import jax, jax.numpy as jnp

            @functools.partial(jax.jit, static_argnames="repetitions")
            def smooth(x, repetitions):
                for _ in range(repetitions):
                    x = (x + jnp.roll(x, 1)) / 2
                return x

            signal = jnp.arange(256.0)
            """,
        ],
        code="smoothed = [smooth(signal, repetitions=count) for count in range(1, 8)]",
    ),
    Program(
        id="jax-first-gradient",
        framework="jax",
        kinds=("compiling",),
        why="The gradient through fifty layers is traced and compiled in its first call.",
        clock="again",
        before=[
            """
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
            """,
        ],
        code="g = jax.block_until_ready(gradients(weights, x))",
    ),
    Program(
        id="jax-first-use-of-many-operations",
        framework="jax",
        kinds=("compiling",),
        why="Each operation outside of jit is compiled at its first use for a shape; a second run has all.",
        clock="again",
        before=["import jax, jax.numpy as jnp\nx = jnp.ones((37, 11))"],
        code="""
            y = jnp.linalg.qr(x)[1]
            y = jnp.sort(jnp.cumsum(jnp.sin(y), axis=0), axis=1)
            y = jnp.fft.fft(jnp.exp(y)).real + jax.nn.softmax(y)
            y = jnp.linalg.svd(y)[1].block_until_ready()
        """,
    ),
    Program(
        id="jax-tiny-additions",
        framework="jax",
        kinds=("launch",),
        why="Each operation adds one number; all of its time is that of starting it.",
        clock="without jnp.add",
        before=["import jax, jax.numpy as jnp\nx = jnp.add(jnp.zeros(()), 1.0)"],
        code="for step in range(60_000):\n    x = jnp.add(x, 1.0)\nx.block_until_ready()",
        mended="""
            x = jnp.zeros(10_000_000)
            for step in range(40):
                x = jnp.add(x, 1.0)
            x.block_until_ready()
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="jax-elements-set-one-by-one",
        framework="jax",
        kinds=("launch", "python"),
        why="Each step sets one number of a small array, outside of jit; indexing is in part Python.",
        clock="calls put",
        before=[
            """
            import jax, jax.numpy as jnp
            def put(table, index):
                return table.at[index].set(1.0)
            table = put(jnp.zeros(64), 0)
            """,
        ],
        code="for step in range(1_500):\n    table = put(table, step % 64)\ntable.block_until_ready()",
    ),
    Program(
        id="jax-small-step-in-a-python-loop",
        framework="jax",
        kinds=("launch",),
        why="The jitted step is a product of 8 rows and columns: it is started sixty thousand times.",
        clock="without step",
        before=[
            """
            import jax, jax.numpy as jnp
            step = jax.jit(lambda x: jnp.tanh(x @ x))
            x = step(jnp.ones((8, 8)) / 8)
            """,
        ],
        code="for _ in range(60_000):\n    x = step(x)\nx.block_until_ready()",
        mended_before=[
            """
            big = jnp.ones((1_024, 1_024)) / 1_024
            many = jax.jit(lambda x: jax.lax.fori_loop(0, 30, lambda _, x: jnp.tanh(x @ x), x))
            many(big).block_until_ready()
            """,
        ],
        mended="x = many(big).block_until_ready()",
        mended_kinds=ON_DEVICE,
    ),
)
