"""Find the lines of a cell at which most samples were taken."""

from __future__ import annotations

from collections import Counter, defaultdict

from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Line
from jupyter_mlgpu.record.limit import HotLine

#: The least number of samples with which lines are listed, and the largest number of lines.
FEWEST_SAMPLES = 20
MOST_LINES = 10


def hot_lines(activity: Activity) -> tuple[HotLine, ...]:
    """Return the lines with most samples, the most frequent first; none if there were too few samples.

    Samples outside the user's lines count, too, so the shares need not add up to 1.
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
        _hot_line(line, count, activity.samples, calls[line])
        for line, count in samples.most_common(MOST_LINES)
    )


def _hot_line(line: Line, count: int, of: int, calls: Counter[str]) -> HotLine:
    # Four digits are more than so few samples justify, and a receipt has little room.
    share, low, high = (round(one, 4) for one in (count / of, *share_interval(count, of)))
    return HotLine(
        line.number, count, share, low, high, line.cell, calls.most_common(1)[0][0] if calls else None
    )
