"""Defines a check: a module of `checks/` with TITLE and a pure function `judge`; its name is the check's id.

Checks for versions that do not work together are rows of `version_pairs` instead.

    TITLE = say("TensorFlow can load its Metal plug-in")    # the statement that is true if all is well

    def judge(facts: Facts) -> Verdict:
        (plugin,) = installed(facts, "tensorflow-metal")    # without it the check is skipped
        macos = known(facts.machine.macos)     # unknown: the check is skipped, with the fact's reason
        ...
        return Finding(title=..., evidence=..., remedy=..., confidence="sure", cause=Cause.PACKAGES)

A check uses only facts: no files, no processes, no clock, no other check. It returns no finding if it is too
unsure to be of use. A check imports all it needs from this module: the facts, functions that read them, and
the verdicts.
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
    """The part at fault, causes before consequences: findings are listed in this order."""

    MACHINE = 1  #: hardware, the system and its limits
    PYTHON = 2  #: the interpreter, and which one the kernel runs
    PACKAGES = 3  #: installed packages, and their versions
    DRIVERS = 4  #: the GPU's driver and libraries, and the library search path
    SETTINGS = 5  #: variables and configuration
    FRAMEWORKS = 6  #: a failure of a framework in its own process
    JUPYTER = 7  #: the page and the notebook
    ADVICE = 8  #: nothing is broken, but another setting would be faster or safer


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem: its title, the evidence, the remedy, and the confidence.

    `title` is one sentence on the problem, `evidence` one or two with the values found. `remedy` can be
    pasted into a shell: one command per line, and comments in lines that begin with `# `. The functions of
    `remedies` build it, and quote values from the facts.
    """

    title: Sentence
    evidence: Sentence
    remedy: Remedy
    confidence: Confidence
    cause: Cause


@dataclass(frozen=True, slots=True)
class Fine:
    """No problem; `evidence` is a sentence on what was checked and found."""

    evidence: Sentence


@dataclass(frozen=True, slots=True)
class Skipped:
    """The check does not apply to this machine; `reason` is a sentence."""

    reason: Sentence


Verdict = Finding | Fine | Skipped


@dataclass(frozen=True, slots=True)
class Check:
    """A check with its id and title; `about` is its paragraph in the documentation."""

    id: str
    title: Sentence
    judge: Callable[[Facts], Verdict]
    about: str = ""


def installed(facts: Facts, *names: str) -> tuple[Package, ...]:
    """Return the packages with these names; raises NotKnownError, which skips the check, if one is absent."""
    packages = known(facts.packages)
    for name in names:
        if name not in packages:
            raise NotKnownError(Unknown(say("{name} is not installed.", name=name)))
    return tuple(packages[name] for name in names)
