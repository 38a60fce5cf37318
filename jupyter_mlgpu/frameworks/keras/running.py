"""Which framework Keras runs on in this process."""

from __future__ import annotations

import os
import sys

from jupyter_mlgpu.errors import BenchError
from jupyter_mlgpu.frameworks.modules import installed


def run_on(wanted: str) -> None:
    """Start Keras on a framework, if it has not started yet; raises BenchError where it runs on another."""
    if not installed("keras"):
        raise BenchError(
            "Keras is not installed here, and this case needs it: `pip install keras` installs it."
        )
    if "keras" not in sys.modules:
        os.environ.setdefault("KERAS_BACKEND", wanted)
    if why := wrong_backend(wanted):
        raise BenchError(why)


def wrong_backend(wanted: str) -> str | None:
    """Why Keras cannot be used with `wanted` in this process, in a sentence; else None. Imports Keras."""
    import keras

    found = keras.backend.backend()
    if found == wanted:
        return None
    return (
        f"Keras runs on {found} in this process, and this needs it on {wanted}: set "
        f"KERAS_BACKEND={wanted} before Python starts."
    )
