"""JAX: described here, and everything of it in this folder. Nothing here imports it at the top."""

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
    build="jupyter_mlgpu.measure.frameworks.jax.doctor:build",
    packages=("jax*",),
    metal_packages=("jax-metal",),
    show_devices='JAX_LOGGING_LEVEL=DEBUG python -c "import jax; jax.devices()"',
    modest={"XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    race_note=say(
        "JAX is waited for through the arrays that are still there; work whose results were dropped is not."
    ),
    verified={
        "cpu": Verified("Linux x86-64, JAX 0.10.2"),
        "cuda": Verified("Linux x86-64, NVIDIA H200, JAX 0.11.2"),
    },
)
