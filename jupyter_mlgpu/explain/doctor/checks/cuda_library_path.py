"""LD_LIBRARY_PATH is searched before the wheels' folders, so an older toolkit there hides their libraries.

Sources: jax-ml/jax#29843, #28929 and #30050 ("Unable to load cuSPARSE. Is it installed?", mended by unsetting
it), bmaltais/kohya_ss#1096 and pytorch/pytorch#80877 (an older cuDNN).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import LibraryFact, Package
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, NOTHING, Remedy, as_written
from jupyter_mlgpu.explain.doctor.versions import older, release
from jupyter_mlgpu.record.sentence import say

TITLE = say("LD_LIBRARY_PATH hides no CUDA library that a framework brought")

#: Library to the package that contains it, without the suffix `-cu12` that most have. libcupti is left out:
#: its files are numbered by years (2023.1.1) and its package like the toolkit, so they cannot be compared.
_PACKAGES = {
    "libcublas": "nvidia-cublas",
    "libcudart": "nvidia-cuda-runtime",
    "libcudnn": "nvidia-cudnn",
    "libcufft": "nvidia-cufft",
    "libcurand": "nvidia-curand",
    "libcusolver": "nvidia-cusolver",
    "libcusparse": "nvidia-cusparse",
    "libcusparseLt": "nvidia-cusparselt",
    "libnccl": "nvidia-nccl",
    "libnvJitLink": "nvidia-nvjitlink",
    "libnvrtc": "nvidia-cuda-nvrtc",
}


def judge(facts: Facts) -> Verdict:
    """Return a finding if a library in LD_LIBRARY_PATH is older than the wheels' one that it hides."""
    nvidia.require_gpu(facts)
    libraries = known(facts.libraries)
    packages = known_or(facts.packages, {})
    # The loader searches by file name, such as libcublas.so.12.
    wheels = {one.file: _wheels_version(one, packages) for one in libraries if one.source == "wheel"}
    hidden = {}
    for one in libraries:
        wanted, version = wheels.get(one.file), known_or(one.version, None)
        if one.source != "LD_LIBRARY_PATH" or one.name not in _PACKAGES or wanted is None or version is None:
            continue
        if len(release(version)) > 1 and older(version, wanted):
            hidden[one.name] = f"{one.name} {version} ({wanted})"
    if not hidden:
        return Fine(say("No CUDA library in LD_LIBRARY_PATH is older than the installed wheels' one."))
    return Finding(
        title=say(
            "LD_LIBRARY_PATH names another CUDA toolkit, which hides libraries that a framework brought."
        ),
        evidence=say(
            "Found there, with the installed wheel's version in parentheses: {libraries}.",
            libraries=", ".join(hidden.values()),
        ),
        remedy=as_written("unset LD_LIBRARY_PATH") + _in_start_file(facts) + FROM_THIS_SHELL,
        confidence="likely",
        cause=Cause.DRIVERS,
    )


def _in_start_file(facts: Facts) -> Remedy:
    """Return a comment if a start file of the shell sets the variable, which new terminals then have."""
    if "LD_LIBRARY_PATH" not in known_or(facts.environment.shell, {}):
        return NOTHING
    return as_written("# A start file of your shell (such as ~/.bashrc) sets it: take it out there as well.")


def _wheels_version(library: LibraryFact, packages: Mapping[str, Package]) -> str | None:
    """Return the version of a wheel's library.

    It is the package's version if the file's name has only the first number.
    """
    version = known_or(library.version, None)
    if version is not None and len(release(version)) > 1:
        return version
    name = re.escape(_PACKAGES.get(library.name, "-"))
    found = [one.version for key, one in packages.items() if re.fullmatch(rf"{name}(-cu\d+)?", key)]
    return found[0] if len(found) == 1 else None
