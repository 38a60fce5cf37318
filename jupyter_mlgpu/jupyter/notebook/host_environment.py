"""Adapts the extension to its host: ipykernel, an engine of ipyparallel, or a terminal.

Modules that only one host needs are imported only there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.measure.capture.capture import HostEnvironment

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.engine import EngineSide
    from jupyter_mlgpu.measure.activity.stack import OfUser

#: IPython's file name for the code below `%%time`.
_TIMED = "<timed exec>"


def capture_environment(shell: Any) -> HostEnvironment:
    """Return the object that adapts the capture of native lines to this host."""
    if getattr(shell, "kernel", None) is not None:
        from jupyter_mlgpu.jupyter.notebook.capture.capture_kernel import KernelEnvironment

        return KernelEnvironment()
    from jupyter_mlgpu.jupyter.notebook.capture.capture_terminal import TerminalEnvironment

    return TerminalEnvironment()


def engine(kernel: Any, run: str) -> EngineSide | None:
    """Return the engine's side in an engine of ipyparallel; None elsewhere."""
    if getattr(kernel, "engine_id", None) is None:
        return None
    from jupyter_mlgpu.jupyter.notebook.engine import find

    return find(kernel, run)


def has_browsers(kernel: Any) -> bool:
    """Return True if messages can reach browsers: an engine has no sending thread, a terminal no browser."""
    return getattr(kernel, "iopub_thread", None) is not None


def scheduler(kernel: Any) -> Callable[[Callable[[], None]], object]:
    """Return a function that makes the main thread's event loop call another.

    Without an event loop the returned function does nothing; then the next cell runs the queued tasks.
    """
    loop = getattr(kernel, "io_loop", None)
    return (lambda do: None) if loop is None else loop.add_callback


def cells_of(shell: Any) -> OfUser:
    """Return a function from file name to the execution count of the cell compiled there, else None.

    IPython compiles each cell as a file of its own, and keeps their numbers (private, seen with 8 and 9).
    """
    numbers: Mapping[str, int] = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return lambda filename: numbers.get(filename, 0 if filename == _TIMED else None)
