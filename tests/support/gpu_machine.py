"""A process with GPUs, and what measures it; CUPTI and the driver are fakes."""

from jupyter_mlgpu.measure.gpu.gpu_activity import GpuActivity
from jupyter_mlgpu.measure.gpu.gpu_meter import GpuMeter
from jupyter_mlgpu.measure.probes.sampler import Sampler
from tests.support.cupti import FakeCupti, FakeDriver, FakeProfilers


class Machine:
    """These GPUs are in use."""

    def __init__(self, *devices, cupti=None):
        self.cupti = cupti or FakeCupti()
        self.driver = FakeDriver(self.cupti, *devices)
        self.profilers = FakeProfilers()
        self.activity = GpuActivity(self.profilers, lambda: self.driver, lambda: (self.cupti, self.cupti))
        self.meter = GpuMeter(
            self.activity, Sampler(linger=0), lambda address: f"kernel {address}", asking=Sampler(linger=0)
        )

    def cell(self, *records):
        """The readings and the work of a cell in which these happen; times count from its begin."""
        cell = self.begin()
        self.cupti.happen(*records)
        self.cupti.ticks += 1_000_000
        return end(cell)

    def begin(self):
        """A cell whose code runs."""
        cell = self.meter.cell_begins()
        cell.starts()
        return cell

    def why(self, *records):
        """Why a cell in which these happen has no GPU time."""
        (reading,), works = self.cell(*records)
        assert works == ()
        assert reading.value is None
        return reading.why_missing


def end(cell):
    """What a cell says at its end, which waits for the GPUs."""
    cell.wait()
    cell.ends()
    return cell.finish()
