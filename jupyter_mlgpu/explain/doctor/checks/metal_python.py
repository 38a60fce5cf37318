"""tensorflow-metal has no wheels for Python 3.13 or newer, so TensorFlow stays on the CPU there.

Sources: the wheels on the package index (1.2.0: CPython 3.9 to 3.12); svpino/apple-silicon#1 and #2 for the
same with an earlier pair of Python and plug-in.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.metal import communitys
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("A Metal plug-in supports this version of Python")


def judge(facts: Facts) -> Verdict:
    """A finding where TensorFlow stands on a Mac whose Python is too new for any plug-in."""
    if known(facts.machine.system) != "Darwin" or known(facts.machine.architecture) != "arm64":
        return Skipped(say("This is not a Mac with Apple silicon."))
    installed(facts, "tensorflow")
    found = communitys(known(facts.packages))
    if found:
        return Skipped(found)
    version = known(facts.python.version)
    if older(version, "3.13"):
        return Fine(say("This is Python {version}.", version=version))
    return Finding(
        title=say("No tensorflow-metal supports this Python, so TensorFlow has no GPU."),
        evidence=say("This is Python {version}; the plug-in was built for 3.9 to 3.12.", version=version),
        remedy=as_written(
            "brew install python@3.12\n"
            '"$(brew --prefix)/bin/python3.12" -m venv ~/mlgpu\n'
            '~/mlgpu/bin/pip install "jupyter_mlgpu[metal]"'
        ),
        confidence="sure",
        cause=Cause.PYTHON,
    )
