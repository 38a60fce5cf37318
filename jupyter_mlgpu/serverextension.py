"""Entry point of the server extension in `jupyter/server/`, which Jupyter's configuration names."""

from jupyter_mlgpu.jupyter.server.extension import (
    _jupyter_server_extension_points,
    _load_jupyter_server_extension,
)

__all__ = ["_jupyter_server_extension_points", "_load_jupyter_server_extension"]
