"""Cells of TensorFlow that start many small operations, each done sooner than it is started."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

PROGRAMS = (
    Program(
        id="tf-tiny-additions",
        framework="tensorflow",
        kinds=("launch",),
        why="Each operation adds one number; all of its time is that of starting it.",
        clock="without tf.add",
        before=["import tensorflow as tf\nx = tf.constant(0.0)"],
        code="for step in range(20_000):\n    x = tf.add(x, 1.0)",
        mended="x = tf.zeros(4_000_000)\nfor step in range(400):\n    x = tf.add(x, 1.0)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="tf-rows-one-by-one",
        framework="tensorflow",
        kinds=("launch",),
        why="Each row of 32 numbers is normalised by five operations of its own.",
        clock="without tf.reduce_mean, tf.square, tf.subtract, tf.divide, tf.sqrt, tf.gather",
        before=["import tensorflow as tf\ntable = tf.random.normal((6_000, 32))"],
        code="""
            rows = []
            for index in range(6_000):
                row = tf.gather(table, index)
                centred = tf.subtract(row, tf.reduce_mean(row))
                rows.append(tf.divide(centred, tf.sqrt(tf.reduce_mean(tf.square(centred)))))
        """,
        mended="""
            table = tf.random.normal((200_000, 32))
            for _ in range(20):
                centred = tf.subtract(table, tf.reduce_mean(table, axis=1, keepdims=True))
                rows = tf.divide(centred, tf.sqrt(tf.reduce_mean(tf.square(centred), axis=1, keepdims=True)))
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="tf-eager-training-of-a-line",
        framework="tensorflow",
        kinds=("launch", "python"),
        why="Each step differentiates a line of 64 points, eagerly; TensorFlow's tape is in part Python.",
        clock="calls step",
        before=[
            """
            import tensorflow as tf
            x = tf.linspace(-1.0, 1.0, 64)
            y = 3.0 * x + 1.0
            a, b = tf.Variable(0.0), tf.Variable(0.0)

            def step():
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((a * x + b - y) ** 2)
                for variable, gradient in zip((a, b), tape.gradient(loss, (a, b))):
                    variable.assign_sub(0.1 * gradient)
                return loss
            """,
        ],
        code="losses = [step() for _ in range(800)]",
        mended="""
            import time
            fast = tf.function(step)
            fast()
            for epoch in range(10):
                time.sleep(0.1)
                losses = [fast() for _ in range(50)]
        """,
        mended_kinds=("waiting",),
    ),
    Program(
        id="keras-model-on-single-samples",
        framework="tensorflow",
        kinds=("launch", "python"),
        why="The model is called eagerly for one row of 8 numbers at a time.",
        clock="calls predict",
        before=[
            """
            import keras
            import numpy as np
            model = keras.Sequential([
                keras.Input((8,)),
                keras.layers.Dense(16, activation="relu"),
                keras.layers.Dense(16, activation="relu"),
                keras.layers.Dense(1),
            ])
            samples = np.random.default_rng(0).random((500, 8), dtype="float32")

            def predict(sample):
                return model(sample[None])
            """,
        ],
        code="answers = [predict(sample) for sample in samples]",
    ),
)
