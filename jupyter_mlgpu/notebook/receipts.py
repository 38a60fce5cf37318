"""Show a record under its cell."""

from __future__ import annotations

from IPython.display import publish_display_data

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render.bundle import bundle


def show(record: Record) -> None:
    """Publish the receipt as the present cell's output."""
    publish_display_data(bundle(record))  # type: ignore[no-untyped-call]
