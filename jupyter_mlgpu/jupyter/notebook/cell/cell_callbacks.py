"""Runs our steps before and after each cell, and passes on an interrupt that arrives meanwhile.

IPython treats an exception in a callback, even an interrupt, as an error of the callback: it prints it and
runs the cell. So an interrupt is held while our steps run. One that arrives before a cell is raised as the
first thing in the cell's code. One that arrives after it marks the cell as interrupted. A second interrupt is
not held, because then one of our steps hangs.
"""

from __future__ import annotations

# The module `signal` itself spends 14 microseconds on making enumerations of numbers.
import _signal as c_signal  # type: ignore[import-not-found]
import signal
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.record.stderr import say_on_stderr

Step = Callable[[Any], object]
_SIGINT = int(signal.SIGINT)

# Runs in the cell's own namespace and file: the traceback shows the cell's first line and none of our code.
_INTERRUPT = "__import__('signal').raise_signal(2)"


class CellCallbacks:
    """Calls the steps `before` and `after` around each cell of a shell with IPython's event argument.

    Each step reports its own failures. If a step raises all the same, the others still run. `take_interrupt`
    returns True if an interrupt came before that the cell must not miss.
    """

    def __init__(
        self,
        shell: Any,
        before: Sequence[Step],
        after: Sequence[Step],
        take_interrupt: Callable[[], bool] = lambda: False,
    ) -> None:
        self._shell = shell
        self._take_interrupt = take_interrupt
        self._before = tuple(before)
        self._after = tuple(after)
        self._covering: Any = None

    def register(self) -> None:
        """Register the callbacks with IPython."""
        self._shell.events.register("pre_run_cell", self.cell_begins)
        self._shell.events.register("post_run_cell", self.cell_ended)

    def unregister(self) -> None:
        """Unregister the callbacks. A cell that is running is not affected."""
        for event, callback in (("pre_run_cell", self.cell_begins), ("post_run_cell", self.cell_ended)):
            with suppress(ValueError):  # it was never registered, or other code has unregistered it
                self._shell.events.unregister(event, callback)
        self._uncover()

    def cell_begins(self, info: Any) -> None:
        """Handle IPython's `pre_run_cell`."""
        came_before = self._take_interrupt()
        if interrupted_during(self._before, info) or came_before:
            self._interrupt_its_code()

    def cell_ended(self, result: Any) -> None:
        """Handle IPython's `post_run_cell`."""
        self._uncover()  # a cell with a syntax error runs no code
        if interrupted_during(self._after, result) and getattr(result, "success", False):
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
            # A signal handler of the user's may have caught the interrupt; then the cell goes on.
            return failed or await original(code, result, async_=async_)

        self._covering = run_code
        self._shell.run_code = run_code

    def _uncover(self) -> None:
        if self._covering is not None and vars(self._shell).get("run_code") is self._covering:
            del self._shell.run_code
        self._covering = None


def interrupted_during(steps: Sequence[Step], event: Any) -> bool:
    """Call the steps and return True if an interrupt arrived meanwhile."""
    hold = _InterruptHold()
    came = False
    try:
        hold.begin()
        for step in steps:
            try:
                step(event)
            except KeyboardInterrupt:
                came = True
            except Exception as error:
                say_on_stderr(
                    f"jupyter_mlgpu failed while handling this cell ({words(error)}). "
                    "The cell itself runs as usual."
                )
    except KeyboardInterrupt:  # it arrived before `hold.begin` or after the last step
        came = True
    finally:
        hold.end()
    return came or hold.came


class _InterruptHold:
    """Replaces the handler of SIGINT while our steps run; only the main thread has one."""

    def __init__(self) -> None:
        self.came = False
        self._handler: Any = None

    def begin(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        handler = c_signal.getsignal(_SIGINT)
        if callable(handler):  # else the user has set SIGINT to be ignored or to end the process
            self._handler = handler
            c_signal.signal(_SIGINT, self._keep)

    def end(self) -> None:
        if self._handler is not None:
            handler, self._handler = self._handler, None
            c_signal.signal(_SIGINT, handler)

    def _keep(self, number: int, frame: Any) -> None:
        if self.came:
            self._handler(number, frame)
        self.came = True
