"""The environment variables that decide how much the frameworks log, as data. MLX has none.

What `%mlc_trace verbose` does with them stands in verbose.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

README = "README of https://github.com/apple/tensorflow_macos"


@dataclass(frozen=True, slots=True)
class Knob:
    """One environment variable.

    `does` is one sentence; `values` says in words what `pattern` accepts; `example` is one such value.
    `framework` is the module that reads it ("fork": Apple's TensorFlow for ML Compute, which never runs
    in this process), `also` another that does, if any. `read` is when: "import" (once, while the framework is
    imported), "first use" (once, later) or "always". `instead` is code that has the same effect after
    the import, if any.
    """

    name: str
    does: str
    values: str
    pattern: str
    example: str
    framework: str
    read: Literal["import", "first use", "always"]
    source: str
    also: str = ""
    instead: str = ""


_TSL = "TensorFlow's xla/tsl/platform/default/logging.cc; seen with TensorFlow 2.19.1 on Linux"
_KNOBS = (
    Knob(
        "TF_CPP_MIN_LOG_LEVEL",
        "hides TensorFlow's native lines below a severity, lines made by the verbose variables too",
        "0 (all), 1 (no INFO), 2 (no WARNING either), 3 (only FATAL)",
        r"[0-3]",
        "0",
        "tensorflow",
        "import",
        _TSL,
        also="jax",
    ),
    Knob(
        "TF_CPP_MAX_VLOG_LEVEL",
        "lets every part of TensorFlow print its verbose lines up to a level",
        "a whole number: 0 (none), 1, 2, ...",
        r"\d{1,3}",
        "1",
        "tensorflow",
        "import",
        _TSL,
        also="jax",
    ),
    Knob(
        "TF_CPP_VMODULE",
        "lets the named source files of TensorFlow print their verbose lines up to a level",
        "file=level pairs with commas between them, the file without folder and ending",
        r"[\w.*?-]+=\d{1,3}(,[\w.*?-]+=\d{1,3})*",
        "execute=1,placer=1",
        "tensorflow",
        "import",
        _TSL,
        also="jax",
    ),
    Knob(
        "TF_NUM_INTEROP_THREADS",
        "limits how many TensorFlow operations run at the same time; with 1 their lines do not mix",
        "a whole number from 1",
        r"[1-9]\d{0,3}",
        "1",
        "tensorflow",
        "first use",
        "TensorFlow's core/common_runtime/process_util.cc",
        instead="tf.config.threading.set_inter_op_parallelism_threads(1) before the first tensor",
    ),
    Knob(
        "AUTOGRAPH_VERBOSITY",
        "makes TensorFlow's AutoGraph say how it translates the Python code of a tf.function",
        "a whole number from 0 (nothing) to 10 (everything)",
        r"\d|10",
        "1",
        "tensorflow",
        "always",
        "TensorFlow's python/autograph/utils/ag_logging.py; seen with TensorFlow 2.19.1",
    ),
    Knob(
        "TF_MLC_LOGGING",
        "makes Apple's fork print the device, its graphs and their MLCSubgraphOp nodes, in graph mode",
        "1",
        r"1",
        "1",
        "fork",
        "import",
        README,
    ),
    Knob(
        "TF_CPP_MIN_VLOG_LEVEL",
        "makes Apple's fork print buffers, keys, weight formats and cache figures, in eager mode; "
        "newer TensorFlow calls it TF_CPP_MAX_VLOG_LEVEL and does not know this name",
        "a whole number: 0 (none), 1, 2, ...",
        r"\d{1,3}",
        "1",
        "fork",
        "import",
        README,
    ),
    Knob(
        "TF_DISABLE_MLC",
        "switches ML Compute off in Apple's fork",
        "1",
        r"1",
        "1",
        "fork",
        "import",
        README,
    ),
    Knob(
        "TF_DISABLE_MLC_EAGER",
        "keeps the named operations off ML Compute in Apple's fork, in eager mode; "
        "their gradients may need it too",
        "operation names, a semicolon before each",
        r"(;\w+)+;?",
        ";MatMul;Relu",
        "fork",
        "import",
        README,
    ),
    Knob(
        "TF_MLC_ALLOCATOR_INIT_VALUE",
        "fills memory that Apple's fork allocates with a value, to find reads of memory never written",
        "a number (its README does not say which forms)",
        r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|0[xX][0-9a-fA-F]+",
        "0",
        "fork",
        "import",
        README,
    ),
    Knob(
        "PYTORCH_MPS_LOG_PROFILE_INFO",
        "makes PyTorch's MPS profiler print operations, copies and work that fell back to the CPU",
        "a sum of the flags of LogOptions in PyTorch's ATen/mps/MPSProfiler.h: "
        "1 operations, 2 copies, 4 work on the CPU, 8 tables of all three at the end, ...; 391: the first "
        "three with their times, which `%%mlc_trace --ops` shows as a table",
        r"\d{1,4}|0[xX][0-9a-fA-F]{1,4}",
        "8",
        "torch",
        "first use",
        "PyTorch's aten/src/ATen/mps/MPSProfiler.h and MPSProfiler.mm",
    ),
    Knob(
        "TORCH_LOGS",
        "makes parts of PyTorch's compiler say what they do",
        "names with commas between them, + before a name for more and - for less",
        r"[+-]?[\w.]+(,[+-]?[\w.]+)*",
        "recompiles,graph_breaks",
        "torch",
        "import",
        "https://docs.pytorch.org/docs/stable/logging.html",
    ),
    Knob(
        "JAX_LOG_COMPILES",
        "makes JAX print a line for each function that it traces and compiles",
        "1 (on) or 0",
        r"[01]",
        "1",
        "jax",
        "import",
        "https://docs.jax.dev/en/latest/debugging/slow_tracing_compilation.html",
        instead='jax.config.update("jax_log_compiles", True)',
    ),
    Knob(
        "NCCL_DEBUG",
        "makes NCCL, which joins several NVIDIA GPUs, say what it does",
        "VERSION, WARN, INFO or TRACE",
        r"VERSION|WARN|INFO|TRACE",
        "INFO",
        "nccl",
        "first use",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting/logging.html",
    ),
)

#: Every variable known here, by its name.
KNOBS: Mapping[str, Knob] = {knob.name: knob for knob in _KNOBS}

FRAMEWORKS: Mapping[str, str] = {
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "jax": "JAX",
    "fork": "Apple's fork",
    "nccl": "NCCL",
}
