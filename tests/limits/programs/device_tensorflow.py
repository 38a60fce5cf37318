"""Cells that spend their time in TensorFlow's own operations on large tensors."""

from __future__ import annotations

from tests.limits.program import BANDWIDTH, COMPUTE, ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="tf-products",
        framework="tensorflow",
        kinds=COMPUTE,
        why="Each product of 1,500 rows and columns is seven thousand million operations; Python starts ten.",
        clock="calls tf.matmul",
        before=["import tensorflow as tf\nx = tf.random.normal((1_500, 1_500)) / 40"],
        code="y = x\nfor _ in range(10):\n    y = tf.matmul(y, x)",
        mended="import time\ny = tf.matmul(x[:8], x)\ntime.sleep(0.5)",
        mended_kinds=("waiting",),
    ),
    Program(
        id="tf-convolutions",
        framework="tensorflow",
        kinds=COMPUTE,
        why="Each convolution of 32 images has a thousand million products and sums; Python starts 60.",
        clock="calls tf.nn.conv2d",
        before=[
            """
            import tensorflow as tf
            images = tf.random.normal((32, 64, 64, 32))
            filters = tf.random.normal((3, 3, 32, 32))
            """,
        ],
        code="for _ in range(60):\n    y = tf.nn.conv2d(images, filters, strides=1, padding='SAME')",
    ),
    Program(
        id="keras-fit-of-wide-layers",
        framework="tensorflow",
        kinds=COMPUTE,
        why="The step is traced, and each of the 12 steps multiplies matrices of 1,024 rows and columns.",
        clock="calls model.train_function",
        before=[
            """
            import keras
            import numpy as np
            x = np.random.default_rng(0).random((6_144, 1_024), dtype="float32")
            model = keras.Sequential([
                keras.Input((1_024,)),
                *[keras.layers.Dense(1_024, activation="relu") for _ in range(3)],
                keras.layers.Dense(10),
            ])
            model.compile("sgd", "mse")
            history = model.fit(x[:512], np.zeros((512, 10)), batch_size=512, verbose=0)
            """,
        ],
        code="history = model.fit(x, np.zeros((6_144, 10)), batch_size=512, verbose=0)",
    ),
    Program(
        id="tf-additions-of-large-arrays",
        framework="tensorflow",
        kinds=BANDWIDTH,
        why="Each addition reads 160 MB and writes 80 MB for twenty million sums.",
        clock="calls tf.add",
        before=["import tensorflow as tf\nx = tf.random.normal((20_000_000,))\ny = tf.ones_like(x)"],
        code="for _ in range(90):\n    y = tf.add(x, y)",
    ),
    Program(
        id="tf-sort",
        framework="tensorflow",
        kinds=ON_DEVICE,
        why="A single operation sorts four million numbers; Python starts two.",
        clock="calls tf.sort",
        before=["import tensorflow as tf\nx = tf.random.normal((4_000_000,))"],
        code="for _ in range(2):\n    y = tf.sort(x)",
    ),
)
