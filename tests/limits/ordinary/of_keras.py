"""Cells in the manner of Keras's guides: models that are built, fitted, asked, saved and looked at."""

from __future__ import annotations

from tests.limits.ordinary.cell import Ordinary

DIGITS = """
    import keras
    import numpy as np
    from keras import layers
    rng = np.random.default_rng(0)
    x_train, y_train = rng.random((3_000, 28, 28, 1), dtype="float32"), rng.integers(0, 10, 3_000)

    def convolutional():
        model = keras.Sequential([
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(2),
            layers.Flatten(),
            layers.Dropout(0.5),
            layers.Dense(10, activation="softmax"),
        ])
        model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
        return model
"""
TABLE = """
    import keras
    import numpy as np
    from keras import layers
    rng = np.random.default_rng(0)
    x, y = rng.random((5_000, 20), dtype="float32"), rng.random((5_000, 1), dtype="float32")

    def dense(units=32):
        model = keras.Sequential([
            keras.Input((20,)), layers.Dense(units, activation="relu"), layers.Dense(1),
        ])
        model.compile("adam", "mse")
        return model
"""

ORDINARY = (
    Ordinary(
        id="keras-import-and-first-model",
        framework="tensorflow",
        code="""
            import keras
            from keras import layers
            model = keras.Sequential([keras.Input((784,)), layers.Dense(128, "relu"), layers.Dense(10)])
            model.compile("adam", "mse")
            model.summary()
        """,
    ),
    Ordinary(
        id="keras-first-epoch-of-digits",
        framework="tensorflow",
        before=[DIGITS, "model = convolutional()"],
        code="model.fit(x_train, y_train, batch_size=128, epochs=1, validation_split=0.1)",
    ),
    Ordinary(
        id="keras-later-epochs-of-digits",
        framework="tensorflow",
        before=[DIGITS, "model = convolutional()\nmodel.fit(x_train, y_train, batch_size=128, verbose=0)"],
        code="history = model.fit(x_train, y_train, batch_size=128, epochs=2)",
    ),
    Ordinary(
        id="keras-evaluate-and-predict",
        framework="tensorflow",
        before=[DIGITS, "model = convolutional()"],
        code="""
            print(model.evaluate(x_train, y_train, verbose=0))
            guesses = model.predict(x_train[:1_000]).argmax(axis=1)
        """,
    ),
    Ordinary(
        id="keras-predictions-in-a-loop",
        framework="tensorflow",
        before=[TABLE, "model = dense()\nmodel.predict(x[:1], verbose=0)"],
        code="answers = [float(model.predict(x[i : i + 1], verbose=0)[0, 0]) for i in range(25)]",
    ),
    Ordinary(
        id="keras-many-epochs-of-a-small-table",
        framework="tensorflow",
        before=[TABLE, "model = dense()\nmodel.fit(x[:500], y[:500], verbose=0)"],
        code="history = model.fit(x[:500], y[:500], epochs=20, verbose=0)",
    ),
    Ordinary(
        id="keras-search-of-widths",
        framework="tensorflow",
        before=[TABLE],
        code="""
            results = {}
            for units in (8, 16, 64):
                history = dense(units).fit(x, y, epochs=2, batch_size=256, validation_split=0.2, verbose=0)
                results[units] = history.history["val_loss"][-1]
        """,
    ),
    Ordinary(
        id="keras-early-stopping",
        framework="tensorflow",
        before=[TABLE, "model = dense(64)"],
        code="""
            stop = keras.callbacks.EarlyStopping("val_loss", patience=2)
            history = model.fit(x, y, epochs=8, validation_split=0.2, callbacks=[stop], verbose=0)
        """,
    ),
    Ordinary(
        id="keras-save-and-load",
        framework="tensorflow",
        before=[DIGITS, "import tempfile\nfolder = tempfile.mkdtemp()\nmodel = convolutional()"],
        code="""
            for number in range(5):
                model.save(f"{folder}/{number}.keras")
                model = keras.models.load_model(f"{folder}/{number}.keras")
        """,
    ),
    Ordinary(
        id="keras-text-vectorization",
        framework="tensorflow",
        before=[
            TABLE,
            "texts = ['a film with %d good and %d bad words' % (i, i * 7 % 99) for i in range(8_000)]",
        ],
        code="""
            vectorize = layers.TextVectorization(max_tokens=2_000, output_sequence_length=16)
            vectorize.adapt(texts)
            tokens = vectorize(texts)
            print(tokens.shape, vectorize.get_vocabulary()[:10])
        """,
    ),
    Ordinary(
        id="keras-recurrent-network",
        framework="tensorflow",
        before=[
            TABLE,
            """
            sequences, labels = rng.integers(0, 500, (640, 40)), rng.integers(0, 2, 640)
            stack = [layers.Embedding(500, 32), layers.LSTM(32), layers.Dense(1, "sigmoid")]
            model = keras.Sequential([keras.Input((40,), dtype="int32"), *stack])
            model.compile("adam", "binary_crossentropy")
            """,
        ],
        code="history = model.fit(sequences, labels, batch_size=64, epochs=2, verbose=0)",
    ),
    Ordinary(
        id="keras-functional-model-with-two-inputs",
        framework="tensorflow",
        before=[TABLE],
        code="""
            left, right = keras.Input((10,)), keras.Input((10,))
            merged = layers.concatenate([layers.Dense(32, "relu")(left), layers.Dense(32, "relu")(right)])
            model = keras.Model([left, right], layers.Dense(1)(merged))
            model.compile("adam", "mse")
            model.fit([x[:, :10], x[:, 10:]], y, epochs=3, batch_size=128, verbose=0)
        """,
    ),
    Ordinary(
        id="keras-own-layer-and-gradients",
        framework="tensorflow",
        before=[
            TABLE,
            """
            import tensorflow as tf

            class Scaled(layers.Layer):
                def build(self, shape):
                    self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

                def call(self, inputs):
                    return inputs * self.scale

            model = keras.Sequential([keras.Input((20,)), Scaled(), layers.Dense(1)])
            """,
        ],
        code="""
            for step in range(60):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((model(x[:256]) - y[:256]) ** 2)
                gradients = tape.gradient(loss, model.trainable_weights)
                for weight, gradient in zip(model.trainable_weights, gradients):
                    weight.assign(weight - 0.1 * gradient)
        """,
    ),
    Ordinary(
        id="keras-fit-from-files-of-images",
        framework="tensorflow",
        before=[
            DIGITS,
            """
            import pathlib, tempfile
            folder = pathlib.Path(tempfile.mkdtemp())
            for label in range(2):
                (folder / str(label)).mkdir()
                for number in range(150):
                    pixels = rng.integers(0, 255, (96, 96, 3), dtype="uint8")
                    keras.utils.save_img(folder / str(label) / f"{number}.png", pixels)
            """,
        ],
        code="""
            images = keras.utils.image_dataset_from_directory(folder, image_size=(64, 64), verbose=False)
            stack = [layers.Rescaling(1 / 255), layers.Conv2D(8, 3), layers.GlobalMaxPooling2D()]
            model = keras.Sequential([keras.Input((64, 64, 3)), *stack, layers.Dense(2)])
            model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            model.fit(images, epochs=2, verbose=0)
        """,
    ),
)
