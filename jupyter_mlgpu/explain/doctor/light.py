"""A diagnosis in the few lines that a sidebar shows; as a program, this Python's own.

    python -P -m jupyter_mlgpu.explain.doctor.light true

prints it as one JSON object. The word says whether the kernel that asks captures native output: `true`,
`false`, or `unknown`.
"""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any, TypedDict

from jupyter_mlgpu.explain.doctor.check import Confidence
from jupyter_mlgpu.explain.doctor.consult import consult
from jupyter_mlgpu.explain.doctor.diagnose import Diagnosis, head
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.explain.doctor.maybe import Maybe, Unknown
from jupyter_mlgpu.record.bounds import Most, Otherwise, Printed, Said
from jupyter_mlgpu.record.redact import shorten
from jupyter_mlgpu.record.sentence import Sentence, say

#: What a kernel is known to capture, by the word that says so.
CAPTURES: dict[str, Maybe[bool]] = {
    "true": True,
    "false": False,
    "unknown": Unknown(say("This kernel does not report whether it captures native output.")),
}

#: Findings, and characters of each text: more is in `%mlc_doctor`.
FINDINGS, SHORT, LONG = 20, 300, 1_500
#: Characters that a browser reads of them.
READ_SHORT, READ_LONG = 600, 2_000
_MORE = "# More is in %mlc_doctor."


class LightFinding(TypedDict):
    """A finding; `remedy` has lines for a shell, `confidence` is None where the check itself failed."""

    id: Annotated[str, Printed(), Most(READ_SHORT), Otherwise("")]
    title: Said
    evidence: Annotated[Said, Most(READ_LONG), Otherwise("")]
    remedy: Annotated[str, Printed(), Most(READ_LONG), Otherwise("")]
    confidence: Confidence | None


class LightDiagnosis(TypedDict):
    """A diagnosis for the sidebar: its sentence, findings with causes first, and how many more there are."""

    head: Said
    findings: Annotated[list[LightFinding], Otherwise(())]
    more: Annotated[int, Otherwise(0)]


def summary(diagnosis: Diagnosis) -> LightDiagnosis:
    """What was found, causes first, bounded, with the sentence above it; JSON-ready."""
    shown = [*diagnosis.findings, *diagnosis.of("crashed")]
    said: Any = head(diagnosis).to_json()
    return {
        "head": said,
        "findings": [
            {
                "id": shorten(one.id, SHORT),
                "title": _short(one.title, SHORT),
                "evidence": _short(one.evidence, LONG),
                "remedy": _whole_lines(one.remedy or ""),
                "confidence": one.confidence,
            }
            for one in shown[:FINDINGS]
        ],
        "more": max(0, len(shown) - FINDINGS),
    }


def _short(sentence: Sentence, most: int) -> Any:
    """A sentence for a translator; one that is longer than it is shown as a text that is cut."""
    return sentence.to_json() if len(sentence) <= most else shorten(sentence, most)


def _whole_lines(remedy: str) -> str:
    """The first lines of a remedy: a command that is cut may be another command."""
    if len(remedy) <= LONG:
        return remedy
    lines: list[str] = []
    for line in remedy.split("\n"):
        if sum(len(one) + 1 for one in (*lines, line)) + len(_MORE) > LONG:
            break
        lines.append(line)
    return "\n".join([*lines, _MORE])


def main() -> None:
    """Print the summary of this machine and this Python."""
    print(json.dumps(summary(consult(inside=KernelsOwnFacts(CAPTURES[sys.argv[1]])))))


if __name__ == "__main__":
    main()
