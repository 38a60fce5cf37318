"""In one conda environment compiled packages of conda and of pip are not built for each other.

Sources: spyder-ide/spyder#25516 and #23825, ContinuumIO/anaconda-issues#10675 (TensorFlow from both).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.remedies import as_written, run

ID = "conda-pip-mixed"
TITLE = "Compiled packages come from one installer"
_COMPILED = ("numpy", "scipy", "h5py", "protobuf", "tensorflow", "torch", "jaxlib")


def judge(facts: Facts) -> Verdict:
    """A finding where conda and pip both installed one of those that are compiled against each other."""
    if known(facts.python.kind) != "conda":
        return Skipped("This is no conda environment.")
    packages = known(facts.packages)
    by = {name: known_or(packages[name].installer, None) for name in _COMPILED if name in packages}
    conda = [name for name, installer in by.items() if installer == "conda"]
    others = [name for name, installer in by.items() if installer not in ("conda", None)]
    if not conda or not others:
        return Fine("One installer brought all compiled packages.")
    return Finding(
        title="Compiled packages of conda and of pip are mixed in one environment.",
        evidence=f"By conda: {', '.join(conda)}; by pip: {', '.join(others)}.",
        remedy=as_written("conda create -y -n mlgpu python=3.12 pip")
        + run("conda", "run", "-n", "mlgpu", "pip", "install", *by, "jupyter_mlgpu", "ipykernel"),
        confidence="possible",
        cause=Cause.PACKAGES,
    )
