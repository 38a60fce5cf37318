"""What the server does for the browser: it keeps the busy indicator right, tells what is Chinese, why
kernels died, what its machine does, and how a kernel gets this package; it puts a notebook's receipts into
words, saves of them what the user wants to keep, and opens the lessons.

The answers of a busy kernel travel on the control channel, and each makes the kernel report itself idle for a
moment. JupyterLab overlooks that for the message types that the server lists as untracked; this lists ours.
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
    # Which only a server can import.
    from jupyter_mlgpu.jupyter.server import exits, keeping, machine, messages, receipts

    page = server_app.web_app.settings.setdefault("page_config_data", {})
    page["jupyterMlgpuInstall"] = f"%{origin.install_line()}"
    keeping.register(server_app)
    seen = exits.KernelExits(manager, server_app.io_loop.add_callback)
    seen.start()
    atexit.register(seen.stop)
    server_app.web_app.add_handlers(
        ".*$",
        [
            *messages.handlers(server_app.base_url),
            *exits.handlers(server_app.base_url, seen),
            *machine.handlers(server_app.base_url),
            *receipts.handlers(server_app.base_url),
            *jupyter.teaching_handlers(server_app.base_url),
        ],
    )
