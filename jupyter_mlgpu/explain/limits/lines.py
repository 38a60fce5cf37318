"""The lines of a cell's code at which it was seen most."""

from __future__ import annotations

from collections import Counter, defaultdict

from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Line
from jupyter_mlgpu.record.limit import HotLine

#: Looks from which on lines are told, and how many of them.
FEWEST_SAMPLES = 20
MOST_LINES = 10


def hot_lines(activity: Activity) -> tuple[HotLine, ...]:
    """The lines, the most often seen first; none where the looks are too few.

    Looks that saw no line of the user's count among the samples: the shares need not add up to 1.
    """
    if activity.samples < FEWEST_SAMPLES:
        return ()
    samples: Counter[Line] = Counter()
    calls: dict[Line, Counter[str]] = defaultdict(Counter)
    for part in activity.parts:
        if part.line is not None:
            samples[part.line] += part.samples
            if part.line_call is not None and part.line_call.text:
                calls[part.line][part.line_call.text] += part.samples
    return tuple(
        _told(line, count, activity.samples, calls[line]) for line, count in samples.most_common(MOST_LINES)
    )


def _told(line: Line, count: int, of: int, calls: Counter[str]) -> HotLine:
    # Four digits are more than so few looks tell, and a receipt has little room.
    share, low, high = (round(one, 4) for one in (count / of, *share_interval(count, of)))
    return HotLine(
        line.number, count, share, low, high, line.cell, calls.most_common(1)[0][0] if calls else None
    )
