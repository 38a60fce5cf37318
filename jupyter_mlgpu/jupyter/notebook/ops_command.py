"""`%%mlc_trace --ops --shapes --repeat N`: the words over a cell, and running it several times."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.events import CellEvents

TRACE_CELL = "%%mlc_trace"
MOST_REPEATS = 1_000
MOST_ITEMS = 10**12

FIRST_LINE = "`%%mlc_trace --ops` works as the first line of a cell alone: put it above all else."
_HELP = (
    "`%%mlc_trace`, `%%mlc_trace --ops`, `%%mlc_trace --ops --shapes`, `%%mlc_trace --ops --repeat 5` and "
    "`%%mlc_trace --items 6400` are what can stand over a cell"
)


@dataclass(frozen=True, slots=True)
class OperationsRequest:
    """What the words over a cell ask for: times per operation, and how many light runs before them.

    `shapes` asks for input shapes and FLOP beside the times.
    `items` is how many images, sequences or rows the user says that the cell works on, `run` which of how
    many runs this is, for one that repeats.
    """

    ops: bool = False
    repeat: int | None = None
    items: int | None = None
    shapes: bool = False
    run: tuple[int, int] | None = None


def asked(words: str) -> OperationsRequest:
    """The words after `%%mlc_trace`. Raises UsageError for those it does not know."""
    ops = shapes = False
    repeat: int | None = None
    items: int | None = None
    rest = f" {words}".partition(" #")[0].split()
    while rest:
        word = rest.pop(0)
        if word == "--ops":
            ops = True
        elif word == "--shapes":
            shapes = True
        elif word == "--repeat":
            repeat = _number(word, rest.pop(0) if rest else "", MOST_REPEATS)
        elif word == "--items":
            items = _number(word, rest.pop(0) if rest else "", MOST_ITEMS)
        else:
            raise UsageError(f"Unknown word {word!r} after %%mlc_trace: {_HELP}; the cell was not run.")
    if not ops and (shapes or repeat is not None):
        word = "--shapes" if shapes else "--repeat"
        raise UsageError(f"{word} goes with --ops ({_HELP}); the cell was not run.")
    return OperationsRequest(ops, repeat, items, shapes)


_ITEMS_LATER = re.compile(r"--items\s+(?:\{[^}]*\}|\$\w+)")


def asked_over(code: str) -> OperationsRequest | None:
    """What the first line of a cell asks for; None where it is not ours, or is refused.

    A number of items that stands in a variable is not known yet: IPython puts it in when the line runs.
    """
    line = code.lstrip().partition("\n")[0]
    if not line.startswith(TRACE_CELL):
        return None
    try:
        return asked(_ITEMS_LATER.sub("", line.removeprefix(TRACE_CELL)))
    except UsageError:
        return None


def _number(option: str, word: str, most: int) -> int:
    if not word.isdecimal() or not 1 <= int(word) <= most:
        raise UsageError(f"{option} needs a number from 1 to {most:,}, found {word!r}; the cell was not run.")
    return int(word)


class RepeatedCell:
    """Runs a cell's code once to warm up, several times light, then once with the profilers on.

    Each run has its receipt.
    """

    def __init__(self, shell: Any, events: CellEvents) -> None:
        self._shell = shell
        self._events = events

    def run(self, code: str, asked: OperationsRequest, times: int) -> str:
        """The cell once to warm up, `times` times light and once profiled, as `asked` says.

        Returns the sentence to print. A run that fails ends it, with its own exception. What a run leaves
        behind, the next one finds.
        """
        if self._shell.should_run_async(code, transformed_cell=self._shell.transform_cell(code)):
            raise UsageError("--repeat cannot run a cell with `await` outside functions: leave --repeat out.")
        made: list[Record] = []
        runs = times + 2
        for number in range(1, runs + 1):
            wanted = OperationsRequest(
                number == runs, items=asked.items, shapes=asked.shapes, run=(number, runs)
            )
            with self._events.each_run(wanted) as records:
                result = self._shell.run_cell(code, store_history=False, cell_id=self._events.cell_id())
            if not result.success:
                self._fail(result.error_before_exec or result.error_in_exec, number, runs)
            made += records
        return summary(made[:1], made[1:-1], profiled=bool(made) and made[-1].mode == "profiled")

    def works_on(self, items: int | None) -> None:
        """The cell that runs works on so many items, as its first line says now that it runs."""
        self._events.works_on(items)

    def refuse(self) -> None:
        """For a cell that is inside another, or under another magic: it cannot be profiled by itself."""
        raise UsageError(FIRST_LINE)

    def _fail(self, error: BaseException, number: int, of: int) -> None:
        """End the outer cell with the run's own exception, whose traceback has been shown already."""
        if number < of:
            sys.stderr.write(f"This was run {number} of {of}; the others were left out.\n")
        show = self._shell.showtraceback

        def show_others(*arguments: Any, **named: Any) -> None:
            del self._shell.showtraceback  # the class's own method shows again
            if sys.exc_info()[1] is not error:
                show(*arguments, **named)

        self._shell.showtraceback = show_others
        raise error


def summary(warm_up: list[Record], light: list[Record], *, profiled: bool) -> str:
    """The light runs' times, which are the timing; the run before them and the profiled one are none."""
    walls = [wall for record in light if (wall := record.reading("wall_time").value) is not None]
    if not walls:
        return ""
    spread = f" ({units.seconds(min(walls))} to {units.seconds(max(walls))})" if len(walls) > 1 else ""
    runs = f"median of {len(walls)} light runs" if len(walls) > 1 else "one light run"
    last = "with the profiler on" if profiled else "of which no profile could be taken: it says why"
    took = warm_up[0].reading("wall_time").value if warm_up else None
    before = "" if took is None else f"The run before, to warm up, took {units.seconds(took)}. "
    return (
        f"Timing, {runs}: {units.seconds(median(walls))}{spread}. {before}"
        f"The last receipt is of one more run, {last}. Each run found what the one before left."
    )
