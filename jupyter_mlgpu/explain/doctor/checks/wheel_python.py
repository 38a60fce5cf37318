"""Compiled packages of another Python, found through PYTHONPATH or a moved environment, cannot be imported.

Source: astral-sh/uv#10166 (a Python 3.10 environment that found the system's NumPy of Python 3.13).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.explain.doctor.versions import minor
from jupyter_mlgpu.record.sentence import say

TITLE = say("Compiled packages were built for this version of Python")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a wheel's tag has another CPython version than this one."""
    version = minor(known(facts.python.version))
    mine = "cp" + version.replace(".", "")
    packages = known(facts.packages)
    foreign = [name for name, package in sorted(packages.items()) if _is_foreign(package, mine)]
    if not foreign:
        return Fine(say("Every relevant compiled package matches Python {version}.", version=version))
    return Finding(
        title=say("A compiled package was built for another version of Python."),
        evidence=say(
            "This is Python {version}; built for another version: {names}.",
            version=version,
            names=", ".join(foreign),
        ),
        remedy=as_written("unset PYTHONPATH")
        + run("python", "-m", "pip", "install", "--force-reinstall", "--no-deps", *foreign),
        confidence="sure",
        cause=Cause.PACKAGES,
    )


def _is_foreign(package: Package, mine: str) -> bool:
    tags = [tag.split("-") for tag in known_or(package.tags, ())]
    compiled = [tag for tag in tags if len(tag) == 3 and tag[0].startswith("cp") and tag[1].startswith("cp")]
    return bool(compiled) and len(compiled) == len(tags) and all(tag[0] != mine for tag in compiled)
