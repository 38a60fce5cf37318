"""`jupyter_mlgpu.fits`: forecast if a batch fits into memory, before it is run."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.explain.memory_forecast import Forecast, MemoryLimit, forecast, quantity_of
from jupyter_mlgpu.explain.memory_room import room, used_gpu
from jupyter_mlgpu.measure.tracing import Runs, records, runs_of
from jupyter_mlgpu.record.sentence import say


def fits(batch: int, measured: Mapping[int, Runs], limit: float | None = None) -> Forecast:
    """Forecast if `batch` fits into memory, from the measured runs of two other batches or more.

    `measured` maps a batch to its runs: a cell's number, the one in its brackets (all runs of its code),
    "10.2" for one of its runs, "#12" for a record by its own number, the name of a
    `jupyter_mlgpu.trace("name")` block, a record, or a sequence of them. `limit` is in bytes. Without it, the
    memory that the machine, the container or the GPU has now is used.

    >>> fits(256, {32: 5, 64: 6})  # doctest: +SKIP Batch size 256 needs about 11 GiB (...); 8 GiB available
    (...): it does not fit; try 128.

    Raises UsageError for batches that are not positive numbers, and for fewer than two of them.
    """
    runs = {size: runs_of(which) for size, which in measured.items()}
    measured_runs = [record for of_size in runs.values() for record in of_size]
    available = (
        MemoryLimit(limit, say("the given limit"))
        if limit is not None
        else room(quantity_of(measured_runs), on_gpu=any(map(used_gpu, measured_runs)))
    )
    return forecast(batch, runs, available, records())
