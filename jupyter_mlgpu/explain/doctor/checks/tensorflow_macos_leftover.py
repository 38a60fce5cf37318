"""tensorflow-macos and tensorflow install into the same folder, so two versions leave a mixture of files.

Sources: tensorflow/text#654 (another package replaced tensorflow-macos by stock TensorFlow),
apple/tensorflow_macos#16 (Python files of Apple's fork with the library of ordinary TensorFlow).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import say

TITLE = say("No leftover tensorflow-macos is installed")


def judge(facts: Facts) -> Verdict:
    """Return a finding if tensorflow-macos and TensorFlow are installed in different versions."""
    packages = known(facts.packages)
    old, new = packages.get("tensorflow-macos"), packages.get("tensorflow")
    if old is None or new is None:
        return Fine(say("tensorflow-macos and tensorflow are not both installed."))
    found = say(
        "tensorflow-macos {old} and tensorflow {new} share one folder.", old=old.version, new=new.version
    )
    if release(old.version) == release(new.version):
        return Fine(say("tensorflow-macos and tensorflow are both {version}.", version=new.version))
    return Finding(
        title=say("An older tensorflow-macos is mixed with TensorFlow."),
        evidence=found,
        remedy=as_written("pip uninstall -y tensorflow-macos tensorflow")
        + run("pip", "install", f"tensorflow=={new.version}"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
