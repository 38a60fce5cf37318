"""jax-metal 0.1.1, the last one, serves jax before 0.5.1.

Sources: jax-ml/jax#27062 ("UNIMPLEMENTED: default_memory_space is not supported"; 0.5.0 works, 0.5.1 does
not), patrick-kidger/diffrax#659.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("jax is old enough for jax-metal")


def judge(facts: Facts) -> Verdict:
    """A finding where jax-metal stands beside jax 0.5.1 or newer."""
    plugin, jax = installed(facts, "jax-metal", "jax")
    found = say(
        "jax-metal {plugin} is installed alongside jax {version}.", plugin=plugin.version, version=jax.version
    )
    if older(jax.version, "0.5.1"):
        return Fine(found)
    return Finding(
        title=say("jax-metal does not work with this version of jax: creating any array fails."),
        evidence=joined(found, say("The last version of jax that it supports is 0.5.0.")),
        remedy=as_written(
            "pip install jax==0.5.0 jaxlib==0.5.0\n# Or, for JAX on the CPU: pip uninstall -y jax-metal"
        ),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
