"""Counts the lines of one stream in a cell's output, and records which of them native code wrote.

It counts lines and not characters: a front end lets a carriage return overwrite the text before it, but never
removes a line end. It runs for each print, so it is fast and takes no lock. If two threads write at the same
moment, a line may be counted at the wrong place; a front end folds no line whose text it does not know.
"""

from __future__ import annotations

from jupyter_mlgpu.record.native import StreamLines

#: Most runs of consecutive native lines; if prints and native lines alternate more often, none is recorded.
MOST_RUNS = 200


class LineCount:
    """Counts the text written to a stream, in order, from `begin` on."""

    __slots__ = ("_lines", "_lost", "_native", "_runs")

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Reset at the start of a cell, whose output is empty."""
        self._lines = 0
        # True if the unfinished last line, even an empty one, is native so far.
        self._native = True
        self._runs: list[list[int]] = []
        self._lost = False

    def forget(self) -> None:
        """Record that the output was cleared, so the current line is unknown."""
        self._lost = True

    def printed(self, text: str) -> None:
        """Count a text that Python has printed."""
        ends = text.count("\n")
        if ends:
            self._lines += ends
            self._native = text[-1] == "\n"
        elif text:
            self._native = False

    def native(self, text: str) -> None:
        """Count a text that native code has written."""
        ends = text.count("\n")
        if not ends:
            return
        first, self._lines = self._lines + (not self._native), self._lines + ends
        self._native = True
        if self._lines > first:
            self._add(first, self._lines - first)

    def lines(self) -> StreamLines | None:
        """Return the counts, or None if no line is native or their places are not known."""
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
