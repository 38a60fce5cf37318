import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
from keras import layers

pictures = np.random.default_rng(0).random((5_120, 28, 28, 1), dtype="float32")
labels = np.arange(5_120) % 10


def looking_through_windows(first, second):
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(first, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(second, 5, activation="relu"),
            layers.GlobalMaxPooling2D(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(pictures, labels, batch_size=128, verbose=0)
    return model


small, very_large = looking_through_windows(8, 32), looking_through_windows(256, 512)
# %%
small.fit(pictures, labels, batch_size=128, epochs=2, verbose=0)
# %%
very_large.fit(pictures, labels, batch_size=128, epochs=2, verbose=0)
