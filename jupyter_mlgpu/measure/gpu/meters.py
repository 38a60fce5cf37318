"""What measures the GPU time of cells on this machine: CUPTI's records, the driver's counts, or both."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Protocol

from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.reading import Reading

#: Where Linux has the GPUs that its own interface (DRM) serves; absent on a machine without one.
_DRM = "/dev/dri"


class MeteredCell(Protocol):
    """A cell whose GPU time is measured."""

    def abandon(self) -> None:
        """Stop without a result."""

    def wait(self) -> None:
        """Wait until the GPUs are done, as far as the frameworks' backends have not waited already."""

    def finish(self) -> tuple[Sequence[Reading], tuple[GpuWork, ...]]:
        """Return the busy time of each GPU that worked, or why it is not known, and what they did."""
        ...


class Meter(Protocol):
    """Measures GPU time of cells."""

    def cell_begins(self) -> MeteredCell:
        """Begin a cell, whose work before is waited for already."""
        ...

    def stop(self) -> None:
        """Leave nothing switched on or remembered, until the next cell."""


def meter(sampler: Sampler) -> Meter:
    """Return what measures GPU time here. What is not for this machine is not loaded."""
    if sys.platform == "darwin":
        from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
        from jupyter_mlgpu.measure.gpu.mac_clients import MacClients

        return ClientMeter(MacClients(), sampler)
    from jupyter_mlgpu.measure.frameworks.profiler_watch import ProfilerWatch
    from jupyter_mlgpu.measure.gpu.gpu_activity import GpuActivity
    from jupyter_mlgpu.measure.gpu.gpu_meter import GpuMeter

    records = GpuMeter(GpuActivity(ProfilerWatch()), sampler)
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
        """Begin a cell, whose work before is waited for already."""
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
    """A cell under way."""

    def __init__(self, records: MeteredCell, counts: MeteredCell) -> None:
        self._records = records
        self._counts = counts

    def abandon(self) -> None:
        """Stop without a result."""
        try:
            self._records.abandon()
        finally:
            self._counts.abandon()

    def wait(self) -> None:
        """Wait until the GPUs are done, as far as the frameworks' backends have not waited already."""
        self._records.wait()
        self._counts.wait()

    def finish(self) -> tuple[Sequence[Reading], tuple[GpuWork, ...]]:
        """Return both meters' readings: what is known, else the reason of the GPU that is there."""
        from jupyter_mlgpu.measure.gpu.gpu_activity import NO_CUDA

        try:
            recorded, work = self._records.finish()
        finally:
            counted, _ = self._counts.finish()
        # That no NVIDIA GPU is in use is no reason where there is another GPU.
        recorded = [one for one in recorded if one.why_missing != NO_CUDA]
        return [*recorded, *counted], work
