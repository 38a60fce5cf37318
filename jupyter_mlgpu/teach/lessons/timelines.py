"""`timeline`: when each part of a program worked, drawn as one row of bars per part."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.chart import Axis, Chart, Point, Series
from jupyter_mlgpu.show.page.model import Page, Picture, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: The least length of a bar, as a part of the whole time. A shorter one would be invisible.
_SHORTEST = 1 / 400


class LessonTimeline(Displayable):
    """Records the spans of time in which parts of a program work, and draws them.

    `with times("loading"):` records a span of the part "loading"; it can be used in several threads. Time
    begins with the first span.
    """

    def __init__(self) -> None:
        self._spans: list[tuple[str, float, float]] = []
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self, part: str) -> Iterator[None]:
        """Record the time that the block takes, also if it raises an error."""
        start = real_time.perf_counter()
        try:
            yield
        finally:
            end = real_time.perf_counter()
            with self._lock:
                self._spans.append((part, start, end))

    def spans(self) -> dict[str, list[tuple[float, float]]]:
        """Return the spans of each part as (start, end) in seconds, in the order in which they began."""
        with self._lock:
            ordered = sorted(self._spans, key=lambda one: one[1])
        begun = ordered[0][1] if ordered else 0.0
        found: dict[str, list[tuple[float, float]]] = {}
        for part, start, end in ordered:
            found.setdefault(part, []).append((start - begun, end - begun))
        return found

    def seconds(self) -> float:
        """Return the seconds from the start of the first span to the end of the last one."""
        return max((end for spans in self.spans().values() for _, end in spans), default=0.0)

    def busy(self, part: str) -> float:
        """Return the seconds in which at least one span of that part was under way."""
        total, until = 0.0, 0.0
        for start, end in self.spans().get(part, []):
            total += max(0.0, end - max(start, until))
            until = max(until, end)
        return total

    def drawn(self) -> Chart:
        """Return the chart: time from left to right, and a row of bars for each part."""
        spans, shortest = self.spans(), self.seconds() * _SHORTEST
        series = [
            Series(
                part,
                tuple(Point(start, row, "", start, max(end, start + shortest)) for start, end in of_part),
                row,
                "span",
            )
            for row, (part, of_part) in enumerate(spans.items())
        ]
        words = translate(say("When each part worked: {parts}.", parts=", ".join(spans) or say("nothing")))
        axis = Axis(translate(say("seconds")), zero=True)
        return Chart((), axis, Axis("", names=tuple(spans)), tuple(series), words)


def timeline() -> LessonTimeline:
    """Return a timeline without spans."""
    return LessonTimeline()


@page_of.register
def _page(shown: LessonTimeline) -> Page:
    names = tuple(map(translate, (say("part"), say("times"), say("busy, s"), say("busy, %"))))
    whole = shown.seconds()
    rows = tuple(
        (part, str(len(spans)), f"{shown.busy(part):.3g}", f"{100 * shown.busy(part) / whole:.0f}")
        for part, spans in shown.spans().items()
    )
    drawing = shown.drawn()
    return Page((Picture(svg.draw(drawing), drawing.words), Table(names, rows, figures=names[1:])))
