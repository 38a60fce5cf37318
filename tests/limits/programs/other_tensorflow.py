"""Cells with TensorFlow that are limited by what is not TensorFlow: asleep, in Python, or copying."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program
from tests.limits.programs.input_tensorflow import MODEL

PROGRAMS = (
    Program(
        id="keras-callback-that-sleeps",
        framework="tensorflow",
        kinds=("waiting",),
        why="A callback sleeps 25 ms after each batch, as one that sends its metrics to a server does.",
        clock="idle",
        before=[
            MODEL,
            """
            import time
            class Report(keras.callbacks.Callback):
                def on_train_batch_end(self, batch, logs=None):
                    time.sleep(0.025)
            """,
        ],
        code="""
            x, y = np.zeros((1_280, 64), "float32"), np.zeros((1_280, 1), "float32")
            history = model.fit(x, y, batch_size=32, callbacks=[Report()], verbose=0)
        """,
        mended="""
            x, y = np.zeros((1_280, 64), "float32"), np.zeros((1_280, 1), "float32")
            history = model.fit(x, y, batch_size=32, epochs=10, verbose=0)
        """,
    ),
    Program(
        id="keras-callback-in-python",
        framework="tensorflow",
        kinds=("python",),
        why="A callback counts digits in loops of Python after each batch; the model has 529 weights.",
        clock="calls Count.on_train_batch_end",
        before=[
            MODEL,
            """
            class Count(keras.callbacks.Callback):
                def on_train_batch_end(self, batch, logs=None):
                    self.digits = 0
                    for number in range(600_000):
                        self.digits += len(str(number * batch))

            x, y = np.zeros((384, 64), "float32"), np.zeros((384, 1), "float32")
            history = model.fit(x, y, batch_size=32, verbose=0)
            """,
        ],
        code="""
            history = model.fit(x, y, batch_size=32, callbacks=[Count()], verbose=0)
        """,
    ),
    Program(
        id="tf-results-looped-over-in-python",
        framework="tensorflow",
        kinds=("python",),
        why="A confusion matrix is counted in Python, number by number, after a single product.",
        clock="main",
        before=[
            """
            import tensorflow as tf
            logits = tf.random.normal((400_000, 10))
            labels = tf.argmax(tf.random.normal((400_000, 10)), axis=1).numpy().tolist()
            """,
        ],
        code="""
            predicted = tf.argmax(logits, axis=1).numpy().tolist()
            confusion = [[0] * 10 for _ in range(10)]
            for epoch in range(8):
                for label, guess in zip(labels, predicted):
                    confusion[label][guess] += 1
        """,
        mended="""
            for _ in range(60):
                predicted = tf.argmax(logits, axis=1)
                confusion = tf.math.confusion_matrix(labels[:10], predicted[:10])
        """,
    ),
    Program(
        id="tf-tensors-of-arrays-and-back",
        framework="tensorflow",
        kinds=("transfer", *ON_DEVICE),
        why="An array of 200 MB is copied into a tensor and out of it, and nothing is computed.",
        clock="calls tf.constant, np.array",
        before=["import numpy as np\nimport tensorflow as tf\ndata = np.ones((25_000_000,))"],
        code="""
            for step in range(6):
                tensor = tf.constant(data)
                back = np.array(tensor)
        """,
        mended="""
            tensor = tf.constant(data[:1_000_000])
            total = sum(number for number in range(10_000_000))
        """,
        mended_kinds=("python",),
    ),
)
