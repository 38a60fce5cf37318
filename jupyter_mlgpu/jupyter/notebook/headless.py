"""Functions that `jupyter mlgpu run` calls in a kernel, besides running the notebook's cells.

Each is called in the kernel by an execution that is not stored in the notebook's history. Its exceptions
reach the command line as name and text.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.jupyter.notebook.extension import load, loaded_in
from jupyter_mlgpu.record.device_request import DeviceWord


def begin(shell: Any, device: str | None) -> None:
    """Trace from the next cell on, and request a device.

    No framework is imported: the notebook may still set variables that a framework reads on import, and the
    time of the import belongs to the cell that imports it.
    """
    load(shell)
    shell._jupyter_mlgpu.read_lines_at_once()
    shell._jupyter_mlgpu.audience.ask()  # needed if a profile has loaded the extension before
    if device is not None:
        shell._jupyter_mlgpu.runtime.selection.select(DeviceWord.parse(device))


def find_gpu(shell: Any) -> None:
    """Raise DeviceError, listing the devices, if no GPU is usable. Imports a framework to find out."""
    load(shell)
    shell._jupyter_mlgpu.devices.find_gpu()


def check_device(shell: Any) -> None:
    """Raise DeviceError if a framework has started and the requested device does not exist.

    Before the framework has started the device may still come: the notebook may define logical devices.
    """
    extension = loaded_in(shell)
    if extension is not None:
        extension.runtime.selection.check()


def end(shell: Any) -> None:
    """Read all remaining lines into the cells' records; later lines belong to the kernel's own end."""
    extension = loaded_in(shell)
    if extension is not None:
        extension.stop_tracing()
