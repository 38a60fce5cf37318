"""What a check is: a module of `checks/` with TITLE and a pure function `judge`; its name is the check's id.

Versions that do not work together are rows of `version_pairs` instead.

    TITLE = say("TensorFlow can load its Metal plug-in")    # what is true where all is well

    def judge(facts: Facts) -> Verdict:
        (plugin,) = installed(facts, "tensorflow-metal")    # without it the check is skipped
        macos = known(facts.machine.macos)     # unknown: the check is skipped, with the fact's reason
        ...
        return Finding(title=..., evidence=..., remedy=..., confidence="sure", cause=Cause.PACKAGES)

A check looks at facts and nothing else: no files, no processes, no clock, no other check. It says nothing
where it is not sure enough to be of use. Facts, what asks for them and what answers are to be had from here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, get_args

from jupyter_mlgpu.explain.doctor.facts import Facts, Package
from jupyter_mlgpu.explain.doctor.maybe import NotKnownError, Unknown, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import Remedy
from jupyter_mlgpu.record.sentence import Sentence, say

__all__ = [
    "CONFIDENCES",
    "Cause",
    "Check",
    "Confidence",
    "Facts",
    "Finding",
    "Fine",
    "Skipped",
    "Verdict",
    "installed",
    "known",
    "known_or",
]

Confidence = Literal["sure", "likely", "possible"]
CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)


class Cause(IntEnum):
    """Where a fault lies, causes before what follows from them: in this order findings are told."""

    MACHINE = 1  #: hardware, the system and its limits
    PYTHON = 2  #: the interpreter, and which one the kernel runs
    PACKAGES = 3  #: what is installed, and whether it belongs together
    DRIVERS = 4  #: the GPU's driver and its libraries, and where they are looked for
    SETTINGS = 5  #: variables and configuration
    FRAMEWORKS = 6  #: what a framework said when it was asked
    JUPYTER = 7  #: the page and the notebook
    ADVICE = 8  #: nothing is broken; it would be faster or safer otherwise


@dataclass(frozen=True, slots=True)
class Finding:
    """Something is wrong: what, how we know, what to do, how sure.

    `title` is one sentence on what is wrong, `evidence` one or two with the values found. `remedy` can be
    pasted into a shell as it stands: commands, a line each, and where words are needed lines that begin with
    `# `; `remedies` makes it, and quotes what comes from the facts.
    """

    title: Sentence
    evidence: Sentence
    remedy: Remedy
    confidence: Confidence
    cause: Cause


@dataclass(frozen=True, slots=True)
class Fine:
    """Nothing is wrong here; `evidence` says in a sentence what was looked at and found."""

    evidence: Sentence


@dataclass(frozen=True, slots=True)
class Skipped:
    """The check says nothing of this machine; `reason` is a sentence."""

    reason: Sentence


Verdict = Finding | Fine | Skipped


@dataclass(frozen=True, slots=True)
class Check:
    """A check as it is run; `about` is its paragraph in the documentation."""

    id: str
    title: Sentence
    judge: Callable[[Facts], Verdict]
    about: str = ""


def installed(facts: Facts, *names: str) -> tuple[Package, ...]:
    """The packages of these names; where one of them is not installed the check ends here, as skipped."""
    packages = known(facts.packages)
    for name in names:
        if name not in packages:
            raise NotKnownError(Unknown(say("{name} is not installed.", name=name)))
    return tuple(packages[name] for name in names)
