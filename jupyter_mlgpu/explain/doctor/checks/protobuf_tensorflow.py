"""TensorFlow's generated protobuf code fits certain versions of the protobuf package only.

Sources: tensorflow/tensorflow#56266 and #59665 ("Descriptors cannot be created directly": before 2.12 with
protobuf 4), #94030 and #109469 ("'MessageFactory' object has no attribute 'GetPrototype'": before 2.20 with
protobuf 6); from 2.20 on TensorFlow's own requirement is protobuf 5.28 or newer.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("protobuf matches TensorFlow")


def judge(facts: Facts) -> Verdict:
    """A finding where protobuf is too new or too old for this TensorFlow's generated code."""
    protobuf, tensorflow = installed(facts, "protobuf", "tensorflow")
    wanted = _wanted(tensorflow.version, protobuf.version)
    found = say(
        "protobuf {protobuf} is installed alongside TensorFlow {version}.",
        protobuf=protobuf.version,
        version=tensorflow.version,
    )
    if wanted is None:
        return Fine(found)
    return Finding(
        title=say("This protobuf does not match TensorFlow: importing TensorFlow fails or floods the cell."),
        evidence=joined(found, say("TensorFlow needs protobuf{wanted}.", wanted=wanted)),
        remedy=run("pip", "install", f"protobuf{wanted}"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )


def _wanted(tensorflow: str, protobuf: str) -> str | None:
    if older(tensorflow, "2.12"):
        return None if older(protobuf, "4") else ">=3.20,<3.21"
    if older(tensorflow, "2.20"):
        return None if older(protobuf, "6") else ">=3.20.3,<6"
    return ">=5.28" if older(protobuf, "5.28") else None
