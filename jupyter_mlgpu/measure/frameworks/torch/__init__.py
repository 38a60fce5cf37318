"""The description of PyTorch, whose support is in this folder. Nothing here imports PyTorch at the top."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified
from jupyter_mlgpu.record.sentence import say

_COMPILE_STEP = say("Put more into each operation: larger batches, or `torch.compile` for the whole step.")
_FUSE = say(
    "It is near this machine's memory bandwidth: `torch.compile` fuses operations, and a smaller number type "
    "moves fewer bytes."
)
_LATER = say("Keep results as tensors, and call `.item()` or `.cpu()` once, after the loop.")
_PINNED = say(
    "Keep results as tensors, and call `.item()` once, after the loop. Batches come faster with "
    "`DataLoader(pin_memory=True)` and `.to(device, non_blocking=True)`."
)

# PyTorch's profiler does not see a Mac's GPU.
_TIME_PARTS = say(
    "Time parts of it: wrap each in `with jupyter_mlgpu.trace(name):`, which waits for the GPU at its end."
)

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
    oldest="2.8",
    packages=("torch", "torchaudio", "torchtext", "torchvision", "triton"),
    metal_packages=("torch",),
    show_devices="python -m torch.utils.collect_env",
    caches={"torch": ("TORCH_HOME", ".cache/torch")},
    race_note_gpu=say(
        "On any device but the CPU, PyTorch looks up its default device on every call from "
        "Python; the times include this, about 1 µs per call."
    ),
    gpu_note=say(
        "PyTorch's new tensors are created there: give `device='cpu'` to those that NumPy or the workers of "
        "a `DataLoader` use."
    ),
    gpu_by_default=False,
    names_device=r"\bdevice\b|\bcuda\b|\bmps\b|\.to\(",
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
    # On Metal, `torch.compile` is not suggested: its compiler for that device (Inductor's, in 2.13) is young,
    # and nobody has run it for this project. Neither is pinned memory, which DataLoader ignores there.
    remedies={
        "compiling": say(
            "Run it again: what was compiled is kept. Changed shapes are compiled again; with "
            "`torch.compile(dynamic=True)`, one program serves several."
        ),
        "launch on cpu": _COMPILE_STEP,
        "launch on cuda": _COMPILE_STEP,
        "launch on rocm": _COMPILE_STEP,
        "launch on metal": say(
            "Put more into each operation: larger batches, or one operation on stacked tensors instead of a "
            "loop."
        ),
        "device on metal": _TIME_PARTS,
        "unknown on metal": _TIME_PARTS,
        "transfer": _LATER,
        "transfer on cuda": _PINNED,
        "transfer on rocm": _PINNED,
        "loader on metal": say(
            "A `DataLoader` fetches item by item. Where the data is in memory, index whole batches instead: "
            "`x[i:i + n]`. Otherwise use more workers, `num_workers=`, with the `Dataset` in a module: a "
            "Mac's workers do not see the notebook."
        ),
        "compute on cuda": say(
            "It is near this machine's limit: fewer operations help, or "
            "`torch.autocast('cuda', dtype=torch.bfloat16)`."
        ),
        "compute on metal": say(
            "It is near this machine's limit: fewer operations help, or "
            "`torch.autocast('mps', dtype=torch.float16)`."
        ),
        "bandwidth on cpu": _FUSE,
        "bandwidth on cuda": _FUSE,
        "bandwidth on rocm": _FUSE,
        "memory": say(
            "Use less memory at once: a smaller batch, `torch.no_grad()` where no gradients are needed, or "
            "`del` for what is no longer needed."
        ),
    },
    verified={
        "cpu": Verified("Linux x86-64, PyTorch 2.13.0"),
        "cuda": Verified("Linux x86-64, NVIDIA H200, PyTorch 2.11.0"),
        "metal": Verified("Linux x86-64, PyTorch 2.13.0", emulated=True),
    },
)
