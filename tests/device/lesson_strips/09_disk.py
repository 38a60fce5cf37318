import os

os.environ["KERAS_BACKEND"] = "torch"
import time

import keras
import numpy as np

network = keras.applications.MobileNetV2(weights=None, classes=8, input_shape=(128, 128, 3))
network.compile("sgd", "sparse_categorical_crossentropy")
few = np.random.default_rng(0).random((64, 128, 128, 3), dtype="float32")


class FromDisk(keras.utils.PyDataset):
    def __len__(self):
        return 10

    def __getitem__(self, index):
        time.sleep(0.3)  # as if it were read from a disk
        return few, np.arange(64) % 8


network.fit(FromDisk(), verbose=0)
# %%
network.fit(FromDisk(), verbose=0)
# %%
network.fit(FromDisk(workers=4), verbose=0)
