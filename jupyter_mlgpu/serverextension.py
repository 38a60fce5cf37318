"""The door to what JupyterLab's server does for the page; its configuration names it: `jupyter/server/`."""

from jupyter_mlgpu.jupyter.server.extension import (
    _jupyter_server_extension_points,
    _load_jupyter_server_extension,
)

__all__ = ["_jupyter_server_extension_points", "_load_jupyter_server_extension"]
