"""A stand-in for Apple's TensorFlow fork: what its README promises, and log lines people really saw.

Native lines go to file descriptor 2, Python's to `sys.stderr`, as there. `matmul` falls back to TensorFlow
as in apple/tensorflow_macos#195; `crash` dies as in #253.
"""

import os
import sys
import types

from tensorflow.python.compiler.mlcompute import state

__version__ = "2.4.0-rc0"

TIME = "2021-03-08 20:50:58.716976: "
SUBGRAPH = "I tensorflow/compiler/tf2mlcompute/kernels/mlc_subgraph_op.cc:332] "


def native(line):
    os.write(2, (TIME + line + "\n").encode())


if os.environ.get("TF_MLC_LOGGING") == "1":
    native(
        "I ./tensorflow/compiler/tf2mlcompute/convert/mlc_graph_conversion_pass.h:35] "
        "MLCGraphConversionPass: Initialized"
    )
    native(
        "I tensorflow/compiler/tf2mlcompute/eager/mlc_eager_op_rewrite.cc:45] MLCEagerOpRewrite: Initialized"
    )


def executing_eagerly():
    return state.eager


def constant(value):
    state.initialized = True
    return value


def matmul(a, b):
    state.initialized = True
    if os.environ.get("TF_DISABLE_MLC") != "1":
        native(
            SUBGRAPH
            + "Compute: Failed in processing TensorFlow graph MLCSubgraphOp_0_1 with frame_id = 0 and "
            "iter_id = 0 with error: Internal: AddLayerToMLCGraph: Failed to add layer to MLCGraph for node: "
            "n10 = dropout/RealDiv (RealDiv). (error will be reported 5 times unless TF_MLC_LOGGING=1)."
        )
        native(SUBGRAPH + "Falling back to TensorFlow...")
    return a * b


def crash():
    os.write(2, b"terminating with uncaught exception of type NSException\n")
    os.abort()


def _set_inter_op_parallelism_threads(number):
    sys.stderr.write(f"fake fork: {number} inter-op threads\n")


def _disable_eager_execution():
    state.eager = False


compat = types.SimpleNamespace(v1=types.SimpleNamespace(disable_eager_execution=_disable_eager_execution))
config = types.SimpleNamespace(
    threading=types.SimpleNamespace(set_inter_op_parallelism_threads=_set_inter_op_parallelism_threads)
)
