"""A framework, or its plug-in, needs a library or a symbol that does not exist.

Sources: tensorflow/models#10617 and tensorflow/tensorflow#126360 (symbol not found),
tensorflow/tensorflow#57483 (incompatible architecture), jupyterhub/the-littlest-jupyterhub#208 (cannot open
shared object file).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.loading import loaders_line
from jupyter_mlgpu.explain.doctor.remedies import pinned, run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("Every framework finds its libraries")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a framework's import failed with an error of the loader."""
    packages = known(facts.packages)
    for name, answer in sorted(known(facts.frameworks).items()):
        error = known_or(answer.error, None) or ""
        line = loaders_line(error)
        if known_or(answer.imported, True) or line is None:
            continue
        tensorflow = packages.get("tensorflow")
        if "metal" in error and tensorflow and not older(tensorflow.version, "2.20"):
            return Skipped(say("No Metal plug-in loads into this TensorFlow."))
        parts = (name, f"{name}-metal", f"{name}lib")
        names = [one for one in parts if one in packages]
        command = ("pip", "install", "--force-reinstall", "--no-cache-dir")
        return Finding(
            title=say("{name} cannot be imported: a library or symbol is missing.", name=name),
            evidence=say("The error was: {said}", said=line[:300]),
            remedy=run(*command, *pinned(names or [name], packages)),
            confidence="likely",
            cause=Cause.FRAMEWORKS,
        )
    return Fine(say("No framework is missing a library."))
