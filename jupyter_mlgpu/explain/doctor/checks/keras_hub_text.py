"""keras-hub's tokenizers need tensorflow-text, and keras-hub 0.32 a newer one than TensorFlow 2.19 has.

Sources: keras-team/keras-hub#1985 ("CLIPTokenizer requires `tensorflow` and `tensorflow-text`") and #1417.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import minor, older
from jupyter_mlgpu.record.sentence import Sentence, say

TITLE = say("keras-hub can use its tokenizers")


def judge(facts: Facts) -> Verdict:
    """Return a finding if tensorflow-text is missing, or too old for this keras-hub."""
    packages = known(facts.packages)
    hub, text = packages.get("keras-hub"), packages.get("tensorflow-text")
    tensorflow = packages.get("tensorflow")
    if hub is None or tensorflow is None:
        return Skipped(say("keras-hub and TensorFlow are not both installed."))
    if text is None:
        evidence = say("keras-hub {hub} is installed, but tensorflow-text is not.", hub=hub.version)
        return _finding(evidence, minor(tensorflow.version))
    if not older(hub.version, "0.32") and older(text.version, "2.20.1"):
        return _finding(
            say(
                "keras-hub {hub} needs tensorflow-text 2.20.1 or newer, but {text} is installed.",
                hub=hub.version,
                text=text.version,
            ),
            "2.19",
        )
    return Fine(
        say("keras-hub {hub} and tensorflow-text {text} are installed.", hub=hub.version, text=text.version)
    )


def _finding(evidence: Sentence, version: str) -> Finding:
    hub = ["keras-hub==0.31.0"] if version == "2.19" else []
    return Finding(
        title=say("keras-hub's tokenizers do not work without a matching tensorflow-text."),
        evidence=evidence,
        remedy=run("pip", "install", *hub, f"tensorflow-text=={version}.*"),
        confidence="likely",
        cause=Cause.PACKAGES,
    )
