"""TensorFlow's wheel for Linux does not contain CUDA, which comes with its extra `and-cuda` or the system.

Sources: tensorflow/tensorflow#60646 and #34287 ("Cannot dlopen some GPU libraries"), and #63362.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("TensorFlow finds the CUDA it was built with")


def judge(facts: Facts) -> Verdict:
    """Return a finding if no cuBLAS of the major CUDA version of TensorFlow's build is found."""
    tensorflow, cuda = known(facts.packages).get("tensorflow"), nvidia.cuda_of(facts, "tensorflow")
    if tensorflow is None or cuda is None:
        return Skipped(say("No TensorFlow built for CUDA is installed."))
    if known_or(tensorflow.installer, None) == "conda":
        return Skipped(say("conda installs CUDA along with TensorFlow."))
    nvidia.require_gpu(facts)
    wanted = f"libcublas.so.{nvidia.major(cuda)}"
    files = sorted({one.file for one in known(facts.libraries) if one.name == "libcublas"})
    if any(one == wanted or one.startswith(f"{wanted}.") for one in files):
        return Fine(say("{library} was found.", library=wanted))
    return Finding(
        title=say("TensorFlow runs on the CPU: the CUDA libraries it was built with are missing."),
        evidence=joined(
            say("It needs {library} (CUDA {cuda}).", library=wanted, cuda=cuda),
            say("Found: {files}.", files=", ".join(files)) if files else say("No cuBLAS was found."),
        ),
        remedy=run("pip", "install", f"tensorflow[and-cuda]=={tensorflow.version}"),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
