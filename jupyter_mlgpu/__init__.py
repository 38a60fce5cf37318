"""jupyter_mlgpu: what the hardware did, cell by cell.

In a notebook: `%load_ext jupyter_mlgpu`. In a script: `with jupyter_mlgpu.trace("name") as record:`.
Importing this package imports no framework, no numpy and nothing of Jupyter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mlgpu._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from jupyter_mlgpu.experiment import bench
    from jupyter_mlgpu.explain.batches import fits
    from jupyter_mlgpu.explain.comparing.compare import compare
    from jupyter_mlgpu.explain.engines.collecting import collect
    from jupyter_mlgpu.graphs.planning.forecast import plan
    from jupyter_mlgpu.jupyter.notebook.widgets import DevicePicker, TraceView
    from jupyter_mlgpu.measure.tracing import limit, records, trace
    from jupyter_mlgpu.measure.training_callbacks import (
        AccelerateTracker,
        KerasCallback,
        LightningCallback,
        TrainerCallback,
    )
    from jupyter_mlgpu.record.files import load_records, save_records

__all__ = [
    "AccelerateTracker",
    "DevicePicker",
    "KerasCallback",
    "LightningCallback",
    "TraceView",
    "TrainerCallback",
    "__version__",
    "bench",
    "collect",
    "compare",
    "fits",
    "limit",
    "load_ipython_extension",
    "load_records",
    "plan",
    "records",
    "save_records",
    "trace",
    "unload_ipython_extension",
]

_WHERE = {
    "AccelerateTracker": "jupyter_mlgpu.measure.training_callbacks",
    "DevicePicker": "jupyter_mlgpu.jupyter.notebook.widgets",
    "KerasCallback": "jupyter_mlgpu.measure.training_callbacks",
    "LightningCallback": "jupyter_mlgpu.measure.training_callbacks",
    "TraceView": "jupyter_mlgpu.jupyter.notebook.widgets",
    "TrainerCallback": "jupyter_mlgpu.measure.training_callbacks",
    "collect": "jupyter_mlgpu.explain.engines.collecting",
    "compare": "jupyter_mlgpu.explain.comparing.compare",
    "fits": "jupyter_mlgpu.explain.batches",
    "limit": "jupyter_mlgpu.measure.tracing",
    "load_records": "jupyter_mlgpu.record.files",
    "plan": "jupyter_mlgpu.graphs.planning.forecast",
    "records": "jupyter_mlgpu.measure.tracing",
    "save_records": "jupyter_mlgpu.record.files",
    "trace": "jupyter_mlgpu.measure.tracing",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name == "bench":  # a package that can be called
        return importlib.import_module("jupyter_mlgpu.bench")
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if _WHERE[name].endswith(".widgets"):
        from jupyter_mlgpu.record.extras import require

        require(name, "lab", "anywidget")
    return getattr(importlib.import_module(_WHERE[name]), name)


def load_ipython_extension(shell: InteractiveShell) -> None:
    """What `%load_ext jupyter_mlgpu` calls: light tracing is on from the next cell."""
    from jupyter_mlgpu.jupyter.notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """What `%unload_ext jupyter_mlgpu` calls: nothing of ours stays behind."""
    from jupyter_mlgpu.jupyter.notebook.extension import unload

    unload(shell)
