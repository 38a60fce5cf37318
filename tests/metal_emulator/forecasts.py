"""Plans made on plain Linux, where TensorFlow sees no GPU.

`python -m tests.metal_emulator.forecasts FOLDER mlp cnn` pickles each plan into a file of its model's name.
"""

from __future__ import annotations

import os
import pickle
import sys
from pathlib import Path


def main(folder: Path, names: list[str]) -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    import jupyter_mlgpu
    from tests.metal_emulator import models

    if tf.config.list_physical_devices("GPU"):
        sys.exit("There is a GPU here: these are plans for one that is not there.")
    for name in names:
        model, x, y = models.made(name)
        (folder / name).write_bytes(pickle.dumps(jupyter_mlgpu.plan(model, x, y)))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
