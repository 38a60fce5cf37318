"""The Jupyter server extension of this package.

It keeps the busy indicator right, serves translations, exit causes of kernels, the state of the machine, and
the line that installs this package in a kernel. It renders the receipts of saved notebooks, shortens receipts
when notebooks are saved, and serves the lessons.

A busy kernel answers on the control channel, and each answer makes the kernel report itself idle for a
moment. JupyterLab ignores that for message types that the server lists as untracked; this module lists ours.
"""

from __future__ import annotations

import atexit
from typing import Any

from jupyter_mlgpu import jupyter
from jupyter_mlgpu.record import origin

# As in jupyter/notebook/browser/channel.py, which needs a kernel and is not imported by the server.
MESSAGE_TYPES = (
    "jupyter_mlgpu_snapshot_request",
    "jupyter_mlgpu_snapshot_reply",
    "jupyter_mlgpu_request",
    "jupyter_mlgpu_reply",
)


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "jupyter_mlgpu.serverextension"}]


def _load_jupyter_server_extension(server_app: Any) -> None:
    manager = server_app.kernel_manager
    known = manager.untracked_message_types
    manager.untracked_message_types = [*known, *(name for name in MESSAGE_TYPES if name not in known)]
    # Only a server can import these.
    from jupyter_mlgpu.jupyter.server import exits, keeping, machine, messages, receipts

    page = server_app.web_app.settings.setdefault("page_config_data", {})
    page["jupyterMlgpuInstall"] = f"%{origin.install_line()}"
    keeping.register(server_app)
    kernel_exits = exits.KernelExits(manager, server_app.io_loop.add_callback)
    kernel_exits.start()
    atexit.register(kernel_exits.stop)
    server_app.web_app.add_handlers(
        ".*$",
        [
            *messages.handlers(server_app.base_url),
            *exits.handlers(server_app.base_url, kernel_exits),
            *machine.handlers(server_app.base_url),
            *receipts.handlers(server_app.base_url),
            *jupyter.teaching_handlers(server_app.base_url),
        ],
    )
