"""Texts for messages, the native lines that libraries print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from jupyter_mlgpu.record.record import TO_ACT_ON, LogLine, Record
from jupyter_mlgpu.record.sentence import Sentence, say, say_count

#: Each verdict as a word, the most important first.
VERDICTS: Mapping[str, Sentence] = {
    "fatal": say("Fatal"),
    "action": say("To act on"),
    "performance": say("Performance"),
    "info": say("Information"),
    "harmless": say("Harmless"),
    "unknown": say("Not known"),
}

#: Verdicts that ask for nothing.
QUIET = ("harmless", "info")

#: Prefix in a receipt's `cut` for the number of lines left out, before their verdict.
CUT = "logs."


def summary(record: Record, cut: Mapping[str, int] | None = None) -> list[Sentence]:
    """Return `3 messages: 1 to act on` and `12 unknown messages`, including those cut from a receipt.

    Messages that ask for nothing are not counted, because they are folded with their own count. Lines that
    arrived after the cell are counted separately. Only the sidebar shows them, because the receipt was drawn
    before.
    """
    counts = Counter(rank(line) for line in record.logs if not line.late)
    late = Counter(rank(line) for line in record.logs if line.late)
    for part, count in (cut or {}).items():
        if part.startswith(CUT):
            counts[part.removeprefix(CUT)] += count
    for quiet in QUIET:
        counts.pop(quiet, None)
        late.pop(quiet, None)
    unknown = counts.pop("unknown", 0)
    notes = counts.total()
    sentences: list[Sentence] = []
    if notes:
        sentences.append(_with_acts(say_count("{count} message", "{count} messages", notes), counts))
    if unknown:
        sentences.append(say_count("{count} unknown message", "{count} unknown messages", unknown))
    if late:
        sentences.append(_with_acts(say("{count} after the cell had ended", count=late.total()), late))
    return sentences


def _with_acts(counted: Sentence, counts: Counter[str]) -> Sentence:
    act = counts["fatal"] + counts["action"]
    return say("{messages}: {count} to act on", messages=counted, count=act) if act else counted


def rank(line: LogLine) -> str:
    """Return the line's verdict, as one of `VERDICTS`."""
    return line.verdict if line.verdict in VERDICTS else "unknown"


def worst_first(lines: Sequence[LogLine]) -> list[LogLine]:
    """Return the lines sorted by verdict. Lines of one verdict keep their order."""
    order = list(VERDICTS)
    return sorted(lines, key=lambda line: order.index(rank(line)))


def to_act_on(line: LogLine) -> bool:
    """Return True if the line asks for an action."""
    return line.verdict in TO_ACT_ON


def times(line: LogLine) -> str:
    """Return `x 37` for a line that occurred more than once, and a remark if it was late."""
    parts = [f"x {line.count:,}"] if line.count > 1 else []
    if line.late:
        parts.append("arrived after the cell had ended")
    return ", ".join(parts)


def shortened(text: str, limit: int) -> str:
    """Return the beginning of a long text, with its length."""
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters in all)"
