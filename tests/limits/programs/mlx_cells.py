"""Cells of MLX on the CPU."""

from __future__ import annotations

from jupyter_mlgpu.record.limit import LimitKind
from tests.limits.program import BANDWIDTH, ON_DEVICE, Program

#: Its products on a CPU are far below the machine's roof.
UNTUNED: tuple[LimitKind, ...] = ("device", "compute")

PROGRAMS = (
    Program(
        id="mlx-products",
        framework="mlx",
        kinds=UNTUNED,
        why="Each product of 512 rows and columns is 270 million operations, and is waited for.",
        clock="calls mx.eval",
        before=["import mlx.core as mx\nmx.set_default_device(mx.cpu)\nx = mx.ones((512, 512)) / 512"],
        code="y = x\nfor _ in range(12):\n    y = mx.matmul(y, x)\n    mx.eval(y)",
        mended="import time\ny = mx.matmul(x[:8], x)\nmx.eval(y)\ntime.sleep(0.5)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="mlx-products-evaluated-at-the-end",
        framework="mlx",
        kinds=UNTUNED,
        why="Nothing is computed before the last line asks for it: then twelve products are.",
        clock="calls mx.eval",
        before=["import mlx.core as mx\nmx.set_default_device(mx.cpu)\nx = mx.ones((512, 512)) / 512"],
        code="y = x\nfor _ in range(12):\n    y = y @ x\nmx.eval(y)",
    ),
    Program(
        id="mlx-printed-result",
        framework="mlx",
        kinds=UNTUNED,
        why="`item` asks for a sum, for which a product of 700 rows and columns is computed first.",
        clock="calls value",
        before=[
            """
            import mlx.core as mx
            mx.set_default_device(mx.cpu)
            x = mx.ones((700, 700)) / 700
            mx.eval(x)

            def value(array):
                return array.item()
            """,
        ],
        code="for _ in range(3):\n    print(value((x @ x).sum()))",
    ),
    Program(
        id="mlx-sums-of-large-arrays",
        framework="mlx",
        kinds=BANDWIDTH,
        why="Each sum reads 240 MB and writes 120 MB.",
        clock="calls mx.eval",
        before=[
            """
            import mlx.core as mx
            mx.set_default_device(mx.cpu)
            x, y = mx.ones(30_000_000), mx.ones(30_000_000)
            mx.eval(x, y)
            """,
        ],
        code="for _ in range(20):\n    z = mx.add(x, y)\n    mx.eval(z)",
    ),
    Program(
        id="mlx-sort",
        framework="mlx",
        kinds=ON_DEVICE,
        why="A single operation sorts three million numbers.",
        clock="calls mx.eval",
        before=[
            "import mlx.core as mx\nmx.set_default_device(mx.cpu)\nx = mx.random.uniform(shape=(3_000_000,))"
        ],
        code="mx.eval(mx.sort(x))\nmx.eval(mx.sort(-x))",
    ),
    Program(
        id="mlx-tiny-additions",
        framework="mlx",
        kinds=("launch",),
        why="Each operation adds one number and is waited for; all of its time is that of starting it.",
        clock="without mx.add, mx.eval",
        before=["import mlx.core as mx\nmx.set_default_device(mx.cpu)\nx = mx.array(0.0)"],
        code="for step in range(25_000):\n    x = mx.add(x, 1.0)\n    mx.eval(x)",
        mended="x = mx.zeros(10_000_000)\nfor step in range(100):\n    x = mx.add(x, 1.0)\n    mx.eval(x)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="mlx-training-of-a-line",
        framework="mlx",
        kinds=("launch",),
        why="Each step differentiates a line of 64 points, some 30 operations of a microsecond each.",
        clock="calls step",
        before=[
            """
            import mlx.core as mx
            mx.set_default_device(mx.cpu)
            x = mx.linspace(-1, 1, 64)
            y = 3 * x + 1
            gradient = mx.grad(lambda w: ((w[0] * x + w[1] - y) ** 2).mean())

            def step(w):
                w = w - 0.1 * gradient(w)
                mx.eval(w)
                return w
            """,
        ],
        code="w = mx.zeros(2)\nfor _ in range(4_000):\n    w = step(w)",
    ),
    Program(
        id="mlx-compile-first-calls",
        framework="mlx",
        kinds=("compiling",),
        why="On a CPU the first call has the system's compiler build the function; a second only runs it.",
        clock="again",
        before=[
            # What earlier runs have compiled is not found.
            "import os, tempfile\nos.environ['TMPDIR'] = tempfile.mkdtemp()",
            """
            import mlx.core as mx
            mx.set_default_device(mx.cpu)
            x = mx.ones((1_000, 1_000))
            fused = mx.compile(lambda x: mx.exp(-x) * mx.sin(x) + mx.sqrt(x) / (1 + x * x))
            """,
        ],
        code="y = fused(x)\nmx.eval(y)",
        mended="for _ in range(25):\n    y = fused(x)\n    mx.eval(y)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="mlx-arrays-copied-in-and-out",
        framework="mlx",
        kinds=("transfer", *ON_DEVICE),
        why="An array of 100 MB is copied into one of MLX's and out of it, and nothing is computed.",
        clock="calls mx.array, np.array",
        before=["import mlx.core as mx\nimport numpy as np\ndata = np.ones(25_000_000, 'float32')"],
        code="for step in range(10):\n    array = mx.array(data)\n    back = np.array(array)",
    ),
    Program(
        id="mlx-training-that-sleeps",
        framework="mlx",
        kinds=("waiting",),
        why="The loop sleeps 50 ms after each step, as one that is polite to a shared machine does.",
        clock="idle",
        before=[
            "import time\nimport mlx.core as mx\nmx.set_default_device(mx.cpu)\nw = mx.ones((64, 64)) / 64"
        ],
        code="""
            for step in range(16):
                w = mx.tanh(w @ w)
                mx.eval(w)
                time.sleep(0.05)
        """,
        mended="for step in range(6_000):\n    w = mx.tanh(w @ w)\n    mx.eval(w)",
    ),
    Program(
        id="mlx-sampling-in-python",
        framework="mlx",
        kinds=("python",),
        why="Each of two million letters is drawn by Python's own `random` from a list that MLX has given.",
        clock="calls sample",
        before=[
            """
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
            """,
        ],
        code="text = sample(weights.tolist(), 700_000)",
    ),
    Program(
        id="mlx-batches-made-in-python",
        framework="mlx",
        kinds=("input", "python"),
        why="Each batch is parsed from lines of text in Python; the model is a product with 64 weights.",
        clock="calls batches()",
        before=[
            """
            import mlx.core as mx
            mx.set_default_device(mx.cpu)
            lines = [",".join(str((row * column) % 17 / 16) for column in range(64)) for row in range(3_200)]
            w = mx.ones(64)

            def batches():
                for start in range(0, len(lines), 64):
                    rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 64]]
                    yield mx.array(rows)
            """,
        ],
        code="""
            for epoch in range(20):
                for batch in batches():
                    w = w - 0.001 * (batch @ w).mean()
                    mx.eval(w)
        """,
    ),
)
