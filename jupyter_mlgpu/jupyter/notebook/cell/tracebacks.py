"""The time that IPython takes to show a cell's traceback is not the cell's: 400 ms for the first `1 / 0`.

IPython shows it, and makes it once more for its history, after the cell's code has failed and before it tells
of the cell's end. So the two methods that show it are covered while a measured cell runs, and then put back.

A traceback that cannot be sent, such as one with half of a surrogate pair, ends them with an exception.
IPython shows that one in its turn, and takes it for what ended the cell's code; here it is the first of them.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.celltime import Moment
from jupyter_mlgpu.measure.recorder import Measurement

_SHOWERS = ("showtraceback", "showsyntaxerror")
_IPYTHON = "IPython.core.interactiveshell"


class Tracebacks:
    """Sees when `shell` begins to show a traceback of what is measured in this thread, until `end`."""

    def __init__(self, shell: Any, measurement: Measurement) -> None:
        self._shell = shell
        self._measurement = measurement
        self._thread = threading.get_ident()
        self._shown: tuple[BaseException | None, Moment] | None = None
        #: What ended IPython's showing of that exception, and its showing of what ended the one before.
        self._failed: list[BaseException] = []
        self._in_traceback = False
        self._uncover = [self._cover(name) for name in _SHOWERS if hasattr(shell, name)]

    def end(self, error: BaseException | None = None) -> tuple[BaseException | None, Moment | None]:
        """Watch no more. What ended the code, and when, where `error` was shown last; without one, None.

        That is `error`, unless it only ended the showing of another. Others were shown by code that went on.
        """
        for uncover in self._uncover:
            uncover()
        shown, failed = self._shown, self._failed
        self._shown, self._failed = None, []
        if shown is not None and error is not None and any(one is error for one in (shown[0], *failed)):
            return shown
        return error, None

    def escaped(self) -> BaseException | None:
        """What ended the last showing, if it failed: IPython gives no result for an await that ends so."""
        return self._failed[-1] if self._failed else None

    def words(self) -> str:
        """The end of the traceback that IPython showed, which is the exception; empty where there is none."""
        shown = vars(self._shell).get("_last_traceback")
        last = shown[-1] if type(shown) is list and shown else ""
        return last if type(last) is str else ""

    def _cover(self, name: str) -> Callable[[], None]:
        own, show = vars(self._shell).get(name), getattr(self._shell, name)

        @functools.wraps(show)
        def covered(*arguments: Any, **named: Any) -> Any:
            if threading.get_ident() != self._thread or self._in_traceback:  # one of the two calls the other
                return show(*arguments, **named)
            given = arguments[0] if arguments else named.get("exc_tuple")
            error = given[1] if type(given) is tuple and len(given) > 1 else sys.exc_info()[1]
            if not self._failed or self._failed[-1] is not error:
                self._shown, self._failed = (error, self._measurement.code_may_end()), []
            self._in_traceback = True
            try:
                return show(*arguments, **named)
            except BaseException as ended_by:
                # Code of the user's that shows one by itself may go on.
                if sys._getframe(1).f_globals.get("__name__") == _IPYTHON:
                    self._failed.append(ended_by)
                raise
            finally:
                self._in_traceback = False

        def uncover() -> None:
            if vars(self._shell).get(name) is not covered:  # the cell has put something of its own there
                return
            if own is None:
                delattr(self._shell, name)
            else:
                setattr(self._shell, name, own)

        setattr(self._shell, name, covered)
        return uncover
