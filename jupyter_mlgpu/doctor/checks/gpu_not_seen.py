"""The system shows a GPU, and a framework that was built for it lists none.

Sources: tensorflow/tensorflow#16860 (nvidia-smi is good, CUDA_ERROR_NO_DEVICE), #63854 (TensorFlow 2.16 on
Apple silicon).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor import nvidia
from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Answer, Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.metal import COMMUNITYS
from jupyter_mlgpu.doctor.remedies import as_written

ID = "gpu-not-seen"
TITLE = "Every framework sees the GPU"


def judge(facts: Facts) -> Verdict:
    """A finding where a framework that was built for the GPU lists none, for no reason known here."""
    answers = known(facts.frameworks)
    if not known(facts.gpus.found):
        return Skipped("The system shows no GPU.")
    if nvidia.hiding(facts) is not None:
        return Skipped("CUDA_VISIBLE_DEVICES hides the GPU.")
    asked = [name for name in sorted(answers) if name in _LOOK]
    blind = [name for name in asked if _is_blind(answers[name]) and _should_see(facts, name)]
    if not blind:
        return Fine("Each framework that was built for the GPU lists it.")
    said = known_or(answers[blind[0]].said, ())[-2:]
    return Finding(
        title="The system shows a GPU that a framework does not see.",
        evidence=f"{blind[0]} lists no GPU." + (f" It printed: {' / '.join(said)}" if said else ""),
        remedy=_LOOK[blind[0]],
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )


_LOOK = {
    "tensorflow": as_written(
        "TF_CPP_MAX_VLOG_LEVEL=3 "
        'python -c "import tensorflow as tf; print(tf.config.list_physical_devices())" 2>&1 | tail -n 40'
    ),
    "torch": as_written("python -m torch.utils.collect_env"),
    "jax": as_written('JAX_LOGGING_LEVEL=DEBUG python -c "import jax; jax.devices()"'),
    "mlx": as_written('python -c "import mlx.core as mx; print(mx.metal.is_available())"'),
}


def _is_blind(answer: Answer) -> bool:
    return known_or(answer.imported, False) and "gpu" not in known_or(answer.devices, ("gpu",))


def _should_see(facts: Facts, name: str) -> bool:
    packages = known(facts.packages)
    if nvidia.gpus(facts):
        cuda = nvidia.cuda_of(facts, name)
        if cuda is None or nvidia.driver_is_too_old(facts, cuda):
            return False
        wanted = f"libcublas.so.{nvidia.major(cuda)}"
        return any(one.file.startswith(wanted) for one in known_or(facts.libraries, ()))
    plugin = {"tensorflow": "tensorflow-metal", "jax": "jax-metal", "torch": "torch", "mlx": "mlx"}
    apple = any(known_or(gpu.vendor, "") == "apple" for gpu in known(facts.gpus.found))
    return apple and (plugin.get(name) in packages or (name == "tensorflow" and COMMUNITYS in packages))
