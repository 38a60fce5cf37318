"""JAX's CUDA plug-in must be of jax's own version; another one crashes, or is refused with a warning.

Sources: jax-ml/jax#24901 (a newer plug-in ends in a segmentation fault), ma-gilles/recovar#64.
"""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import say

TITLE = say("jax and its CUDA plug-in have the same version")


def judge(facts: Facts) -> Verdict:
    """A finding where an installed plug-in's version differs from jax's."""
    packages = known(facts.packages)
    jax = packages.get("jax")
    plugins = [name for name in sorted(packages) if re.fullmatch(r"jax-cuda\d+-(plugin|pjrt)", name)]
    if jax is None or not plugins:
        return Skipped(say("jax and a CUDA plug-in are not both installed."))
    others = [name for name in plugins if release(packages[name].version) != release(jax.version)]
    if not others:
        return Fine(say("jax and its plug-in are both {version}.", version=jax.version))
    listed = ", ".join(f"{name} {packages[name].version}" for name in others)
    return Finding(
        title=say("jax and its CUDA plug-in have different versions."),
        evidence=say("Installed: jax {version}, {plugins}.", version=jax.version, plugins=listed),
        remedy=run("pip", "install", *(f"{name}=={jax.version}" for name in plugins)),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
