"""Public fakes, to test code that uses jupyter_mlgpu without a framework, a device or waiting.

Further modules have fakes for one package each: `bench`, `counters`, `engines`, `hub` and `sharing`.
"""

from jupyter_mlgpu.testing.backend import FakeBackend, FakeObservation, FakeScope
from jupyter_mlgpu.testing.clock import FakeClock, FakeProbe
from jupyter_mlgpu.testing.drm import FakeDrm
from jupyter_mlgpu.testing.ioregistry import FakeRegistry
from jupyter_mlgpu.testing.nvml import FakeGpu, FakeNvml, FakeNvmlError
from jupyter_mlgpu.testing.profiler import FakeProfiler, FakeSession
from jupyter_mlgpu.testing.records import example_record, limited_record

__all__ = [
    "FakeBackend",
    "FakeClock",
    "FakeDrm",
    "FakeGpu",
    "FakeNvml",
    "FakeNvmlError",
    "FakeObservation",
    "FakeProbe",
    "FakeProfiler",
    "FakeRegistry",
    "FakeScope",
    "FakeSession",
    "example_record",
    "limited_record",
]
