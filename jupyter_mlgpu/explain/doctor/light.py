"""Shortens a diagnosis to the few lines that the sidebar shows; as a program, diagnoses this Python.

    python -P -m jupyter_mlgpu.explain.doctor.light true

prints one JSON object. The argument says if the calling kernel captures native output: `true`, `false`, or
`unknown`.
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

#: The program's argument to the fact about the kernel's capture.
CAPTURES: dict[str, Maybe[bool]] = {
    "true": True,
    "false": False,
    "unknown": Unknown(say("This kernel does not report whether it captures native output.")),
}

#: Most findings, and most characters of a short and a long text. `%mlc_doctor` shows everything.
FINDINGS, SHORT, LONG = 20, 300, 1_500
#: Most characters that a browser reads of a short and a long text.
READ_SHORT, READ_LONG = 600, 2_000
_MORE = "# More is in %mlc_doctor."


class LightFinding(TypedDict):
    """A finding; `remedy` has lines for a shell, `confidence` is None if the check itself failed."""

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
    """Return the shortened diagnosis, JSON-ready: its sentence, and its findings with causes first."""
    problems = [*diagnosis.findings, *diagnosis.of("crashed")]
    head_data: Any = head(diagnosis).to_json()
    return {
        "head": head_data,
        "findings": [
            {
                "id": shorten(one.id, SHORT),
                "title": _short(one.title, SHORT),
                "evidence": _short(one.evidence, LONG),
                "remedy": _whole_lines(one.remedy or ""),
                "confidence": one.confidence,
            }
            for one in problems[:FINDINGS]
        ],
        "more": max(0, len(problems) - FINDINGS),
    }


def _short(sentence: Sentence, most: int) -> Any:
    """Return a sentence as JSON that can be translated, or a shortened text if it is too long."""
    return sentence.to_json() if len(sentence) <= most else shorten(sentence, most)


def _whole_lines(remedy: str) -> str:
    """Return the first lines of a remedy; a command that is cut off may be a different command."""
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
