"""`%%mlc_trace --ops --shapes --repeat N`: the words over a cell, and running it several times."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from IPython.utils.capture import capture_output

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record, Repeat
from jupyter_mlgpu.record.sentence import joined, of_error, say
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.record.words import magic_parser, whole_number

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.cell.events import CellEvents

TRACE_CELL = "%%mlc_trace"
MOST_REPEATS = 1_000
MOST_ITEMS = 10**12

FIRST_LINE = say("`%%mlc_trace --ops` works only as the first line of a cell: put it above everything else.")
_HELP = say(
    "A cell can start with `%%mlc_trace`, `%%mlc_trace --ops`, `%%mlc_trace --ops --shapes`, "
    "`%%mlc_trace --ops --repeat 5` or `%%mlc_trace --items 6400`."
)


@dataclass(frozen=True, slots=True)
class OperationsRequest:
    """What the words over a cell ask for: times per operation, and how many light runs before them.

    `shapes` asks for input shapes and FLOP beside the times.
    `items` is how many images, sequences or rows the user says that the cell works on, `turn` which of its
    runs this is, for one that repeats, with the seconds of those before it.
    """

    ops: bool = False
    repeat: int | None = None
    items: int | None = None
    shapes: bool = False
    turn: Repeat | None = None

    @property
    def run(self) -> tuple[int, int] | None:
        """Which of how many runs this is, counted from 1; None for a cell that does not repeat."""
        return None if self.turn is None else (self.turn.number + 1, self.turn.of + 2)


def parse_request(words: str) -> OperationsRequest:
    """The words after `%%mlc_trace`. Raises UsageError for those it does not know."""
    line = f" {words}".partition(" #")[0]
    parser = magic_parser(TRACE_CELL, _HELP)
    for option in ("--repeat", "--items"):
        parser.add_argument(option)
    for option in ("--ops", "--shapes"):
        parser.add_argument(option, action="store_true")
    try:
        found = parser.parse_line(line)
        if not found.ops and (found.shapes or found.repeat is not None):
            alone = "--shapes" if found.shapes else "--repeat"
            raise UsageError(joined(say("{word} requires --ops.", word=alone), _HELP))
        return OperationsRequest(
            found.ops,
            _number(found.repeat, "--repeat", MOST_REPEATS),
            _number(found.items, "--items", MOST_ITEMS),
            found.shapes,
        )
    except UsageError as error:
        raise UsageError(joined(of_error(error), say("The cell was not run."))) from None


_ITEMS_LATER = re.compile(r"--items\s+(?:\{[^}]*\}|\$\w+)")


def request_over_cell(code: str) -> OperationsRequest | None:
    """What the first line of a cell asks for; None where it is not ours, or is refused.

    A number of items that stands in a variable is not known yet: IPython puts it in when the line runs.
    """
    line = code.lstrip().partition("\n")[0]
    if not line.startswith(TRACE_CELL):
        return None
    try:
        return parse_request(_ITEMS_LATER.sub("", line.removeprefix(TRACE_CELL)))
    except UsageError:
        return None


def code_below(code: str) -> str:
    """The code of a cell without our own line over it: the same code, profiled or not, is the same code."""
    line, _, rest = code.partition("\n")
    return rest if line.startswith(TRACE_CELL) else code


def _number(word: str | None, option: str, most: int) -> int | None:
    return None if word is None else whole_number(word, option, most)


class RepeatedCell:
    """Runs a cell's code once to warm up, several times light, then once with the profilers on.

    What the first run prints and shows is the cell's output; what the others print is swallowed, but that of
    one that fails. The last run has the receipt.
    """

    def __init__(
        self,
        shell: Any,
        events: CellEvents,
        complete: Callable[[Record], Record | None],
        show: Callable[[Record], None],
    ) -> None:
        """`complete` finds what became of a record that was made, `show` puts a receipt under the cell."""
        self._shell = shell
        self._events = events
        self._complete = complete
        self._show = show

    def run(self, code: str, asked: OperationsRequest, times: int) -> None:
        """The cell once to warm up, `times` times light and once profiled, as `asked` says.

        A run that fails ends it, with its own exception. What a run leaves behind, the next one finds.
        """
        if self._shell.should_run_async(code, transformed_cell=self._shell.transform_cell(code)):
            raise UsageError(
                say("--repeat cannot run a cell with `await` outside functions: leave out --repeat.")
            )
        made: list[Record] = []
        walls: list[float | None] = []
        for number in range(times + 2):
            turn = Repeat(number, times, tuple(walls))
            wanted = OperationsRequest(number > times, items=asked.items, shapes=asked.shapes, turn=turn)
            with self._events.each_run(wanted) as records, _quiet(self._shell, number > 0):
                result = self._shell.run_cell(code, store_history=False, cell_id=self._events.cell_id())
            walls.append(_rounded(records[0].reading("wall_time").value) if records else None)
            made += filter(None, map(self._complete, records))
            if not result.success:
                if made:
                    self._show(one_receipt(made))
                before, during = result.error_before_exec, result.error_in_exec
                self._fail(during if before is None else before, number + 1, times + 2)
        if made:
            self._show(one_receipt(made))

    def set_items(self, items: int | None) -> None:
        """The cell that runs works on so many items, as its first line says now that it runs."""
        self._events.set_items(items)

    def refuse(self) -> None:
        """For a cell that is inside another, or under another magic: it cannot be profiled by itself."""
        raise UsageError(FIRST_LINE)

    def _fail(self, error: BaseException, number: int, of: int) -> None:
        """End the outer cell with the run's own exception, whose traceback has been shown already."""
        if number < of:
            say_on_stderr(f"This was run {number} of {of}; the remaining runs were skipped.")
        show = self._shell.showtraceback

        def show_others(*arguments: Any, **named: Any) -> None:
            del self._shell.showtraceback  # the class's own method shows again
            if sys.exc_info()[1] is not error:
                show(*arguments, **named)

        self._shell.showtraceback = show_others
        raise error


def one_receipt(runs: Sequence[Record]) -> Record:
    """The last run's record with the log lines of all, each once: there is one receipt of all the runs."""
    *before, last = runs
    told = {line.text for line in last.logs}
    lines = {line.text: line for record in before for line in record.logs if line.text not in told}
    return last.with_logs(lines.values())


def is_last(turn: Repeat, record: Record) -> bool:
    """Whether no other run follows in a cell that repeats."""
    return turn.number > turn.of or record.outcome != "ok"


def _rounded(wall: float | None) -> float | None:
    return None if wall is None else float(f"{wall:.6g}")  # each receipt holds it


@contextmanager
def _quiet(shell: Any, on: bool) -> Iterator[None]:
    """Swallow what a run prints and shows; what one has printed that fails stands above its traceback."""
    if not on:
        yield
        return
    own, show = vars(shell).get("showtraceback"), shell.showtraceback
    with ExitStack() as stack:
        said = stack.enter_context(capture_output())

        def show_all(*arguments: Any, **named: Any) -> None:
            stack.close()
            said.show()  # type: ignore[no-untyped-call]
            show(*arguments, **named)

        shell.showtraceback = show_all
        try:
            yield
        finally:
            if (
                vars(shell).get("showtraceback") is show_all
            ):  # else the cell has put something of its own there
                del shell.showtraceback
                if own is not None:
                    shell.showtraceback = own
