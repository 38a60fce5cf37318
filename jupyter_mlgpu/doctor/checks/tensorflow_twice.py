"""Several distributions install the same folder `tensorflow`, the last one over the others.

Sources: tensorflow/tensorflow#125351, Unity-Technologies/ml-agents#3729 (tensorflow-cpu hid tensorflow-gpu),
apple/turicreate#3405.
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import pinned, run

ID = "tensorflow-twice"
TITLE = "Only one TensorFlow is installed"
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
# Packages that `tensorflow` itself was made of, in its own version.
_PARTS = ("tensorflow-intel", "tensorflow-aarch64", "tensorflow-cpu-aws")


def judge(facts: Facts) -> Verdict:
    """A finding where two distributions that hold TensorFlow are installed."""
    packages = known(facts.packages)
    main = packages.get("tensorflow")
    found = [
        name
        for name in _ALL
        if name in packages and not (main and name in _PARTS and packages[name].version == main.version)
    ]
    if len(found) < 2:
        return Fine(f"Installed: {found[0]}." if found else "TensorFlow is not installed.")
    listed = ", ".join(f"{name} {packages[name].version}" for name in found)
    keep = "tensorflow" if main else found[0]
    return Finding(
        title="Several TensorFlows are installed over each other.",
        evidence=f"Installed into one folder: {listed}.",
        remedy=run("pip", "uninstall", "-y", *found) + run("pip", "install", *pinned([keep], packages)),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
