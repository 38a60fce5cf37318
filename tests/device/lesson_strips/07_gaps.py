import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from keras import layers

pictures = np.random.default_rng(0).random((5_120, 28, 28, 1), dtype="float32")
labels = np.arange(5_120) % 10


def network(first, second):
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(first, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(second, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(pictures, labels, batch_size=128, verbose=0)
    return model


small, large = network(8, 32), network(256, 512)
# %%
small.fit(pictures, labels, batch_size=128, epochs=2, verbose=0)
# %%
large.fit(pictures, labels, batch_size=128, epochs=2, verbose=0)
