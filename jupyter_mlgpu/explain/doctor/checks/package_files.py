"""A package cannot be imported if uninstalling another one has removed its files.

Source: openvinotoolkit/openvino_notebooks#2793 (uninstalling tensorflow broke tensorflow-macos).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import pinned, run
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("No installed package is missing files")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a package's record lists code files that do not exist."""
    packages = known(facts.packages)
    broken = {
        name: count for name, package in sorted(packages.items()) if (count := known_or(package.missing, 0))
    }
    if not broken:
        return Fine(say("Every relevant package has its files."))
    listed = [
        say("{name} is missing {count} of the code files in its record.", name=name, count=count)
        for name, count in broken.items()
    ]
    return Finding(
        title=say("An installed package is missing files."),
        evidence=joined(*listed),
        remedy=run("pip", "install", "--force-reinstall", "--no-deps", *pinned(broken, packages)),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
