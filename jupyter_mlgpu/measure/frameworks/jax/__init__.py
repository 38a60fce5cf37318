"""The description of JAX, whose support is in this folder. Nothing here imports JAX at the top."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified
from jupyter_mlgpu.record.sentence import say

FRAMEWORK = Framework(
    name="jax",
    title="JAX",
    backend="jupyter_mlgpu.measure.frameworks.jax.backend:JaxBackend",
    sample="jupyter_mlgpu.measure.frameworks.jax.doctor:sample",
    array_programs="jupyter_mlgpu.measure.frameworks.jax.array_programs:JaxPrograms",
    training="jupyter_mlgpu.measure.frameworks.jax.training:TRAINING",
    profiler="jupyter_mlgpu.measure.frameworks.jax.profiler:JaxProfiler",
    profiling="jupyter_mlgpu.measure.frameworks.jax.profiling",
    build="jupyter_mlgpu.measure.frameworks.jax.doctor:build",
    oldest="0.8",
    packages=("jax*", "metaljax"),
    metal_packages=("jax-mps", "metaljax", "jax-metal"),
    show_devices='JAX_LOGGING_LEVEL=DEBUG python -c "import jax; jax.devices()"',
    memory_growth_env={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    race_note=say(
        "Timing waits for JAX through the arrays that still exist, but not for work whose "
        "results were discarded."
    ),
    # Read in the source of JAX 0.10.
    stack_rules={
        "jax/_src/compiler.py": "compiling",
        "jax/_src/compilation_cache.py": "compiling",
        "jax/_src/interpreters/mlir.py": "compiling",
        "jax/_src/interpreters/partial_eval.py": {
            "trace_to_jaxpr": "compiling",
            "trace_to_jaxpr_dynamic": "compiling",
            "trace_to_jaxpr_nounits": "compiling",
        },
        "jax/_src/interpreters/pxla.py": {
            "lower_sharding_computation": "compiling",
            "_cached_compilation": "compiling",
            "_cached_lowering_to_hlo": "compiling",
        },
        "jax/_src/xla_bridge.py": {"backends": "compiling", "_init_backend": "compiling"},
        "jax/_src/array.py": {"block_until_ready": "values", "_value": "values", "__array__": "values"},
        "jax/_src/api.py": {"block_until_ready": "values", "device_put": "copy", "device_get": "copy"},
        "jax/_src/profiler.py": {"start_trace": "profiler", "stop_trace": "profiler"},
    },
    remedies={
        "compiling": say(
            "Run it again: what was compiled is kept. `jax.jit` compiles again for other shapes, types and "
            "static arguments."
        ),
        "launch": say(
            "Put more into each launch: the whole step in one function under `jax.jit`, and loops in "
            "`jax.lax.scan`."
        ),
        "transfer": say(
            "Keep results on the device: wait with `jax.block_until_ready`, or read values, once after the "
            "loop."
        ),
        "bandwidth": say(
            "It is near this machine's memory bandwidth: `jax.jit` over more operations fuses them, and a "
            "smaller number type moves fewer bytes."
        ),
        "memory on cuda": say(
            "Use less memory at once: a smaller batch, or `jax.jit(step, donate_argnums=...)`, which reuses "
            "the memory of its arguments."
        ),
    },
    verified={
        "cpu": Verified("Linux x86-64, JAX 0.10.2"),
        "cuda": Verified("Linux x86-64, NVIDIA H200, JAX 0.11.2"),
        "metal": Verified("Linux x86-64, JAX 0.10.2, whose CPU has the name of jax-mps", emulated=True),
    },
)
