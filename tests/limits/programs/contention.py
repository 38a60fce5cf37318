"""Cells that could run, while other programs have the cores: the harness starts three for each core."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

WHY = "Three other processes want each core all the time, so that a thread that could run waits for its turn."

PROGRAMS = (
    Program(
        id="busy-machine-loop",
        framework="python",
        kinds=("contention",),
        why=WHY,
        clock="delay",
        load="processor",
        code="""
            total = 0
            for number in range(4_000_000):
                total += number % 7
        """,
        mended="""
            total = 0
            for number in range(4_000_000):
                total += number % 7
        """,
        mended_kinds=("python",),
    ),
    Program(
        id="busy-machine-objects",
        framework="python",
        kinds=("contention",),
        why=WHY,
        clock="delay",
        load="processor",
        before=["class Point:\n    def __init__(self, x):\n        self.x = x"],
        code="points = [Point(number) for number in range(1_500_000)]",
    ),
    Program(
        id="busy-machine-numpy",
        framework="numpy",
        kinds=("contention",),
        why=WHY,
        clock="delay",
        load="processor",
        before=["import numpy as np\na = np.random.default_rng(0).random(6_000_000)"],
        code="b = np.sort(a)",
        mended="b = np.sort(a)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="busy-machine-tensorflow",
        framework="tensorflow",
        kinds=("contention",),
        why=WHY,
        clock="delay",
        load="processor",
        before=["import tensorflow as tf\nx = tf.constant(0.0)"],
        code="for step in range(15_000):\n    x = tf.add(x, 1.0)",
        mended="for step in range(40_000):\n    x = tf.add(x, 1.0)",
        mended_kinds=("launch",),
    ),
    Program(
        id="busy-machine-torch",
        framework="torch",
        kinds=("contention",),
        why=WHY,
        clock="delay",
        load="processor",
        before=["import torch\nx = torch.rand(6_000_000)"],
        code="y = torch.sort(x)",
        mended="for _ in range(3):\n    y = torch.sort(x)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="busy-machine-jax",
        framework="jax",
        kinds=("contention",),
        why=WHY,
        clock="delay",
        load="processor",
        before=["import jax.numpy as jnp\nx = jnp.zeros(()) + 1.0"],
        code="for step in range(15_000):\n    x = jnp.add(x, 1.0)",
        mended="for step in range(60_000):\n    x = jnp.add(x, 1.0)",
        mended_kinds=("launch",),
    ),
)
