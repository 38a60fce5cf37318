"""The functions of the fork's README; the error is that of apple/tensorflow_macos#58, the warning of #71."""

import os
import sys

from tensorflow.python.compiler.mlcompute import state


def set_mlc_device(device_name="any"):
    if state.initialized:
        raise RuntimeError("MLCompute device must be set before initialization")
    if state.eager and device_name == "gpu":
        sys.stderr.write("WARNING:tensorflow:Eager mode uses the CPU. Switching to the CPU.\n")


def is_apple_mlc_enabled():
    return os.environ.get("TF_DISABLE_MLC") != "1"


def is_tf_compiled_with_apple_mlc():
    return True
