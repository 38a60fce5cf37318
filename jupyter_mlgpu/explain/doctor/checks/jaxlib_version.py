"""jaxlib is compiled for jax of its own version; jax refuses a newer one, and its requirement an older one.

Sources: jax-ml/jax#17638, google-deepmind/alphafold#1064 ("jaxlib version ... is newer than and incompatible
with jax version").
"""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.doctor.check import (
    Cause,
    Facts,
    Finding,
    Fine,
    Verdict,
    installed,
    known_or,
)
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("jaxlib matches jax")


def judge(facts: Facts) -> Verdict:
    """A finding where jaxlib is newer than jax, or older than jax's own requirement."""
    jax, jaxlib = installed(facts, "jax", "jaxlib")
    found = say(
        "jaxlib {jaxlib} is installed alongside jax {version}.", jaxlib=jaxlib.version, version=jax.version
    )
    least = _least(known_or(jax.requires, ()))
    if not older(jax.version, jaxlib.version) and not (least and older(jaxlib.version, least)):
        return Fine(found)
    return Finding(
        title=say("jax and jaxlib do not match, so JAX cannot be imported."),
        evidence=found,
        remedy=run("pip", "install", f"jax=={jax.version}", f"jaxlib=={jax.version}"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )


def _least(requires: tuple[str, ...]) -> str | None:
    line = next((one for one in requires if re.match(r"jaxlib\b", one)), "")
    found = re.search(r">=\s*([\d.]+)", line)
    return found[1] if found else None
