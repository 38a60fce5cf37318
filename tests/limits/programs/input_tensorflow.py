"""Cells of TensorFlow and Keras that get their data ready most of the time."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

#: A small model, and a first step of it: nothing is left to be traced.
MODEL = """
    import keras
    import numpy as np
    import tensorflow as tf
    layers = [keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)]
    model = keras.Sequential([keras.Input((64,)), *layers])
    model.compile("sgd", "mse")
    history = model.fit(np.zeros((32, 64), "float32"), np.zeros((32, 1), "float32"), verbose=0)
"""

PROGRAMS = (
    Program(
        id="keras-fit-from-a-generator",
        framework="tensorflow",
        kinds=("input",),
        why="Each batch is parsed from lines of text by a generator of Python; the model has 529 weights.",
        clock="calls batches()",
        before=[
            MODEL,
            """
            lines = [",".join(str((row * column) % 17 / 16) for column in range(1_024)) for row in range(320)]

            def batches():
                while True:
                    for start in range(0, len(lines), 32):
                        rows = [[float(word) for word in line.split(",")] for line in lines[start:start + 32]]
                        table = np.array(rows, dtype="float32").reshape(-1, 64, 16).mean(axis=2)
                        yield table, table[:, :1]

            history = model.fit(batches(), steps_per_epoch=1, verbose=0)
            """,
        ],
        code="history = model.fit(batches(), steps_per_epoch=80, verbose=0)",
        mended="""
            ready = next(batches())
            data = np.tile(ready[0], (20, 512)), np.tile(ready[1], (20, 1))
            wide = tf.random.normal((64 * 512, 256))
            for _ in range(5):
                y = tf.matmul(data[0], wide)
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="tf-data-of-a-python-function",
        framework="tensorflow",
        kinds=("input",),
        why="Each row of a tf.data pipeline goes through a function of Python; the model has 529 weights.",
        clock="mended",
        before=[
            MODEL,
            """
            def augment(row):
                values = row.numpy().tolist()
                for _ in range(100):
                    values = [value * 1.01 - 0.5 if value > 0.5 else value * 0.99 for value in values]
                return np.array(values, dtype="float32")

            def augmented(count):
                table = np.random.default_rng(0).random((count, 64), dtype="float32")
                rows = tf.data.Dataset.from_tensor_slices(table)
                rows = rows.map(lambda row: tf.py_function(augment, [row], tf.float32))
                rows = rows.map(lambda row: tf.ensure_shape(row, (64,)))
                return rows.map(lambda row: (row, row[:1])).batch(32)

            history = model.fit(augmented(32), verbose=0)
            ready = augmented(1_600).cache()
            history = model.fit(ready, verbose=0)
            """,
        ],
        code="history = model.fit(augmented(1_600), verbose=0)",
        mended="history = model.fit(ready, verbose=0)",
    ),
    Program(
        id="tf-data-from-generator",
        framework="tensorflow",
        kinds=("input",),
        why="A generator of Python decompresses each image; what is done with it is a mean.",
        clock="calls tensorflow.python.data.ops.iterator_ops.OwnedIterator.__next__",
        before=[
            """
            import zlib
            import numpy as np
            import tensorflow as tf
            noise = np.random.default_rng(0).integers(0, 30, (256, 256, 3), dtype="uint8")
            files = [zlib.compress(noise.tobytes())] * 900

            def images():
                for file in files:
                    yield np.frombuffer(zlib.decompress(file), "uint8").reshape(256, 256, 3)
            """,
        ],
        code="""
            spec = tf.TensorSpec((256, 256, 3), tf.uint8)
            means = []
            for batch in tf.data.Dataset.from_generator(images, output_signature=spec).batch(10):
                means.append(tf.reduce_mean(batch[:, ::16, ::16]))
        """,
    ),
    Program(
        id="keras-pydataset-that-decodes",
        framework="tensorflow",
        kinds=("input",),
        why="`__getitem__` decodes every batch from JSON; the model has 529 weights.",
        clock="mended",
        before=[
            MODEL,
            """
            import json
            text = json.dumps([[(row * column) % 7 / 6 for column in range(64)] for row in range(600)])

            class Rows(keras.utils.PyDataset):
                def __init__(self, count):
                    super().__init__()
                    self.count = count

                def __len__(self):
                    return self.count

                def __getitem__(self, index):
                    table = np.array(json.loads(text)[index:index + 32], dtype="float32")
                    return table, table[:, :1]

            history = model.fit(Rows(1), verbose=0)
            ready = np.concatenate([Rows(1)[0][0]] * 60)
            history = model.fit(ready, ready[:, :1], verbose=0)
            """,
        ],
        code="history = model.fit(Rows(60), verbose=0)",
        mended="history = model.fit(ready, ready[:, :1], verbose=0)",
    ),
    Program(
        id="tf-data-of-png-files",
        framework="tensorflow",
        kinds=("input",),
        why="tf.data decodes 4,500 images, resizes and caches them; a second pass is the training alone.",
        clock="again",
        before=[
            """
            import numpy as np
            import tensorflow as tf
            noise = np.random.default_rng(0).integers(0, 200, (200, 200, 3), dtype="uint8")
            png = tf.io.encode_png(noise).numpy()
            files = tf.data.Dataset.from_tensors(png).repeat(4_500)
            decode = lambda file: tf.image.resize(tf.io.decode_png(file, channels=3), (64, 64))
            images = files.map(decode).batch(50).cache()
            w = tf.Variable(tf.random.normal((64 * 64 * 3, 32)) / 100)

            @tf.function
            def train(batch):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(tf.matmul(tf.reshape(batch, (-1, 64 * 64 * 3)) / 255.0, w) ** 2)
                w.assign_sub(0.01 * tape.gradient(loss, w))
                return loss

            loss = train(tf.zeros((50, 64, 64, 3)))
            """,
        ],
        code="for batch in images:\n    loss = train(batch)",
        mended="for epoch in range(6):\n    for batch in images:\n        loss = train(batch)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="keras-fit-on-a-slow-source",
        framework="tensorflow",
        kinds=("input", "waiting"),
        why="The generator that gives the batches sleeps 25 ms before each, as a slow disk does.",
        clock="calls batches()",
        before=[
            MODEL,
            """
            import time
            def batches():
                while True:
                    time.sleep(0.025)
                    yield np.zeros((32, 64), "float32"), np.zeros((32, 1), "float32")

            history = model.fit(batches(), steps_per_epoch=1, verbose=0)
            """,
        ],
        code="history = model.fit(batches(), steps_per_epoch=40, verbose=0)",
    ),
)
