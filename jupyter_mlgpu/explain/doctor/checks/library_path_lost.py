"""A Jupyter started from the desktop, or behind System Integrity Protection, lacks the shell's library path.

Sources: SixQuant/tensorflow-macos-gpu's README and jupyterlab/jupyterlab#4918 (DYLD_LIBRARY_PATH),
tensorflow/tensorflow#60790, #56959 and jupyter/notebook#2120 (LD_LIBRARY_PATH: the GPU works only in the
terminal).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("The shell's library path reaches Python")


def judge(facts: Facts) -> Verdict:
    """Return a finding if neither this process nor a kernelspec has the shell's library path."""
    here, shell = known(facts.environment.variables), known(facts.environment.shell)
    name = "DYLD_LIBRARY_PATH" if known(facts.machine.system) == "Darwin" else "LD_LIBRARY_PATH"
    value = shell.get(name)
    if not value:
        return Fine(say("The shell does not set {name}.", name=name))
    specs = known_or(facts.kernel.specs, ())
    if name in here or any(name in known_or(spec.env, {}) for spec in specs):
        return Fine(say("{name} is set here, or for a kernel.", name=name))
    if name == "LD_LIBRARY_PATH" and any(one.source == "wheel" for one in known_or(facts.libraries, ())):
        # The variable would be searched first, which the check `cuda_library_path` reports.
        return Fine(say("Installed wheels bring the CUDA libraries, without {name}.", name=name))
    protected = name.startswith("DYLD") and known_or(facts.machine.protected, None)
    evidence = say("The shell sets {setting}, but this Python does not have it.", setting=f"{name}={value}")
    return Finding(
        title=say("The shell's library path does not reach the kernel, so libraries in it are not found."),
        evidence=joined(evidence, say("System Integrity Protection removes it.")) if protected else evidence,
        remedy=run("python", "-m", "ipykernel", "install", "--sys-prefix", "--env", name, value),
        confidence="likely",
        cause=Cause.SETTINGS,
    )
