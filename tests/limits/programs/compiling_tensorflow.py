"""Cells of TensorFlow and Keras that trace functions, compile them, or do what only a first run does."""

from __future__ import annotations

from tests.limits.program import ON_DEVICE, Program

#: What every trace of a `tf.function` goes through, in TensorFlow 2.19.
TRACING = "calls tensorflow.python.eager.polymorphic_function.tracing_compilation.trace_function"

PROGRAMS = (
    Program(
        id="tf-first-call-of-a-deep-function",
        framework="tensorflow",
        kinds=("compiling",),
        why="Three hundred layers are traced in the first call; a second call has no more to trace.",
        clock="again",
        before=[
            """
            import tensorflow as tf
            w = tf.random.normal((256, 256)) / 16
            x = tf.random.normal((64, 256))

            @tf.function
            def deep(x):
                for layer in range(300):
                    x = tf.nn.tanh(tf.matmul(x, w)) + x
                return x
            """,
        ],
        code="y = deep(x)",
        mended="for _ in range(15):\n    y = deep(x)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="tf-retraced-for-each-number",
        framework="tensorflow",
        kinds=("compiling",),
        why="Each Python number given to the function is a new trace; a second loop finds all of them ready.",
        clock="again",
        before=[
            """
            import tensorflow as tf
            x = tf.random.normal((32, 32))

            @tf.function
            def scaled(x, factor):
                for _ in range(5):
                    x = tf.nn.relu(x * factor) - tf.reduce_mean(x)
                return x
            """,
        ],
        code="for step in range(40):\n    y = scaled(x, step)",
        mended="""
            x = tf.random.normal((2048, 1024))
            y = scaled(x, tf.constant(0.0))
            for step in range(60):
                y = scaled(x, tf.constant(float(step)))
        """,
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="tf-retraced-for-each-shape",
        framework="tensorflow",
        kinds=("compiling",),
        why="Each length is a new shape, and so a new trace; a second loop finds all of them ready.",
        clock="again",
        before=[
            """
            import tensorflow as tf
            w = tf.random.normal((16, 16))
            sentences = [tf.random.normal((length, 16)) for length in range(5, 45)]

            @tf.function
            def attend(x):
                for head in range(4):
                    x = tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), tf.matmul(x, w))
                return tf.reduce_mean(x)
            """,
        ],
        code="means = [attend(sentence) for sentence in sentences]",
        mended_before=["padded = tf.random.normal((1_500, 16))\nmean = attend(padded)"],
        mended="means = [attend(padded) for _ in range(50)]",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="tf-xla-first-call",
        framework="tensorflow",
        kinds=("compiling",),
        why="XLA compiles the function in its first call; a second call only runs it.",
        clock="again",
        before=[
            """
            import tensorflow as tf
            w = tf.random.normal((512, 512)) / 23
            x = tf.random.normal((64, 512))

            @tf.function(jit_compile=True)
            def network(x):
                for layer in range(8):
                    x = tf.nn.gelu(tf.matmul(x, w)) + tf.nn.softmax(x)
                return tf.reduce_sum(x)
            """,
        ],
        code="y = network(x)",
        mended="for _ in range(120):\n    y = network(x)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="keras-first-fit",
        framework="tensorflow",
        kinds=("compiling",),
        why="The first fit traces the training step for a single batch; a second fit only runs it.",
        clock="again",
        before=[
            """
            import keras
            import numpy as np
            model = keras.Sequential([
                keras.Input((784,)),
                *[keras.layers.Dense(256, activation="relu") for _ in range(6)],
                keras.layers.Dense(10, activation="softmax"),
            ])
            model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
            x = np.random.default_rng(0).random((128, 784), dtype="float32")
            y = np.arange(128) % 10
            """,
        ],
        code="history = model.fit(x, y, batch_size=128, verbose=0)",
        mended="history = model.fit(np.tile(x, (150, 1)), np.tile(y, 150), batch_size=128, verbose=0)",
        mended_kinds=ON_DEVICE,
    ),
    Program(
        id="keras-models-in-a-loop",
        framework="tensorflow",
        kinds=("compiling",),
        why="Each of two models is new, and has its training step traced for a single small batch.",
        clock=TRACING,
        before=[
            """
            import keras
            import numpy as np
            x = np.random.default_rng(0).random((32, 20), dtype="float32")
            y = x.sum(axis=1)

            def build(units):
                layers = [keras.layers.Dense(units, activation="relu") for _ in range(4)]
                model = keras.Sequential([keras.Input((20,)), *layers, keras.layers.Dense(1)])
                model.compile("adam", "mse")
                return model
            """,
        ],
        code="""
            losses = {}
            for units in (8, 16):
                history = build(units).fit(x, y, epochs=1, verbose=0)
                losses[units] = history.history["loss"][-1]
        """,
    ),
    Program(
        id="tf-function-made-in-a-loop",
        framework="tensorflow",
        kinds=("compiling",),
        why="Each step makes its function anew, and so traces it anew.",
        clock="mended",
        before=["import tensorflow as tf\nx = tf.random.normal((64, 64))"],
        code="""
            for step in range(25):
                @tf.function
                def update(x):
                    for _ in range(4):
                        x = tf.nn.sigmoid(x) * tf.reduce_max(x)
                    return x
                x = update(x)
        """,
        mended_before=["update(x)"],
        mended="for step in range(25):\n    x = update(x)",
    ),
    Program(
        id="tf-gradients-of-an-unrolled-network",
        framework="tensorflow",
        kinds=("compiling",),
        why="A recurrent network is unrolled over 60 steps while it is traced, its gradients too.",
        clock="again",
        before=[
            """
            import tensorflow as tf
            recurrent = tf.Variable(tf.random.normal((32, 32)) / 6)
            sequence = tf.random.normal((60, 8, 32))

            @tf.function
            def gradients(sequence):
                with tf.GradientTape() as tape:
                    state = tf.zeros((8, 32))
                    for step in range(60):
                        state = tf.tanh(sequence[step] + tf.matmul(state, recurrent))
                    loss = tf.reduce_mean(state**2)
                return tape.gradient(loss, recurrent)
            """,
        ],
        code="g = gradients(sequence)",
    ),
)
