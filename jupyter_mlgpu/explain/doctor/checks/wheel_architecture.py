"""A package that was built for another processor cannot be loaded.

Source: tensorflow/tensorflow#57483 (x86_64 TensorFlow in an arm64 Python: "incompatible architecture").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.explain.doctor.remedies import pinned, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Packages were built for this processor")
_KNOWN = ("x86_64", "arm64", "aarch64", "i686")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a wheel's tag has another processor than the process."""
    if known_or(facts.python.translated, None):
        return Skipped(say("Python itself runs under Rosetta."))
    process = known(facts.python.architecture)
    packages = known(facts.packages)
    foreign = [name for name, package in sorted(packages.items()) if _is_foreign(package, process)]
    if not foreign:
        return Fine(say("Every relevant package matches Python's architecture ({process}).", process=process))
    command = ("python", "-m", "pip", "install", "--force-reinstall", "--no-cache-dir", "--no-deps")
    return Finding(
        title=say("A package was built for another processor and cannot be loaded."),
        evidence=say(
            "Python is {process}; built for another processor: {names}.",
            process=process,
            names=", ".join(foreign),
        ),
        remedy=run(*command, *pinned(foreign, packages)),
        confidence="sure",
        cause=Cause.PACKAGES,
    )


def _is_foreign(package: Package, process: str) -> bool:
    platforms = [tag.rsplit("-", 1)[-1] for tag in known_or(package.tags, ())]
    named = [one for one in platforms if one.endswith(_KNOWN)]
    return bool(named) and len(named) == len(platforms) and not any(one.endswith(process) for one in named)
