"""What a profiled run of a case shows: how busy the device is, and its longest kernels."""

import time

import pytest

from jupyter_mlgpu.experiment.bench.profiled import profiled, short
from jupyter_mlgpu.experiment.bench.result import KernelShare, Profiled
from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.ops.events import Event
from jupyter_mlgpu.measure.ops.profiler import Refused
from jupyter_mlgpu.testing import FakeClock, FakeProfiler
from jupyter_mlgpu.testing.bench import FakeRunner

GPU = Device("fake", "gpu:0", "cuda", "cuda:0")


def kernel(name: str, start: int, length: int, device: str = "gpu:0") -> Event:
    return Event(name, "kernel", "device", device, "stream 7", start, length, "kernel")


def shown(*events: Event, steps_s: float = 0.02, **fake):
    runner = FakeRunner(FakeClock(), [steps_s])
    found = profiled("fake", GPU, runner, steps_s, find=lambda name: FakeProfiler(events, **fake))
    return found, runner.steps


def test_kernels_have_their_share_of_the_time_of_this_device():
    now = time.time_ns()
    found, steps = shown(
        kernel("void gemm<float, 4>(float*)", now, 30),
        kernel("void gemm<half, 4>(half*)", now + 30, 30),
        kernel("adam", now + 60, 40),
        kernel("other", now, 1000, device="gpu:1"),
        Event("aten::mm", "mm", "host", "host", "thread 1", now, 5000),
    )
    assert isinstance(found, Profiled)
    assert found.kernels == (KernelShare("gemm", 0.6), KernelShare("adam", 0.4))
    assert 0 < found.busy <= 1
    assert found.steps == steps == 5


def test_a_step_longer_than_the_window_is_profiled_once():
    assert shown(kernel("gemm", time.time_ns(), 30), steps_s=3.0)[1] == 1


def test_a_profiler_that_refuses_or_fails_says_why():
    refused, steps = shown(refused=Refused("Another profiler is on."))
    assert str(refused) == "Another profiler is on."
    assert steps == 5
    lost, _ = shown(fail=RuntimeError("no space"))
    assert "profile was lost (RuntimeError: no space)" in str(lost)
    assert str(shown()[0]) == "The profiler saw no kernel on gpu:0."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("nvjet_hsh_128x256_64x4_2x1_v_bz_coopB_NNN", "nvjet_hsh_128x256_64x4_2x1_v_bz_coopB_NNN"),
        (
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::Adam<4>>(int)",
            "at::native::multi_tensor_apply_kernel",
        ),
        ("<lambda>", "<lambda>"),
    ],
)
def test_a_kernel_is_named_without_its_arguments(name, expected):
    assert short(name) == expected
