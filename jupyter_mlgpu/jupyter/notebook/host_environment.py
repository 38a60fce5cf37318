"""What a shell runs in: ipykernel, an engine of ipyparallel, or a terminal; each loads what only it needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.measure.capture.capture import HostEnvironment

if TYPE_CHECKING:
    from jupyter_mlgpu.jupyter.notebook.engine import EngineSide
    from jupyter_mlgpu.measure.activity.stack import OfUser

#: What IPython's `%%time` calls the code below it.
_TIMED = "<timed exec>"


def capture_environment(shell: Any) -> HostEnvironment:
    """What is special about capturing native lines here."""
    if getattr(shell, "kernel", None) is not None:
        from jupyter_mlgpu.jupyter.notebook.capture.capture_kernel import KernelEnvironment

        return KernelEnvironment()
    from jupyter_mlgpu.jupyter.notebook.capture.capture_terminal import TerminalEnvironment

    return TerminalEnvironment()


def engine(kernel: Any, run: str) -> EngineSide | None:
    """What is done otherwise in an engine of ipyparallel; None elsewhere."""
    if getattr(kernel, "engine_id", None) is None:
        return None
    from jupyter_mlgpu.jupyter.notebook.engine import find

    return find(kernel, run)


def has_browsers(kernel: Any) -> bool:
    """Whether browsers can be told: an engine has no thread that would send, and a terminal no browser."""
    return getattr(kernel, "iopub_thread", None) is not None


def scheduler(kernel: Any) -> Callable[[Callable[[], None]], object]:
    """Has a function called by the main thread's event loop; where there is none, the next cell does."""
    loop = getattr(kernel, "io_loop", None)
    return (lambda do: None) if loop is None else loop.add_callback


def cells_of(shell: Any) -> OfUser:
    """Tells of a file which cell it is, by its execution count; None where it is none.

    IPython compiles each cell as a file of its own, and keeps their numbers (private, seen with 8 and 9).
    """
    numbers: Mapping[str, int] = getattr(getattr(shell, "compile", None), "_filename_map", {})
    return lambda filename: numbers.get(filename, 0 if filename == _TIMED else None)
