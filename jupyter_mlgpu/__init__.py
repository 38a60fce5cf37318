"""jupyter_mlgpu: what the hardware did, cell by cell.

In a notebook: `%load_ext jupyter_mlgpu`. In a script: `with jupyter_mlgpu.trace("name") as record:`.
Importing this package imports no framework, no numpy and nothing of Jupyter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_mlgpu import pipeline
from jupyter_mlgpu._version import __version__

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from jupyter_mlgpu.experiment import bench
    from jupyter_mlgpu.explain.batches import fits
    from jupyter_mlgpu.explain.comparing.compare import compare
    from jupyter_mlgpu.explain.engines.collecting import collect
    from jupyter_mlgpu.graphs.planning.forecast import plan
    from jupyter_mlgpu.jupyter.notebook.browser.widgets import DevicePicker, TraceView
    from jupyter_mlgpu.measure.tracing import limit, records, trace
    from jupyter_mlgpu.measure.training_callbacks import (
        AccelerateTracker,
        KerasCallback,
        LightningCallback,
        TrainerCallback,
    )
    from jupyter_mlgpu.record.files import load_records, save_records
    from jupyter_mlgpu.show.exporting.spans import export_spans

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
    "export_spans",
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

pipeline.connect()


def __getattr__(name: str) -> Any:
    """Import the object with this public name on first access."""
    match name:
        case "AccelerateTracker" | "KerasCallback" | "LightningCallback" | "TrainerCallback":
            from jupyter_mlgpu.measure import training_callbacks

            return getattr(training_callbacks, name)
        case "DevicePicker" | "TraceView":
            from jupyter_mlgpu.record.extras import require

            require(name, "lab", "anywidget")
            from jupyter_mlgpu.jupyter.notebook.browser import widgets

            return getattr(widgets, name)
        case "limit" | "records" | "trace":
            from jupyter_mlgpu.measure import tracing

            return getattr(tracing, name)
        case "load_records" | "save_records":
            from jupyter_mlgpu.record import files

            return getattr(files, name)
        case "bench":  # a callable package
            import jupyter_mlgpu.bench as bench_package

            return bench_package
        case "collect":
            from jupyter_mlgpu.explain.engines import collecting

            return collecting.collect
        case "compare":
            from jupyter_mlgpu.explain.comparing import compare

            return compare.compare
        case "export_spans":
            from jupyter_mlgpu.show.exporting import spans

            return spans.export_spans
        case "fits":
            from jupyter_mlgpu.explain import batches

            return batches.fits
        case "plan":
            from jupyter_mlgpu.graphs.planning import forecast

            return forecast.plan
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Load the extension for `%load_ext jupyter_mlgpu`. Light tracing is on from the next cell."""
    from jupyter_mlgpu.jupyter.notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Unload the extension for `%unload_ext jupyter_mlgpu` and remove all of its hooks."""
    from jupyter_mlgpu.jupyter.notebook.extension import unload

    unload(shell)
