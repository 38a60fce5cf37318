"""JAX with the plug-ins for a Mac's GPU, whose clients are fakes with the names that the real ones have."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.jax import array_programs, backend, platforms
from jupyter_mlgpu.measure.frameworks.jax.backend import JaxBackend
from jupyter_mlgpu.record.errors import BenchError

GIB = 1024**3
#: What jaxlib makes of the statistics of jax-mps 0.11.1: what a plug-in does not report is -1.
MPS_STATISTICS = {
    "bytes_in_use": GIB,
    "peak_bytes_in_use": 2 * GIB,
    "bytes_limit": 16 * GIB,
    "pool_bytes": GIB,
    "num_allocs": -1,
    "largest_alloc_size": -1,
    "bytes_reserved": -1,
    "peak_bytes_reserved": -1,
    "largest_free_block_bytes": -1,
}
#: The same of metaljax 0.11.3.
NO_STATISTICS = {"bytes_in_use": 0, "peak_bytes_in_use": -1, "num_allocs": -1, "largest_alloc_size": -1}


class Native:
    """A device of JAX's."""

    def __init__(self, platform, text, stats=None):
        self.platform, self._text, self.stats = platform, text, stats

    def __str__(self):
        return self._text

    def memory_stats(self):
        return self.stats


def client(*devices):
    return SimpleNamespace(local_devices=lambda: list(devices))


@pytest.fixture
def jax(monkeypatch):
    """Returns a function that gives JAX these plug-ins besides its CPU."""

    def have(**clients):
        cpu = client(Native("cpu", "TFRT_CPU_0"))
        monkeypatch.setattr(backend, "_clients", lambda: {**clients, "cpu": cpu})
        monkeypatch.setattr(JaxBackend, "started", lambda self: True)
        return JaxBackend()

    return have


def gpu(found):
    return found.devices()[1]


@pytest.mark.parametrize(
    ("platform", "text"),
    [("METAL", "METAL:0"), ("mps", "MpsDevice(id=0)"), ("metal", "MetalDevice(id=0)")],
)
def test_each_plug_in_for_a_mac_has_a_gpu_of_kind_metal(jax, platform, text):
    found = jax(**{platform: client(Native(platform, text))})
    assert found.devices() == (
        Device("jax", "cpu:0", "cpu", "TFRT_CPU_0"),
        Device("jax", "gpu:0", "metal", text),
    )
    assert found.details(gpu(found)).memory
    assert not found.is_recorded()
    assert backend._platforms() == {"cpu", platform}


def test_two_plug_ins_have_two_gpus(jax):
    found = jax(
        mps=client(Native("mps", "MpsDevice(id=0)")), metal=client(Native("metal", "MetalDevice(id=0)"))
    )
    assert [one.name for one in found.devices()] == ["cpu:0", "gpu:0", "gpu:1"]


@pytest.mark.parametrize("platform", ["mps", "metal"])
def test_programs_of_benchmarks_run_on_the_gpu_even_if_it_is_not_the_default(jax, platform):
    native = Native(platform, "a GPU")
    found = jax(**{platform: client(native)})
    assert array_programs.native(gpu(found)) is native
    with pytest.raises(BenchError, match="no device gpu:1"):
        array_programs.native(Device("jax", "gpu:1", "metal", "none"))


def test_memory_and_peak_are_those_of_mlx_under_jax_mps(jax):
    found = jax(mps=client(Native("mps", "MpsDevice(id=0)", MPS_STATISTICS)))
    in_use, pool = found.memory(gpu(found))
    assert (in_use.value, pool.value) == (GIB, GIB)
    able = {one.name: one.available for one in found.capabilities(gpu(found))}
    assert able["allocator_peak"]
    assert "num_allocs" not in backend._statistics()["gpu:0"]


@pytest.mark.parametrize("stats", [None, NO_STATISTICS])
def test_a_plug_in_without_statistics_has_no_memory_instead_of_zero(jax, stats):
    found = jax(metal=client(Native("metal", "MetalDevice(id=0)", stats)))
    (reading,) = found.memory(gpu(found))
    assert reading.value is None
    assert "no allocator statistics" in reading.why_missing
    able = {one.name: one.available for one in found.capabilities(gpu(found))}
    assert not able["allocator_peak"]


def test_a_cpu_stays_a_cpu_and_an_unknown_platform_keeps_its_name():
    assert [platforms.kind(one) for one in ("cpu", "cuda", "rocm", "tpu", "xyz")] == [
        *("cpu", "cuda", "rocm", "tpu", "xyz")
    ]
    assert platforms.gpus_among({"cpu": 1, "metal": 2, "cuda": 3}) == ["cuda", "metal"]
