"""`%%mlc_trace --ops --shapes --repeat N`: parses the options over a cell, and runs it several times."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from IPython.utils.capture import capture_output
from msgspec import Struct

from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.option_parser import magic_parser, whole_number
from jupyter_mlgpu.record.record import Record, Repeat
from jupyter_mlgpu.record.sentence import joined, of_error, say
from jupyter_mlgpu.record.stderr import say_on_stderr

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.cell.events import CellEvents

TRACE_CELL = "%%mlc_trace"
MOST_REPEATS = 1_000
MOST_ITEMS = 10**12

FIRST_LINE = say(
    "`%%mlc_trace --ops` or `--check` works only as the first line of a cell: put it above everything else."
)
_HELP = say(
    "A cell can start with `%%mlc_trace`, `%%mlc_trace --ops`, `%%mlc_trace --ops --shapes`, "
    "`%%mlc_trace --ops --repeat 5`, `%%mlc_trace --items 6400` or `%%mlc_trace --check`."
)


class OperationsRequest(Struct, frozen=True):
    """The options over a cell: `ops` for times per operation, `repeat` for the number of light runs before.

    `shapes` asks for input shapes and FLOP in addition to the times. `items` is the number of images,
    sequences or rows that the cell works on, as the user gave it. `turn` is the number of the run in a cell
    that repeats, with the wall times of the runs before it in seconds. `check` asks if the results of
    PyTorch's operations are right, in a run that is not timed.
    """

    ops: bool = False
    repeat: int | None = None
    items: int | None = None
    shapes: bool = False
    turn: Repeat | None = None
    check: bool = False

    @property
    def run(self) -> tuple[int, int] | None:
        """The run's number, counted from 1, and the number of runs; None for a cell that does not repeat."""
        return None if self.turn is None else (self.turn.number + 1, self.turn.of + 2)


def parse_request(words: str) -> OperationsRequest:
    """Parse the words after `%%mlc_trace`; raises UsageError for unknown ones."""
    line = f" {words}".partition(" #")[0]
    parser = magic_parser(TRACE_CELL, _HELP)
    for option in ("--repeat", "--items"):
        parser.add_argument(option)
    for option in ("--ops", "--shapes", "--check"):
        parser.add_argument(option, action="store_true")
    try:
        arguments = parser.parse_line(line)
        others = arguments.ops or arguments.shapes, arguments.repeat is not None, arguments.items is not None
        if arguments.check and any(others):
            raise UsageError(say("--check is not a timed run: leave out the other options."))
        if not arguments.ops and (arguments.shapes or arguments.repeat is not None):
            alone = "--shapes" if arguments.shapes else "--repeat"
            raise UsageError(joined(say("{word} requires --ops.", word=alone), _HELP))
        return OperationsRequest(
            arguments.ops,
            _number(arguments.repeat, "--repeat", MOST_REPEATS),
            _number(arguments.items, "--items", MOST_ITEMS),
            arguments.shapes,
            check=arguments.check,
        )
    except UsageError as error:
        raise UsageError(joined(of_error(error), say("The cell was not run."))) from None


_ITEMS_LATER = re.compile(r"--items\s+(?:\{[^}]*\}|\$\w+)")


def request_over_cell(code: str) -> OperationsRequest | None:
    """Return the options in a cell's first line, or None if it is not ours or is rejected.

    The value of a variable after `--items` is not known yet: IPython inserts it when the line runs.
    """
    line = code.lstrip().partition("\n")[0]
    if not line.startswith(TRACE_CELL):
        return None
    try:
        return parse_request(_ITEMS_LATER.sub("", line.removeprefix(TRACE_CELL)))
    except UsageError:
        return None


def is_below_time_magic(code: str) -> bool:
    """Return True if our line with options is below `%%time`, where it would be dropped without effect."""
    first, _, rest = code.lstrip().partition("\n")
    line = rest.lstrip().partition("\n")[0]
    return first.startswith("%%time") and line.startswith(f"{TRACE_CELL} --")


def code_below(code: str) -> str:
    """Return a cell's code without our line over it, so a cell is the same with and without a profile."""
    line, _, rest = code.partition("\n")
    return rest if line.startswith(TRACE_CELL) else code


def _number(word: str | None, option: str, most: int) -> int | None:
    return None if word is None else whole_number(word, option, most)


class RepeatedCell:
    """Runs a cell's code once to warm up, several times light, then once with the profilers on.

    The output of the first run is the cell's output. The output of later runs is dropped, unless one fails.
    The last run has the receipt.
    """

    def __init__(
        self,
        shell: Any,
        events: CellEvents,
        complete: Callable[[Record], Record | None],
        show: Callable[[Record], None],
    ) -> None:
        """Set the callbacks: `complete` returns the enriched record, `show` shows a receipt."""
        self._shell = shell
        self._events = events
        self._complete = complete
        self._show = show

    def run(self, code: str, request: OperationsRequest, times: int) -> None:
        """Run the cell once to warm up, `times` times light and once profiled, with the options of `request`.

        A run that fails ends it with the run's own exception. State is not reset between runs.
        """
        if self._shell.should_run_async(code, transformed_cell=self._shell.transform_cell(code)):
            raise UsageError(
                say("--repeat cannot run a cell with `await` outside functions: leave out --repeat.")
            )
        runs: list[Record] = []
        walls: list[float | None] = []
        for number in range(times + 2):
            turn = Repeat(number, times, tuple(walls))
            run_request = OperationsRequest(
                number > times, items=request.items, shapes=request.shapes, turn=turn
            )
            with self._events.each_run(run_request) as records, _quiet(self._shell, number > 0):
                result = self._shell.run_cell(code, store_history=False, cell_id=self._events.cell_id())
            walls.append(_rounded(records[0].reading("wall_time").value) if records else None)
            runs += filter(None, map(self._complete, records))
            if not result.success:
                if runs:
                    self._show(one_receipt(runs))
                before, during = result.error_before_exec, result.error_in_exec
                self._fail(during if before is None else before, number + 1, times + 2)
        if runs:
            self._show(one_receipt(runs))

    def set_items(self, items: int | None) -> None:
        """Set the number of items of the running cell, whose first line has just been evaluated."""
        self._events.set_items(items)

    def refuse(self) -> None:
        """Raise UsageError: a cell inside another, or under another magic, cannot be profiled by itself."""
        raise UsageError(FIRST_LINE)

    def _fail(self, error: BaseException, number: int, of: int) -> None:
        """End the outer cell with the run's own exception, whose traceback was already shown."""
        if number < of:
            say_on_stderr(f"This was run {number} of {of}; the remaining runs were skipped.")
        show = self._shell.showtraceback

        def show_others(*arguments: Any, **named: Any) -> None:
            del self._shell.showtraceback  # uncovers the class's own method
            if sys.exc_info()[1] is not error:
                show(*arguments, **named)

        self._shell.showtraceback = show_others
        raise error


def one_receipt(runs: Sequence[Record]) -> Record:
    """Return the last run's record with the log lines of all runs, each once."""
    *before, last = runs
    known = {line.text for line in last.logs}
    lines = {line.text: line for record in before for line in record.logs if line.text not in known}
    return last.with_logs(lines.values())


def is_last(turn: Repeat, record: Record) -> bool:
    """Return True if no other run follows in a cell that repeats."""
    return turn.number > turn.of or record.outcome != "ok"


def _rounded(wall: float | None) -> float | None:
    return None if wall is None else float(f"{wall:.6g}")  # keeps receipts small


@contextmanager
def _quiet(shell: Any, on: bool) -> Iterator[None]:
    """Drop a run's output; the output of a run that fails is shown above its traceback."""
    if not on:
        yield
        return
    own, show = vars(shell).get("showtraceback"), shell.showtraceback
    with ExitStack() as stack:
        captured = stack.enter_context(capture_output())

        def show_all(*arguments: Any, **named: Any) -> None:
            stack.close()
            captured.show()  # type: ignore[no-untyped-call]
            show(*arguments, **named)

        shell.showtraceback = show_all
        try:
            yield
        finally:
            # Otherwise the cell has replaced the method itself.
            if vars(shell).get("showtraceback") is show_all:
                del shell.showtraceback
                if own is not None:
                    shell.showtraceback = own
