"""Selects the meters of GPU time for this machine: CUPTI's records, the driver's counts, or both."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Protocol

from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.gpu_work import GpuFigures
from jupyter_mlgpu.record.strip import DeviceLane

#: The folder in which Linux lists GPUs of its own interface (DRM); missing on a machine without one.
_DRM = "/dev/dri"


class MeteredCell(Protocol):
    """A cell whose GPU time is measured. If it is `recorded`, its work need not be waited for."""

    recorded: bool

    def starts(self) -> None:
        """Note that its code comes next."""

    def ends(self) -> None:
        """Note that its code has ended."""

    def lanes_so_far(self) -> tuple[DeviceLane, ...]:
        """Return the lanes of a running cell, as far as records of its work have arrived."""
        ...

    def wait(self) -> None:
        """Wait until the GPUs are done, as far as the frameworks' backends have not waited already."""

    def abandon(self) -> None:
        """Stop without a result."""

    def finish(self) -> GpuFigures:
        """Return the GPUs' figures, after their work was waited for."""
        ...

    def finish_within(self, seconds: float) -> GpuFigures:
        """Return the GPUs' figures, or after so many seconds that they are still busy."""
        ...

    def when_done(self, tell: Callable[[GpuFigures], None]) -> None:
        """Call `tell` with the figures once the GPUs are done."""


class Meter(Protocol):
    """Measures GPU time of cells."""

    def cell_begins(self) -> MeteredCell:
        """Return the measurement of a cell that is about to begin."""
        ...

    def stop(self) -> None:
        """Leave nothing switched on or remembered, until the next cell."""


def meter(sampler: Sampler) -> Meter:
    """Return the meter for this machine. Modules for other machines are not imported."""
    if sys.platform == "darwin":
        from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
        from jupyter_mlgpu.measure.gpu.mac_clients import MacClients

        return ClientMeter(MacClients(), sampler)
    from jupyter_mlgpu.measure.frameworks.profiler_hooks import ProfilerHooks
    from jupyter_mlgpu.measure.gpu.gpu_activity import GpuActivity
    from jupyter_mlgpu.measure.gpu.gpu_meter import GpuMeter

    records = GpuMeter(GpuActivity(ProfilerHooks()), sampler)
    if not os.path.isdir(_DRM):
        return records
    from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
    from jupyter_mlgpu.measure.gpu.drm_clients import DrmClients, gpu_drivers

    return JointMeter(records, ClientMeter(DrmClients(), sampler)) if gpu_drivers() else records


class JointMeter:
    """CUPTI's records of NVIDIA GPUs, and the driver's counts of the others."""

    def __init__(self, records: Meter, counts: Meter) -> None:
        self._records = records
        self._counts = counts

    def cell_begins(self) -> JointCell:
        """Return the measurement of a cell that is about to begin."""
        counts = self._counts.cell_begins()
        try:
            return JointCell(self._records.cell_begins(), counts)
        except BaseException:
            counts.abandon()
            raise

    def stop(self) -> None:
        """Leave nothing switched on or remembered, until the next cell."""
        self._records.stop()
        self._counts.stop()


class JointCell:
    """The measurement of a cell. Counts of a driver are those at the end of the cell's code."""

    def __init__(self, records: MeteredCell, counts: MeteredCell) -> None:
        self._records = records
        self._counts = counts
        self._counted = GpuFigures((), ())
        self.recorded = records.recorded

    def starts(self) -> None:
        """Note that its code comes next."""
        self._counts.starts()
        self._records.starts()

    def ends(self) -> None:
        """Note that its code has ended."""
        self._records.ends()
        self._counts.ends()

    def lanes_so_far(self) -> tuple[DeviceLane, ...]:
        """Return the lanes of the GPUs that have records."""
        return self._records.lanes_so_far()

    def wait(self) -> None:
        """Wait until the GPUs are done, as far as the frameworks' backends have not waited already."""
        self._records.wait()
        self._counts.wait()

    def abandon(self) -> None:
        """Stop without a result."""
        try:
            self._records.abandon()
        finally:
            self._counts.abandon()

    def finish(self) -> GpuFigures:
        """Return both meters' readings. A reason that is not this machine's is left out."""
        self._counted = self._counts.finish()
        return self._both(self._records.finish())

    def finish_within(self, seconds: float) -> GpuFigures:
        """Return both meters' readings, with CUPTI's if they arrive within so many seconds."""
        self._counted = self._counts.finish()
        return self._both(self._records.finish_within(seconds))

    def when_done(self, tell: Callable[[GpuFigures], None]) -> None:
        """Call `tell` with both meters' readings once the records have arrived."""
        self._records.when_done(lambda figures: tell(self._both(figures)))

    def _both(self, recorded: GpuFigures) -> GpuFigures:
        from jupyter_mlgpu.measure.gpu.activity_switch import NO_CUDA

        # That no NVIDIA GPU is in use is no reason if there is another GPU.
        readings = [reading for reading in recorded.readings if reading.why_missing != NO_CUDA]
        return GpuFigures([*readings, *self._counted.readings], recorded.work)
