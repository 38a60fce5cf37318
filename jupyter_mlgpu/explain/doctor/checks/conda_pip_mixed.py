"""In one conda environment compiled packages of conda and of pip are not built for each other.

Sources: spyder-ide/spyder#25516 and #23825, ContinuumIO/anaconda-issues#10675 (TensorFlow from both).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Compiled packages come from one installer")
_COMPILED = ("numpy", "scipy", "h5py", "protobuf", "tensorflow", "torch", "jaxlib")


def judge(facts: Facts) -> Verdict:
    """Return a finding if conda and pip both installed packages that are compiled against each other."""
    if known(facts.python.kind) != "conda":
        return Skipped(say("This is not a conda environment."))
    packages = known(facts.packages)
    by = {name: known_or(packages[name].installer, None) for name in _COMPILED if name in packages}
    conda = [name for name, installer in by.items() if installer == "conda"]
    others = [name for name, installer in by.items() if installer not in ("conda", None)]
    if not conda or not others:
        return Fine(say("All compiled packages come from one installer."))
    return Finding(
        title=say("Compiled packages from conda and pip are mixed in one environment."),
        evidence=say("From conda: {conda}; from pip: {pip}.", conda=", ".join(conda), pip=", ".join(others)),
        remedy=as_written("conda create -y -n mlgpu python=3.12 pip")
        + run("conda", "run", "-n", "mlgpu", "pip", "install", *by, "jupyter_mlgpu", "ipykernel"),
        confidence="possible",
        cause=Cause.PACKAGES,
    )
