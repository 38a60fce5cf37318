"""The description of PyTorch, whose support is in this folder. Nothing here imports PyTorch at the top."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified
from jupyter_mlgpu.record.sentence import say

FRAMEWORK = Framework(
    name="torch",
    title="PyTorch",
    backend="jupyter_mlgpu.measure.frameworks.torch.backend:TorchBackend",
    sample="jupyter_mlgpu.measure.frameworks.torch.doctor:sample",
    array_programs="jupyter_mlgpu.measure.frameworks.torch.array_programs:TorchPrograms",
    training="jupyter_mlgpu.measure.frameworks.torch.training:TRAINING",
    profiler="jupyter_mlgpu.measure.frameworks.torch.profiler:TorchProfiler",
    profiling="jupyter_mlgpu.measure.frameworks.torch.profiling",
    why_no_xspace="PyTorch's profiler writes no XSpace, which is what XProf reads; "
    "`%mlc_trace export trace.json.gz` writes its events for Perfetto.",
    build="jupyter_mlgpu.measure.frameworks.torch.doctor:build",
    packages=("torch", "torchaudio", "torchtext", "torchvision", "triton"),
    metal_packages=("torch",),
    show_devices="python -m torch.utils.collect_env",
    caches={"torch": ("TORCH_HOME", ".cache/torch")},
    race_note_gpu=say(
        "On any device but the CPU, PyTorch looks up its default device on every call from "
        "Python; the times include this, about 1 µs per call."
    ),
    gpu_by_default=False,
    compiled_in="torch._dynamo.eval_frame",
    # Read in the source of PyTorch 2.13.
    stack_rules={
        "torch/utils/data/": "loader",
        "torchvision/transforms/": "input",
        "torchvision/datasets/": "input",
        "torchvision/io/": "input",
        "torchaudio/": "input",
        "torch/_dynamo/convert_frame.py": "compiling",
        # Both modules also run compiled code (`forward`, `run`, `wrapper`), so functions are listed.
        "torch/_inductor/compile_fx.py": dict.fromkeys(
            (
                "compile_fx",
                "compile_fx_inner",
                "_compile_fx_inner",
                "fx_codegen_and_compile",
                "codegen_and_compile",
                "fw_compiler_base",
                "bw_compiler",
            ),
            "compiling",
        ),
        "torch/_functorch/aot_autograd.py": dict.fromkeys(
            (
                "aot_module_simplified",
                "prepare_aot_module_simplified",
                "create_aot_state",
                "create_aot_dispatcher_function",
                "_create_aot_dispatcher_function",
                "aot_export_joint_with_descriptors",
                "aot_export_module",
            ),
            "compiling",
        ),
        "torch/_inductor/codecache.py": "compiling",
        "torch/_inductor/async_compile.py": "compiling",
        "torch/_inductor/select_algorithm.py": "compiling",
        "torch/jit/_trace.py": {"trace": "compiling", "_trace_impl": "compiling"},
        "torch/jit/_script.py": {"script": "compiling", "_script_impl": "compiling"},
        "torch/fx/_symbolic_trace.py": {"trace": "compiling"},
        "torch/export/": "compiling",
        "torch/cuda/__init__.py": {"synchronize": "values", "_lazy_init": "compiling"},
        "torch/cuda/streams.py": {"synchronize": "values"},
        "torch/mps/__init__.py": {"synchronize": "values"},
        "torch/profiler/": "profiler",
    },
    verified={
        "cpu": Verified("Linux x86-64, PyTorch 2.13.0"),
        "cuda": Verified("Linux x86-64, NVIDIA H200, PyTorch 2.11.0"),
        "metal": Verified("Linux x86-64, PyTorch 2.13.0", emulated=True),
    },
)
