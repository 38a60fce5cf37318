"""Tell an exception of ours from one that a signal's handler of the user's has raised amid our code.

An alarm that is to end a loop (`signal.alarm`, with a handler that raises TimeoutError) may come while we
look for native output. What is ours must not reach the user's cell; what is theirs must.
"""

from __future__ import annotations

# The module `signal` itself spends 14 microseconds on making enumerations of numbers.
import _signal as c_signal  # type: ignore[import-not-found]
import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, TracebackType


class OurFailures:
    """A context that ends an Exception, but one that comes out of a signal's handler."""

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return isinstance(error, Exception) and not is_of_a_handler(error)


def is_of_a_handler(error: BaseException) -> bool:
    """Return whether a function that handles a signal is among the calls in which it was raised."""
    handlers = set(_handlers())
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code in handlers:
            return True
        at = at.tb_next
    return False


def _handlers() -> Iterator[CodeType]:
    for number in range(1, c_signal.NSIG):
        handler = c_signal.getsignal(number)
        while type(handler) is functools.partial:
            handler = handler.func
        if type(handler) is MethodType:
            handler = handler.__func__
        elif type(handler) is not FunctionType:
            handler = type(handler).__dict__.get("__call__")
        if type(handler) is FunctionType:
            yield handler.__code__
