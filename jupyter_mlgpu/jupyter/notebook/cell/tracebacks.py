"""Excludes from a cell's time the time in which IPython shows its traceback: 400 ms for the first `1 / 0`.

IPython shows the traceback, and formats it once more for its history, after the cell's code failed and before
the event of the cell's end. So the two methods that show it are wrapped while a measured cell runs, and then
restored.

A traceback that cannot be sent, such as one with half of a surrogate pair, makes these methods raise. IPython
then shows that second exception and reports it as the cell's error. Here the first one counts.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.celltime import Moment
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.user_objects import plain_exception

_SHOWERS = ("showtraceback", "showsyntaxerror")
_IPYTHON = "IPython.core.interactiveshell"


class Tracebacks:
    """Records when `shell` begins to show a traceback of the measured code in this thread, until `end`."""

    def __init__(self, shell: Any, measurement: Measurement) -> None:
        self._shell = shell
        self._measurement = measurement
        self._thread = threading.get_ident()
        self._shown: tuple[BaseException | None, Moment] | None = None
        #: The exceptions raised while IPython showed that one, and then while it showed each of these.
        self._failed: list[BaseException] = []
        self._in_traceback = False
        self._uncover = [self._cover(name) for name in _SHOWERS if hasattr(shell, name)]

    def end(self, error: BaseException | None = None) -> tuple[BaseException | None, Moment | None]:
        """Restore the methods; return the exception that ended the code, and when it was shown.

        That is `error`, unless it was only raised while another was shown. The time is None if `error` was
        not the last exception shown: code that went on showed others.
        """
        for uncover in self._uncover:
            uncover()
        shown, failed = self._shown, self._failed
        self._shown, self._failed = None, []
        if shown is not None and error is not None and any(raised is error for raised in (shown[0], *failed)):
            return shown
        return error, None

    def display_error(self) -> BaseException | None:
        """Return the exception raised while a traceback was last shown; IPython then gives no result."""
        return self._failed[-1] if self._failed else None

    def words(self, error: BaseException | None) -> str:
        """Return the last line of the traceback that IPython showed, which names the exception.

        If IPython has not kept it, the line is made from the exception; "" if there is none.
        """
        traceback = vars(self._shell).get("_last_traceback")
        last = traceback[-1] if type(traceback) is list and traceback else None
        if type(last) is str:
            return last
        return "" if error is None else plain_exception(error)

    def _cover(self, name: str) -> Callable[[], None]:
        own, show = vars(self._shell).get(name), getattr(self._shell, name)

        @functools.wraps(show)
        def covered(*arguments: Any, **named: Any) -> Any:
            if threading.get_ident() != self._thread or self._in_traceback:  # one method calls the other
                return show(*arguments, **named)
            exc_tuple = arguments[0] if arguments else named.get("exc_tuple")
            error = exc_tuple[1] if type(exc_tuple) is tuple and len(exc_tuple) > 1 else sys.exc_info()[1]
            if not self._failed or self._failed[-1] is not error:
                self._shown, self._failed = (error, self._measurement.code_may_end()), []
            self._in_traceback = True
            try:
                return show(*arguments, **named)
            except BaseException as ended_by:
                # If the user's code calls this method itself, that code may go on.
                if sys._getframe(1).f_globals.get("__name__") == _IPYTHON:
                    self._failed.append(ended_by)
                raise
            finally:
                self._in_traceback = False

        def uncover() -> None:
            if vars(self._shell).get(name) is not covered:  # the cell has replaced the method itself
                return
            if own is None:
                delattr(self._shell, name)
            else:
                setattr(self._shell, name, own)

        setattr(self._shell, name, covered)
        return uncover
