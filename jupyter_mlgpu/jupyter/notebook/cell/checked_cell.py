"""A cell under `%%mlc_trace --check`, whose PyTorch operations are checked while it runs."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from importlib import metadata
from typing import TYPE_CHECKING, Any

from IPython.display import display

from jupyter_mlgpu.jupyter.notebook.cell.cell_lines import name_of_line
from jupyter_mlgpu.jupyter.notebook.host_environment import cells_of
from jupyter_mlgpu.measure.activity.activity import Line
from jupyter_mlgpu.record.extras import installed
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.stderr import say_on_stderr
from jupyter_mlgpu.show.checking.known import known
from jupyter_mlgpu.show.checking.page import headline

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.checking.check_mode import Checker
    from jupyter_mlgpu.measure.checking.result import WrongResult


class CheckedCell:
    """The check of one running cell."""

    def __init__(self, checker: Checker, stack: ExitStack) -> None:
        """`stack` ends the check when it is closed."""
        self._checker = checker
        self._stack = stack

    @classmethod
    def begin(cls) -> CheckedCell | None:
        """Begin to check; return None, and say so, where PyTorch is not installed."""
        if not installed("torch"):
            say_on_stderr(say("PyTorch is not installed here: --check has nothing to check."))
            return None
        from jupyter_mlgpu.measure.checking.check_mode import checking

        stack = ExitStack()
        return cls(stack.enter_context(checking()), stack)

    def end(self) -> None:
        """End the check. A second call changes nothing."""
        self._stack.close()

    def show(self, code: str, number: int | None, shell: Any) -> Sentence:
        """Show the result under the cell with this code and execution count; return the answer."""
        result = self._checker.result()
        named = tuple(_for_people(one, code, number, shell) for one in result.first)
        result = replace(result, first=named)
        display(result)  # type: ignore[no-untyped-call]
        return headline(result)


def _for_people(wrong: WrongResult, code: str, number: int | None, shell: Any) -> WrongResult:
    """Return a wrong result with the name of its line, and with what is known of it."""
    wrong = replace(wrong, known=known(wrong, metadata.version("torch")) or "")
    if wrong.line is None:
        return wrong
    cell = cells_of(shell)(wrong.line.file)
    line = Line(wrong.line.number, cell or None, wrong.line.file)
    return replace(wrong, where=name_of_line(line, code, number, shell))
