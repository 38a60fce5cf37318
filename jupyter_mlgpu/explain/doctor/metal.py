"""Tells the two plug-ins that give TensorFlow a Mac's GPU apart.

Apple's, `tensorflow-metal`, has had no release since January 2025 and loads into TensorFlow before 2.20. The
community's, `tensorflow-metal-plugin`, names the TensorFlow that it supports in its requirements: 2.20 (its
kernels were listed with 2.20.0), and 2.21 in release 0.4.1 (read in its source distribution).
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.record.sentence import Sentence, say

APPLES = "tensorflow-metal"
COMMUNITYS = "tensorflow-metal-plugin"


def communitys(packages: Mapping[str, Package]) -> Sentence | None:
    """Return a sentence on the community's plug-in if it is installed, else None."""
    plugin = packages.get(COMMUNITYS)
    if plugin is None:
        return None
    return say(
        "The community's Metal plug-in {plugin} {version} is installed.",
        plugin=COMMUNITYS,
        version=plugin.version,
    )
