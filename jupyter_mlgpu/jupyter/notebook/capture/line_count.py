"""Counts the lines of one stream in a cell's output, and remembers which of them native code wrote.

In lines, and not in characters: a front end lets a carriage return overwrite what stood before it, but never
takes a line end away. It is called for each print, so it is quick and takes no lock: where two threads write
at the same moment a line may be counted at the wrong place, and a front end folds no line whose text it does
not know.
"""

from __future__ import annotations

from jupyter_mlgpu.record.native import StreamLines

#: Runs of native lines that are remembered: where prints and native lines take turns that often, none is.
MOST_RUNS = 200


class LineCount:
    """Told of what is written to a stream, in order, from `begin` on."""

    __slots__ = ("_lines", "_lost", "_native", "_runs")

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A cell begins, with an output that is empty."""
        self._lines = 0
        # Whether the line that is not at its end yet, even where nothing of it has come, is native so far.
        self._native = True
        self._runs: list[list[int]] = []
        self._lost = False

    def forget(self) -> None:
        """The output was cleared: nobody knows at which line it goes on."""
        self._lost = True

    def printed(self, text: str) -> None:
        """Python has printed a text."""
        ends = text.count("\n")
        if ends:
            self._lines += ends
            self._native = text[-1] == "\n"
        elif text:
            self._native = False

    def native(self, text: str) -> None:
        """Native code has written a text."""
        ends = text.count("\n")
        if not ends:
            return
        first, self._lines = self._lines + (not self._native), self._lines + ends
        self._native = True
        if self._lines > first:
            self._add(first, self._lines - first)

    def lines(self) -> StreamLines | None:
        """What was counted; None where nothing native was, or where it is not known at which lines."""
        if self._lost or not self._runs:
            return None
        return StreamLines(self._lines, tuple((first, count) for first, count in self._runs))

    def _add(self, first: int, count: int) -> None:
        if self._runs and sum(self._runs[-1]) == first:
            self._runs[-1][1] += count
        elif len(self._runs) < MOST_RUNS:
            self._runs.append([first, count])
        else:
            self._lost = True
