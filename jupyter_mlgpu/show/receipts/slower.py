"""The sentence of a receipt on a cell that became slower."""

from __future__ import annotations

from jupyter_mlgpu.explain.comparing.slower import Slower
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, say


def sentence(found: Slower) -> Sentence:
    """Return a sentence such as `Slower than before: 3.4 s, was 1.2 s (median of the 8 previous runs).`"""
    now, was = units.seconds(found.now), units.seconds(found.was)
    before = str(len(found.before))
    if len(found.newest) == 1:
        return say(
            "Slower than before: {now}, was {was} (median of the {before} previous runs).",
            now=now,
            was=was,
            before=before,
        )
    return say(
        "Slower than before: {now}, was {was} (medians of the last {count} runs and of the "
        "{before} before them).",
        now=now,
        was=was,
        count=str(len(found.newest)),
        before=before,
    )
