"""`%%mlc_trace --ops --shapes --repeat N`: the words over a cell, and running it several times."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, of_error, say, say_count
from jupyter_mlgpu.record.words import typed, whole_number

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.events import CellEvents

TRACE_CELL = "%%mlc_trace"
MOST_REPEATS = 1_000
MOST_ITEMS = 10**12

FIRST_LINE = say("`%%mlc_trace --ops` works as the first line of a cell alone: put it above all else.")
_HELP = say(
    "`%%mlc_trace`, `%%mlc_trace --ops`, `%%mlc_trace --ops --shapes`, `%%mlc_trace --ops --repeat 5` and "
    "`%%mlc_trace --items 6400` are what can stand over a cell."
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
    line = f" {words}".partition(" #")[0]
    try:
        found = typed(
            line, TRACE_CELL, _HELP, values=("--repeat", "--items"), flags=("--ops", "--shapes"), places=False
        ).options
        if alone := [word for word in ("--shapes", "--repeat") if word in found and "--ops" not in found]:
            raise UsageError(joined(say("{word} goes with --ops.", word=alone[0]), _HELP))
        return OperationsRequest(
            "--ops" in found,
            _number(found, "--repeat", MOST_REPEATS),
            _number(found, "--items", MOST_ITEMS),
            "--shapes" in found,
        )
    except UsageError as error:
        raise UsageError(joined(of_error(error), say("The cell was not run."))) from None


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


def code_below(code: str) -> str:
    """The code of a cell without our own line over it: the same code, profiled or not, is the same code."""
    line, _, rest = code.partition("\n")
    return rest if line.startswith(TRACE_CELL) else code


def _number(found: Mapping[str, str], option: str, most: int) -> int | None:
    return whole_number(found[option], option, most) if option in found else None


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
            raise UsageError(
                say("--repeat cannot run a cell with `await` outside functions: leave --repeat out.")
            )
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
    timing = say_count(
        "Timing, one light run: {median}.",
        "Timing, median of {count} light runs: {median} ({low} to {high}).",
        len(walls),
        median=units.seconds(median(walls)),
        low=units.seconds(min(walls)),
        high=units.seconds(max(walls)),
    )
    took = warm_up[0].reading("wall_time").value if warm_up else None
    before = (
        [] if took is None else [say("The run before, to warm up, took {time}.", time=units.seconds(took))]
    )
    last = say("The last receipt is of one more run, of which no profile could be taken: it says why.")
    if profiled:
        last = say("The last receipt is of one more run, with the profiler on.")
    return joined(timing, *before, last, say("Each run found what the one before left."))
