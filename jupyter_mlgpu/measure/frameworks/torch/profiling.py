"""PyTorch's `profiler_hooks.FrameworkProfiler`.

Each profiler of PyTorch starts through one of two functions of `torch.autograd.profiler` (read in 2.11).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.user_profiler import ReplacedNames

#: The functions of `torch.autograd.profiler` that start a profiler.
START_FUNCTIONS = ("_prepare_profiler", "_enable_profiler")
_LEVEL = "KINETO_LOG_LEVEL"


def is_on() -> bool:
    """Return True if it is on now."""
    return bool(module("torch").autograd._profiler_enabled())


def before(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` before the profiler starts; return a function that ends this."""
    place = module("torch.autograd.profiler")
    replaced = ReplacedNames(place)
    for name in START_FUNCTIONS:
        replaced.replace(name, calling_first(callback, getattr(place, name)))
    return replaced.put_back


@contextmanager
def kineto_silent() -> Iterator[None]:
    """Suppress Kineto's own lines; Kineto reads its log level at its first use and keeps it."""
    if _LEVEL in os.environ:
        yield
        return
    os.environ[_LEVEL] = "99"
    try:
        yield
    finally:
        os.environ.pop(_LEVEL, None)


def calling_first(callback: Callable[[], None], start: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls `callback` and then `start`."""

    @wraps(start)
    def call_and_start(*arguments: Any, **named: Any) -> Any:
        callback()
        return start(*arguments, **named)

    return call_and_start
