"""Logs that people reported: what is said of each, and of texts that only look like them."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.explain.logs.stream import messages

CATALOGUE = Catalogue.load()
LOGS = Path(__file__).parents[1] / "data" / "reported" / "logs"
#: What every recent CUDA error of PyTorch says after its first line.
AFTER_CUDA_ERROR = (
    "Search for `cudaErrorSome' in https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html "
    "for more information.",
    "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
    "might be incorrect.",
    "For debugging consider passing CUDA_LAUNCH_BLOCKING=1",
    "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.",
)
AFTER_HIP_ERROR = (
    "Search for `hipErrorSome' in https://rocm.docs.amd.com/projects/HIP/en/latest/index.html "
    "for more information.",
    "HIP kernel errors might be asynchronously reported at some other API call, so the stacktrace below "
    "might be incorrect.",
    "For debugging consider passing AMD_SERIALIZE_KERNEL=3",
    "Compile with `TORCH_USE_HIP_DSA` to enable device-side assertions.",
)
#: The messages of each log that are known, in order.
KNOWN = {
    "L3_jax_mps": [("jax-platform-experimental", "info"), ("metal-metallib-missing", "action")],
    "L4_mlx_lora": [
        ("mlx-gpu-interactivity", "fatal"),
        ("mac-crash-abort", "fatal"),
        ("leaked-semaphores", "harmless"),
    ],
    "L5_mps_matmul": [("mps-operation-dimensions", "fatal"), ("mac-crash-abort", "fatal")],
    "L6_cuda_capture": [("torch-cuda-capture", "action"), ("torch-cuda-capture", "action")],
    "L7_jax_cusparse": [("jax-cuda-library-hidden", "action"), ("jax-cuda-package-missing", "action")],
    "L8_jax_cpu_node": [("jax-cuda-no-device", "harmless")],
    "L9_jaxdecomp": [("jax-cuda-library-hidden", "action")],
    "L13_bn3d": [
        ("cpu-frequency-unknown", "harmless"),
        ("plugin-optimizer-enabled", "info"),
        ("batch-norm-4d-only", "action"),
    ],
    "L14_nvrtc": [("torch-script-failed", "info"), ("cuda-nvrtc-builtins-missing", "action")],
    "L18_accel": [("torch-cuda-device-assert", "fatal")],
    "L19_mpsnote": [("torch-mps-mlir-note", "info")],
}
every_log = pytest.mark.parametrize("name", KNOWN)


def known(text: str | bytes) -> list[tuple[str, str]]:
    data = text.encode() if isinstance(text, str) else text
    return [(one.id, one.verdict) for _, one in messages([data], CATALOGUE) if one]


def ids(text: str) -> list[str]:
    return [name for name, _ in known(text)]


def advice(text: str) -> str:
    return " ".join(one.advice() for _, one in messages([text.encode()], CATALOGUE) if one)


def log(name: str) -> str:
    return (LOGS / f"{name}.txt").read_text(encoding="utf-8")


def test_every_reported_log_is_expected_here():
    assert {path.stem for path in LOGS.glob("*.txt")} == KNOWN.keys()


@every_log
def test_a_reported_log_is_explained_as_it_should_be(name):
    assert known(log(name)) == KNOWN[name]


@every_log
def test_a_reported_log_is_explained_alike_with_windows_line_ends(name):
    assert known(log(name).replace("\n", "\r\n")) == KNOWN[name]


@every_log
def test_a_reported_log_is_explained_alike_in_colour(name):
    coloured = "".join(f"\x1b[31m{line}\x1b[0m\n" for line in log(name).splitlines())
    assert known(coloured) == KNOWN[name]


@every_log
def test_a_cell_that_printed_a_reported_log_has_its_lines_explained_alike(name):
    reader = LogReader(CATALOGUE)
    reader.feed("stderr", log(name).encode(), "12:00")
    lines = [one for one in reader.finish().lines if one.verdict != "unknown"]
    assert {one.verdict for one in lines} == {verdict for _, verdict in KNOWN[name]}
    assert sum(one.count for one in lines) == len(KNOWN[name])


@pytest.mark.parametrize(
    ("name", "wanted", "unwanted"),
    [
        ("L3_jax_mps", "jax-mps", ""),
        ("L4_mlx_lora", "AGX_RELAX_CDM_CTXSTORE_TIMEOUT=1", ""),
        ("L5_mps_matmul", "CPU", "The line before"),
        ("L6_cuda_capture", "outside", "overheated"),
        ("L7_jax_cusparse", "LD_LIBRARY_PATH", "MEM_FRACTION"),
        ("L8_jax_cpu_node", "Nothing to do", "MEM_FRACTION"),
        ("L9_jaxdecomp", "LD_LIBRARY_PATH", "MEM_FRACTION"),
        ("L13_bn3d", "CPU", "run_eagerly"),
        ("L14_nvrtc", "nvidia-cuda-nvrtc", ""),
    ],
)
def test_the_advice_is_what_helped(name, wanted, unwanted):
    assert wanted in advice(log(name))
    assert not unwanted or unwanted not in advice(log(name))


# One message.


@pytest.mark.parametrize(
    "first",
    [
        f"{kind} error: {reason}"
        for kind in ("CUDA", "HIP")
        for reason in (
            "an illegal memory access was encountered",
            "device-side assert triggered",
            "invalid device ordinal",
            "no kernel image is available for execution on the device",
            "operation not permitted when stream is capturing",
            "out of memory",
            "uncorrectable ECC error encountered",
            "unspecified launch failure",
        )
    ],
)
@pytest.mark.parametrize("lead", ["torch.AcceleratorError: ", "RuntimeError: "])
def test_every_line_of_a_recent_pytorch_error_is_one_message(first, lead):
    after = AFTER_CUDA_ERROR if first.startswith("CUDA") else AFTER_HIP_ERROR
    text = "\n".join([lead + first, *after])
    found = list(messages([text.encode()], CATALOGUE))
    assert [message.text for message, _ in found] == [text]
    assert found[0][1] is not None


def test_an_ordinal_out_of_range_is_one_message_with_its_hint():
    text = "\n".join(
        [
            "torch.AcceleratorError: CUDA error: invalid device ordinal",
            "GPU device may be out of range, do you have enough GPUs?",
            *AFTER_CUDA_ERROR,
        ]
    )
    assert ids(text) == ["torch-cuda-invalid-device"]


def test_a_line_that_only_begins_alike_does_not_belong_to_a_cuda_error():
    text = "RuntimeError: CUDA error: device-side assert triggered\nSearch for `loss' in the notebook\n"
    found = [message.text for message, _ in messages([text.encode()], CATALOGUE)]
    assert found == text.splitlines()


def test_the_hints_of_a_cuda_error_are_known_alone():
    assert {ids(line)[0] for line in (*AFTER_CUDA_ERROR, *AFTER_HIP_ERROR)} == {"torch-cuda-async-note"}


def test_a_note_belongs_to_the_error_of_metals_compiler():
    place = "(mpsFileLoc): /AppleInternal/mpsgraph/Core/Files/MPSGraphUtilities.mm:233:0: "
    text = (
        f"{place}error: 'mps.multiply' op operands don't have broadcast-compatible shapes\n"
        f'{place}note: see current operation: %10 = "mps.multiply"(%arg2, %9) : () -> ()\n'
    )
    assert ids(text) == ["mps-type-mismatch"]


# Near misses: the same words from somewhere else.


def test_mlx_by_its_own_words_is_mlx():
    for text in (
        "MLX error: Failed to load the default metallib. library not found",
        "libc++abi: terminating due to uncaught exception of type std::runtime_error: [metal::load_library] "
        "Failed to load",
    ):
        assert ids(text) == ["mlx-metallib"]


def test_a_metallib_that_any_program_may_miss_is_no_fault_of_mlx_alone():
    assert ids("RuntimeError: Failed to load the default metallib. library not found") == [
        "metal-metallib-missing"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "jaxlib.xla_extension.XlaRuntimeError: INTERNAL: jaxlib/gpu/solver_handle_pool.cc:37: operation "
            "gpusolverDnCreate(&handle) failed: cuSolver internal error",
            "jax-gpu-library-failed",
        ),
        (
            "XlaRuntimeError: INTERNAL: jaxlib/gpu/solver_kernels.cc:45: operation "
            "gpusolverDnSgetrf(handle, m, n) failed: cuSolver execution failed",
            "jax-gpu-operation-failed",
        ),
        (
            "RuntimeError: jaxlib/cuda/versions_helpers.cc:113: operation cuInit(0) failed: "
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
            "jax-cuda-driver-not-started",
        ),
        (
            "RuntimeError: jaxlib/cuda/versions_helpers.cc:48: operation cuptiGetVersion(&version) failed: "
            "Unknown CUPTI error 999. This probably means that JAX was unable to load cupti.",
            "jax-cuda-library-hidden",
        ),
        (
            "ERROR:jax._src.xla_bridge:Jax plugin configuration error: Exception when calling "
            "jax_plugins.xla_cuda12.initialize()\nTraceback (most recent call last):\n"
            '  File "a.py", line 1, in initialize\n'
            "    import jax_cuda12_pjrt\n"
            "ImportError: version mismatch",
            "jax-plugin-error",
        ),
        (
            "2026-01-01 10:00:00.123456: E external/local_xla/xla/stream_executor/cuda/cuda_platform.cc:51] "
            "failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: CUDA_ERROR_NO_DEVICE: "
            "no CUDA-capable device is detected",
            "cuda-init-no-device",
        ),
        (
            "tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n\n"
            "Detected at node 'model/conv2d/Conv2D' defined at (most recent call last):\n"
            "Node: 'model/conv2d/Conv2D'\n"
            "input must be 4-dimensional[4,32,64,64,32]\n"
            "\t [[{{node model/conv2d/Conv2D}}]] [Op:__inference_train_function_3323]",
            "graph-execution-error",
        ),
        (
            "InvalidArgumentError: {{function_node __wrapped__FusedBatchNormV3_device_/job:localhost/"
            "replica:0/task:0/device:GPU:0}} input must be 4-dimensional[2,3,3,3,2] [Op:FusedBatchNormV3]",
            "batch-norm-4d-only",
        ),
        ("LLVM ERROR: out of memory", "llvm-error"),
        ("jaxlib._jax.XlaRuntimeError: INTERNAL: CUDA error: unspecified launch failure", "jax-cuda-error"),
        (
            "2026-01-01 10:00:00.123456: W tensorflow/core/framework/op_kernel.cc:1844] INTERNAL: CUDA "
            "error: unspecified launch failure",
            "op-status",
        ),
    ],
)
def test_a_text_that_only_looks_alike_is_explained_by_its_own(text, expected):
    assert ids(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "my_matmul: error: incompatible dimensions",
        "RuntimeError: nvrtc: error: invalid value for --gpu-architecture (-arch)",
        '<unknown>:0: note: see current operation: "tf.AddV2"(%0, %1)',
        "operation not permitted when stream is capturing the screen",
        "input must be 4-dimensional",
    ],
)
def test_a_text_of_another_program_is_left_alone(text):
    assert not {"mps-operation-dimensions", "cuda-nvrtc-builtins-missing", "torch-mps-mlir-note"} & set(
        ids(text)
    )
    assert "torch-cuda-capture" not in ids(text)
    assert "batch-norm-4d-only" not in ids(text)


def test_the_wrapper_of_torchscript_is_one_message_and_the_error_another():
    text = (
        "RuntimeError: The following operation failed in the TorchScript interpreter.\n"
        "Traceback of TorchScript (most recent call last):\n"
        '  File "<string>", line 3, in fallback_cuda_fuser\n'
        "RuntimeError: CUDA error: out of memory\n"
    )
    assert ids(text) == ["torch-script-failed", "torch-cuda-out-of-memory-short"]


def test_a_longer_line_is_explained_too():
    assert ids(log("L19_mpsnote").strip() + " " + "loc(#loc1) " * 300) == ["torch-mps-mlir-note"]
    assert ids(log("L5_mps_matmul").splitlines()[0] + " of operands " + "x" * 3000) == [
        "mps-operation-dimensions"
    ]
