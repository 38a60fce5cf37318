"""What `jupyter mlgpu run` asks of a kernel beside the notebook's own cells.

Each function is called in the kernel, in an execution that leaves no trace in the notebook's history.
Its exceptions reach the command line as name and text.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.jupyter.notebook.extension import load, loaded_in
from jupyter_mlgpu.record.device_request import DeviceWord


def begin(shell: Any, device: str | None) -> None:
    """Trace from the next cell on, and ask for a device.

    No framework is imported: the notebook may still set the variables that a framework reads on import,
    and the import's time belongs to the cell that asks for it.
    """
    load(shell)
    shell._jupyter_mlgpu.read_lines_at_once()
    shell._jupyter_mlgpu.audience.ask()  # a profile may have loaded us before
    if device is not None:
        shell._jupyter_mlgpu.runtime.selection.select(DeviceWord.parse(device))


def find_gpu(shell: Any) -> None:
    """Raise DeviceError, saying what exists, where no GPU is usable. Imports a framework to find out."""
    load(shell)
    shell._jupyter_mlgpu.devices.find_gpu()


def check_device(shell: Any) -> None:
    """Raise DeviceError where a framework has started and the device asked for is not there.

    Before the framework has started the device may still come: the notebook may define logical devices.
    """
    extension = loaded_in(shell)
    if extension is not None:
        extension.runtime.selection.check()


def end(shell: Any) -> None:
    """Have all lines of all cells in their records; what comes later is of the kernel's own end."""
    extension = loaded_in(shell)
    if extension is not None:
        extension.stop_tracing()
