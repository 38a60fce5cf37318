"""Several distributions install a folder `tensorflow`; they overwrite each other, or the first hides others.

Sources: tensorflow/tensorflow#125351, Unity-Technologies/ml-agents#3729 (tensorflow-cpu hid tensorflow-gpu),
apple/turicreate#3405.
"""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import Package
from jupyter_mlgpu.explain.doctor.remedies import pinned, run
from jupyter_mlgpu.record.sentence import Sentence, say

TITLE = say("Only one TensorFlow is installed")
_ALL = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-gpu",
    "tensorflow-rocm",
    "tensorflow-intel",
    "tensorflow-aarch64",
    "tensorflow-cpu-aws",
    "tf-nightly",
    "tf-nightly-cpu",
)
# Packages that `tensorflow` itself requires in its own version.
_PARTS = ("tensorflow-intel", "tensorflow-aarch64", "tensorflow-cpu-aws")


def judge(facts: Facts) -> Verdict:
    """Return a finding if two distributions that contain TensorFlow are installed."""
    packages = known(facts.packages)
    main = packages.get("tensorflow")
    found = [
        name
        for name in _ALL
        if name in packages and not (main and name in _PARTS and packages[name].version == main.version)
    ]
    if len(found) < 2:
        return Fine(
            say("Installed: {names}.", names=found[0]) if found else say("TensorFlow is not installed.")
        )
    keep = "tensorflow" if main else found[0]
    title, evidence = _where({name: packages[name] for name in found})
    return Finding(
        title=title,
        evidence=evidence,
        remedy=run("pip", "uninstall", "-y", *found) + run("pip", "install", *pinned([keep], packages)),
        confidence="sure",
        cause=Cause.PACKAGES,
    )


def _where(found: Mapping[str, Package]) -> tuple[Sentence, Sentence]:
    """Return title and evidence: in one folder they overwrite each other, else the first on the path wins."""
    places = {known_or(one.place, None) for one in found.values()}
    listed = ", ".join(f"{name} {one.version}" for name, one in found.items())
    over_each_other = say("Several TensorFlow packages are installed over each other.")
    if None in places:
        return over_each_other, say("Installed: {names}.", names=listed)
    if len(places) == 1:
        return over_each_other, say("Installed in one folder: {names}.", names=listed)
    by_place = ", ".join(f"{name} {one.version} ({one.place})" for name, one in found.items())
    return (
        say("Several TensorFlow packages are installed, and the path decides which is imported."),
        say("Installed in {count} folders: {names}.", count=len(places), names=by_place),
    )
