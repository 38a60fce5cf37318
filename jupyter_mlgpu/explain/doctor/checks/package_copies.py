"""A second copy of a package on the path is hidden by the first, or hides the intended one.

Sources: pyenv/pyenv#2722 and conda-forge/python-feedstock#171 (`~/.local` comes before the environment).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, NOTHING, as_written, pinned, run
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("No package is installed twice")


# Packages that fail or give other results in another version; a second pip does no harm.
_MATTERS = (
    "tf-",
    "keras",
    "numpy",
    "scipy",
    "h5py",
    "protobuf",
    "ipykernel",
)


def judge(facts: Facts) -> Verdict:
    """Return a finding if a package has a hidden copy of another version."""
    packages = known(facts.packages)
    twice = {
        name: others
        for name, package in sorted(packages.items())
        if name.startswith((*registry.FRAMEWORKS, *_MATTERS))
        and (others := [one for one in known_or(package.copies, ()) if one != package.version])
    }
    if not twice:
        return Fine(say("No relevant package has a second copy with another version on the path."))
    listed = [
        say(
            "{name} {version} hides {others}.",
            name=name,
            version=packages[name].version,
            others=", ".join(twice[name]),
        )
        for name in twice
    ]
    times = 1 + max(map(len, twice.values()))
    at_home = [name for name in twice if known_or(packages[name].place, "") == "user"]
    return Finding(
        title=say("A package is installed twice, and the wrong copy may be imported."),
        evidence=joined(*listed),
        remedy=(
            as_written("# Leave the copy in ~/.local out:\nexport PYTHONNOUSERSITE=1") + FROM_THIS_SHELL
            if at_home
            else sum([run("pip", "uninstall", "-y", *twice)] * times, NOTHING)
            + run("pip", "install", *pinned(twice, packages))
        ),
        confidence="likely",
        cause=Cause.PACKAGES,
    )
