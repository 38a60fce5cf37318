"""The system shows a GPU, and a framework that was built for it lists none.

Sources: tensorflow/tensorflow#16860 (nvidia-smi is good, CUDA_ERROR_NO_DEVICE), #63854 (TensorFlow 2.16 on
Apple silicon).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor import nvidia
from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Answer, Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.remedies import showing_devices
from jupyter_mlgpu.frameworks import registry

ID = "gpu-not-seen"
TITLE = "Every framework sees the GPU"


def judge(facts: Facts) -> Verdict:
    """A finding where a framework that was built for the GPU lists none, for no reason known here."""
    answers = known(facts.frameworks)
    if not known(facts.gpus.found):
        return Skipped("The system shows no GPU.")
    if nvidia.hiding(facts) is not None:
        return Skipped("CUDA_VISIBLE_DEVICES hides the GPU.")
    looks = {name: look for name in sorted(answers) if (look := showing_devices(name)) is not None}
    blind = next((name for name in looks if _is_blind(answers[name]) and _should_see(facts, name)), None)
    if blind is None:
        return Fine("Each framework that was built for the GPU lists it.")
    said = known_or(answers[blind].said, ())[-2:]
    return Finding(
        title="The system shows a GPU that a framework does not see.",
        evidence=f"{blind} lists no GPU." + (f" It printed: {' / '.join(said)}" if said else ""),
        remedy=looks[blind],
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )


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
    apple = any(known_or(gpu.vendor, "") == "apple" for gpu in known(facts.gpus.found))
    return apple and any(one in packages for one in registry.framework(name).metal_packages)
