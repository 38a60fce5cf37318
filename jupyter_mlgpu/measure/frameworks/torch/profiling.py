"""PyTorch's profiler as it is seen from outside (`profiler_watch.FrameworkProfiler`).

Each profiler of PyTorch begins by one of two functions of `torch.autograd.profiler` (read in 2.11).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.user_profiler import Replaced

BEGINNINGS = ("_prepare_profiler", "_enable_profiler")
_LEVEL = "KINETO_LOG_LEVEL"


def is_on() -> bool:
    """Return whether it is on now."""
    return bool(module("torch").autograd._profiler_enabled())


def before(tell: Callable[[], None]) -> Callable[[], None]:
    """Have `tell` called before it begins; what is returned ends that."""
    place = module("torch.autograd.profiler")
    replaced = Replaced(place)
    for name in BEGINNINGS:
        replaced.replace(name, _after(tell, getattr(place, name)))
    return replaced.put_back


@contextmanager
def kineto_silent() -> Iterator[None]:
    """Keep Kineto's own lines away; it reads its level when it is first used, and keeps it."""
    if _LEVEL in os.environ:
        yield
        return
    os.environ[_LEVEL] = "99"
    try:
        yield
    finally:
        os.environ.pop(_LEVEL, None)


def _after(tell: Callable[[], None], begin: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(begin)
    def begin_after(*arguments: Any, **named: Any) -> Any:
        tell()
        return begin(*arguments, **named)

    return begin_after
