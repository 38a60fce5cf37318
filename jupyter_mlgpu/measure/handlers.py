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

from jupyter_mlgpu.measure.user_objects import frames_of, is_a, type_attribute


class OurFailures:
    """A context that ends an Exception, but one that comes out of a signal's handler."""

    def __enter__(self) -> None:
        """Nothing is to be done."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return error is not None and is_a(error, Exception) and not is_of_a_handler(error)


def is_of_a_handler(error: BaseException) -> bool:
    """Return whether a function that handles a signal is among the calls in which it was raised."""
    # By address, for code is compared by all that it holds.
    handlers = set(map(id, _handlers()))
    return any(id(frame.f_code) in handlers for frame in frames_of(error))


def _handlers() -> Iterator[CodeType]:
    for number in range(1, c_signal.NSIG):
        handler = c_signal.getsignal(number)
        while type(handler) is functools.partial:
            handler = handler.func
        if type(handler) is MethodType:
            handler = handler.__func__
        elif type(handler) is not FunctionType:
            handler = type_attribute(type(handler), "__call__")
        if type(handler) is FunctionType:
            yield handler.__code__
