import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch

keras.config.set_dtype_policy("mixed_bfloat16")
network = keras.applications.ResNet50(weights=None, classes=8)
network.compile("sgd", "sparse_categorical_crossentropy")
pictures = np.random.default_rng(0).random((1280, 224, 224, 3), dtype="float32")
labels = np.arange(1280) % 8
network.fit(pictures, labels, batch_size=128, verbose=0)
# %%
network.fit(pictures, labels, batch_size=128, verbose=0)
# %%
x, y = torch.tensor(pictures[:128], device="cuda"), torch.tensor(labels[:128], device="cuda")
for _ in range(10):
    network.train_on_batch(x, y)
