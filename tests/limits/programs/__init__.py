"""All planted programs: those of plain Python by their cause, those of a framework by cause and framework."""

from __future__ import annotations

from tests.limits.program import Program
from tests.limits.programs import (
    compiling_tensorflow,
    contention,
    cuda_jax,
    cuda_second,
    cuda_torch_busy,
    cuda_torch_idle,
    device_tensorflow,
    input_tensorflow,
    interpreter,
    jax_starting,
    jax_working,
    launch_tensorflow,
    mlx_cells,
    numpy_cells,
    other_tensorflow,
    torch_starting,
    torch_working,
    waiting,
)

PROGRAMS: tuple[Program, ...] = (
    *waiting.PROGRAMS,
    *interpreter.PROGRAMS,
    *numpy_cells.PROGRAMS,
    *compiling_tensorflow.PROGRAMS,
    *launch_tensorflow.PROGRAMS,
    *device_tensorflow.PROGRAMS,
    *input_tensorflow.PROGRAMS,
    *other_tensorflow.PROGRAMS,
    *torch_starting.PROGRAMS,
    *torch_working.PROGRAMS,
    *jax_starting.PROGRAMS,
    *jax_working.PROGRAMS,
    *mlx_cells.PROGRAMS,
    *contention.PROGRAMS,
    *cuda_torch_idle.PROGRAMS,
    *cuda_torch_busy.PROGRAMS,
    *cuda_jax.PROGRAMS,
    *cuda_second.PROGRAMS,
)
