"""A second copy of a package on the path is hidden by the first, or hides the one that was meant.

Sources: pyenv/pyenv#2722 and conda-forge/python-feedstock#171 (`~/.local` comes before the environment).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or

ID = "package-copies"
TITLE = "No package is installed twice"


def judge(facts: Facts) -> Verdict:
    """A finding where a package has a hidden copy of another version."""
    packages = known(facts.packages)
    twice = {
        name: others
        for name, package in sorted(packages.items())
        if (others := [one for one in known_or(package.copies, ()) if one != package.version])
    }
    if not twice:
        return Fine("No package of interest has a second copy of another version on the path.")
    listed = "; ".join(f"{name} {packages[name].version} hides {', '.join(twice[name])}" for name in twice)
    at_home = [name for name in twice if known_or(packages[name].place, "") == "user"]
    return Finding(
        title="A package is installed twice, and the wrong copy may be the one that is imported.",
        evidence=f"{listed}.",
        remedy=(
            "# The first copy lies in ~/.local; leave that folder out:\nexport PYTHONNOUSERSITE=1"
            if at_home
            else f"# Repeat until nothing is left, then install once:\npip uninstall -y {' '.join(twice)}"
        ),
        confidence="likely",
        cause=Cause.PACKAGES,
    )
