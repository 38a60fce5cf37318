"""What we do before and after each cell, in order; an interrupt that comes meanwhile is the cell's.

IPython takes an exception in such a callback, an interrupt too, for the callback's own fault, says so and
runs the cell. So an interrupt is kept while we are at work. One before a cell is raised as the first thing
that its code does; one after it ends the cell as interrupted. A second one is not kept: something of ours
hangs then.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.record.stderr import say_on_stderr

Part = Callable[[Any], object]

# In the cell's own namespace and file, so that the traceback shows the cell's first line and nothing of ours.
_INTERRUPT = "__import__('signal').raise_signal(2)"


class CellCallbacks:
    """Calls the parts of `before` and `after` around each cell of a shell, each with what IPython tells.

    The parts say themselves what fails in them; one that raises all the same stops no other.
    """

    def __init__(self, shell: Any, before: Sequence[Part], after: Sequence[Part]) -> None:
        self._shell = shell
        self._before = tuple(before)
        self._after = tuple(after)
        self._covering: Any = None

    def register(self) -> None:
        """Begin."""
        self._shell.events.register("pre_run_cell", self.cell_begins)
        self._shell.events.register("post_run_cell", self.cell_ended)

    def unregister(self) -> None:
        """End; a cell that is running is left alone."""
        for event, ours in (("pre_run_cell", self.cell_begins), ("post_run_cell", self.cell_ended)):
            with suppress(ValueError):  # it was never registered, or somebody has taken it out
                self._shell.events.unregister(event, ours)
        self._uncover()

    def cell_begins(self, info: Any) -> None:
        """IPython's `pre_run_cell`."""
        if _interrupted_in(self._before, info):
            self._interrupt_its_code()

    def cell_ended(self, result: Any) -> None:
        """IPython's `post_run_cell`."""
        self._uncover()  # a cell with a mistake in its syntax runs no code
        if _interrupted_in(self._after, result) and getattr(result, "success", False):
            late = KeyboardInterrupt("it came when the code of this cell had just ended")
            result.error_in_exec = late
            self._shell.last_execution_succeeded = False
            self._shell.showtraceback((KeyboardInterrupt, late, None), exception_only=True)

    def _interrupt_its_code(self) -> None:
        self._uncover()
        original = self._shell.run_code

        async def run_code(code: Any, result: Any = None, *, async_: bool = False) -> Any:
            self._uncover()
            failed = await original(compile(_INTERRUPT, code.co_filename, "exec"), result)
            # A handler of the user's may have taken the interrupt: then the cell goes on.
            return failed or await original(code, result, async_=async_)

        self._covering = run_code
        self._shell.run_code = run_code

    def _uncover(self) -> None:
        if self._covering is not None and vars(self._shell).get("run_code") is self._covering:
            del self._shell.run_code
        self._covering = None


def _interrupted_in(parts: Sequence[Part], told: Any) -> bool:
    """Call the parts; whether an interrupt came meanwhile."""
    kept = _Callbacks()
    came = False
    try:
        kept.begin()
        for part in parts:
            try:
                part(told)
            except KeyboardInterrupt:
                came = True
            except Exception as error:
                say_on_stderr(
                    f"jupyter_mlgpu failed while handling this cell ({words(error)}). "
                    "The cell itself runs as usual."
                )
    except KeyboardInterrupt:  # it came before the first one could be kept, or as the last part had ended
        came = True
    finally:
        kept.end()
    return came or kept.came


class _Callbacks:
    """Takes the place of the handler of SIGINT, in the one thread that has one."""

    def __init__(self) -> None:
        self.came = False
        self._handler: Any = None

    def begin(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        handler = signal.getsignal(signal.SIGINT)
        if callable(handler):  # else interrupts are ignored, or end the process, as somebody wants it
            self._handler = handler
            signal.signal(signal.SIGINT, self._keep)

    def end(self) -> None:
        if self._handler is not None:
            handler, self._handler = self._handler, None
            signal.signal(signal.SIGINT, handler)

    def _keep(self, number: int, frame: Any) -> None:
        if self.came:
            self._handler(number, frame)
        self.came = True
