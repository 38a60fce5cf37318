"""The description of MLX, whose support is in this folder. Nothing here imports MLX at the top."""

from jupyter_mlgpu.measure.frameworks.base import Framework, Verified
from jupyter_mlgpu.record.sentence import say

_TIME_PARTS = say(
    "`%%mlc_trace --ops` at the top of the cell times layers of `mlx.nn`. To time another part, wrap it "
    "in `with jupyter_mlgpu.trace(name):` and end it with `mx.eval` of its result."
)

FRAMEWORK = Framework(
    name="mlx",
    title="MLX",
    backend="jupyter_mlgpu.measure.frameworks.mlx.backend:MlxBackend",
    sample="jupyter_mlgpu.measure.frameworks.mlx.doctor:sample",
    array_programs="jupyter_mlgpu.measure.frameworks.mlx.array_programs:MlxPrograms",
    training="jupyter_mlgpu.measure.frameworks.mlx.training:TRAINING",
    profiler="jupyter_mlgpu.measure.frameworks.mlx.layer_times:MlxLayerTimes",
    why_no_profiler=say(
        "MLX has no profiler, so there are no times per operation: to time a part of the "
        "cell, wrap it in `with jupyter_mlgpu.trace(name):` and end it with mx.eval of its "
        "result."
    ),
    evaluate="jupyter_mlgpu.measure.frameworks.mlx.backend:evaluate",
    oldest="0.31",
    packages=("mlx", "mlx-cpu", "mlx-cuda", "mlx-cuda-12", "mlx-cuda-13", "mlx-metal"),
    metal_packages=("mlx",),
    show_devices='python -c "import mlx.core as mx; print(mx.metal.is_available())"',
    race_note=say(
        "MLX computes a value only when it is needed. The value of the cell's last "
        "expression is evaluated and waited for; other work that the cell left unevaluated "
        "is not in the times."
    ),
    # The default device itself is known.
    names_device=r"(?<!default_device\(mx)\.(?:cpu|gpu)\b|\bstream\s*=|\.stream\(|\.new_\w*stream\(",
    keeps_gil=True,
    remedies={
        "compiling": say(
            "Run it again: what was compiled is kept. `mx.compile` compiles again for other shapes and types."
        ),
        "launch": say(
            "Put more into each evaluation: `mx.compile` for the whole step, and one `mx.eval` at its end "
            "instead of several."
        ),
        "transfer": say(
            "`.item()` and `print` wait for all that was not evaluated: keep results as arrays, and call "
            "`mx.eval` once per step. `mx.async_eval` lets Python go on meanwhile."
        ),
        "values": say(
            "MLX computes here all that was not evaluated before. In a loop, call `mx.eval` once per step, "
            "and read values after it. `%%mlc_trace --ops` times layers of `mlx.nn`."
        ),
        "device": _TIME_PARTS,
        "unknown": _TIME_PARTS,
        "bandwidth": say(
            "It is near this machine's memory bandwidth: `mx.compile` fuses operations, and a smaller number "
            "type moves fewer bytes."
        ),
        "memory": say(
            "Use less memory at once: a smaller batch, and `mx.eval` in each step, because what was not "
            "evaluated keeps all its inputs."
        ),
    },
    verified={
        "cpu": Verified("Linux x86-64, MLX 0.32.4"),
        "metal": Verified("Linux x86-64, MLX 0.32.4, computed on the CPU", emulated=True),
    },
)
