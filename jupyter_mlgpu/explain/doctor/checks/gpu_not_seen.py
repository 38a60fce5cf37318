"""The system has a GPU, but a framework that was built for it lists none.

Sources: tensorflow/tensorflow#16860 (nvidia-smi works, CUDA_ERROR_NO_DEVICE), #63854 (TensorFlow 2.16 on
Apple silicon).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import FrameworkAnswer
from jupyter_mlgpu.explain.doctor.remedies import showing_devices
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("Every framework sees the GPU")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a framework built for the GPU lists none, and no other check explains it."""
    answers = known(facts.frameworks)
    if not known(facts.gpus.found):
        return Skipped(say("The system reports no GPU."))
    if nvidia.hiding(facts) is not None:
        return Skipped(say("CUDA_VISIBLE_DEVICES hides the GPU."))
    commands = {name: look for name in sorted(answers) if (look := showing_devices(name)) is not None}
    name = next((name for name in commands if _is_blind(answers[name]) and _should_see(facts, name)), None)
    if name is None:
        return Fine(say("Each framework built for the GPU lists it."))
    lines = known_or(answers[name].said, ())[-2:]
    evidence = say("{name} lists no GPU.", name=name)
    if lines:
        evidence = joined(evidence, say("It printed: {lines}", lines=" / ".join(lines)))
    return Finding(
        title=say("A framework does not see the GPU that the system reports."),
        evidence=evidence,
        remedy=commands[name],
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )


def _is_blind(answer: FrameworkAnswer) -> bool:
    return known_or(answer.imported, False) and "gpu" not in known_or(answer.devices, ("gpu",))


def _should_see(facts: Facts, name: str) -> bool:
    packages = known(facts.packages)
    if nvidia.gpus(facts):
        cuda = nvidia.cuda_of(facts, name)
        if cuda is None or nvidia.driver_is_too_old(facts, cuda):
            return False
        library = f"libcublas.so.{nvidia.major(cuda)}"
        return any(one.file.startswith(library) for one in known_or(facts.libraries, ()))
    apple = any(known_or(gpu.vendor, "") == "apple" for gpu in known(facts.gpus.found))
    return apple and any(one in packages for one in registry.framework(name).metal_packages)
