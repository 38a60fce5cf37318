"""Without tensorflow-metal, TensorFlow runs on a Mac's CPU without a warning.

Sources: autorope/donkeycar#1154, sun1638650145/Libraries-and-Extensions-for-TensorFlow-for-Apple-Silicon#20
("the reason for not recognizing the GPU is that you have not installed tensorflow-metal").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.metal import APPLES, communitys
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("TensorFlow has its Metal plug-in")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the plug-in is missing and could be installed."""
    if known(facts.machine.system) != "Darwin" or known(facts.machine.architecture) != "arm64":
        return Skipped(say("This is not a Mac with Apple silicon."))
    packages = known(facts.packages)
    installed(facts, "tensorflow")
    if APPLES in packages:
        return Fine(say("tensorflow-metal {version} is installed.", version=packages[APPLES].version))
    found = communitys(packages)
    if found:
        return Fine(found)
    if not older(known(facts.python.version), "3.13"):
        return Skipped(say("No plug-in supports this Python."))
    version = packages["tensorflow"].version
    fits = older(version, "2.20") and not older(version, "2.18")
    return Finding(
        title=say("TensorFlow cannot use this Mac's GPU: its Metal plug-in is not installed."),
        evidence=say("TensorFlow {version} is installed, but tensorflow-metal is not.", version=version),
        remedy=run(
            "pip", "install", f"tensorflow=={version if fits else '2.19.1'}", "tensorflow-metal==1.2.0"
        ),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
