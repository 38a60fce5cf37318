"""Tells exceptions of this package from those that the user's signal handlers raise while its code runs.

An alarm that is to end a loop (`signal.alarm` with a handler that raises TimeoutError) may come while the
package handles native output. Errors of the package must not reach the user's cell; the handler's must.
"""

from __future__ import annotations

# The module `signal` itself spends 14 microseconds on making enumerations of numbers.
import _signal as c_signal  # type: ignore[import-not-found]
import functools
from collections.abc import Iterator
from types import CodeType, FunctionType, MethodType, TracebackType

from jupyter_mlgpu.measure.user_objects import frames_of, is_a, type_attribute


class OurFailures:
    """A context that suppresses every Exception except those that a signal handler raised."""

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return error is not None and is_a(error, Exception) and not is_of_a_handler(error)


def is_of_a_handler(error: BaseException) -> bool:
    """Return True if the exception passed through a function that handles a signal."""
    # By address: comparing code objects compares all that they contain.
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
