"""`%mlc_device status` tells who uses how much memory, and where that is not known, why."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from jupyter_mlgpu.jupyter.notebook.magics.memory import report
from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.measure.probes.memory import Memory, container
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.testing import FakeBackend, FakeGpu, FakeNvml

GIB = 1024**3
ME = os.getpid()


@pytest.fixture
def told(tmp_path):
    """What is printed for GPUs and frameworks of a test's choice, on a machine without containers."""

    def tell(*gpus: FakeGpu, backends=(), driver: bool = True) -> list[str]:
        return report(Nvml(FakeNvml(*gpus, driver=driver)), backends, tmp_path).splitlines()

    return tell


@pytest.fixture
def in_a_container(monkeypatch):
    monkeypatch.setattr(memory, "sees_the_machines_processes", lambda: False)


@pytest.fixture
def outside_containers(monkeypatch):
    monkeypatch.setattr(memory, "sees_the_machines_processes", lambda: True)


def line(lines: list[str], start: str) -> list[str]:
    return next(one for one in lines if one.strip().startswith(start)).split()


# The machine and this process.


def test_the_machine_and_this_process_have_a_row_each(told):
    lines = told(driver=False)
    assert lines[0].split() == ["Memory", "used", "free", "total"]
    assert "GiB" in line(lines, "machine")
    assert "resident set" in " ".join(line(lines, "this process"))


def test_used_and_free_memory_of_the_machine_are_its_total():
    whole = memory.machine()
    assert whole.used + whole.free == whole.total
    assert whole.used > 0


def test_on_a_mac_the_gpu_is_said_to_share_the_machines_memory(told, monkeypatch):
    monkeypatch.setattr(memory, "unified", lambda: True)
    assert "unified: the GPU uses the same memory" in "\n".join(told(driver=False))


def test_on_a_mac_the_memory_that_the_gpu_should_use_at_most_has_a_row_with_its_source(told):
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    backend.usable["gpu:0"] = 12 * GIB
    assert any(
        one.split("fake gpu:0")[-1].split()
        == [
            *("12", "GiB", "the", "most", "that", "macOS", "recommends", "for", "the", "GPU,"),
            "fake.recommended",
        ]
        for one in told(driver=False, backends=[backend])
    )


# Containers.


def groups(root: Path, contents: dict[str, str]) -> Path:
    for name, text in contents.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


LIMITED = {
    "of the second version": (
        {
            "proc/self/cgroup": "0::/\n",
            "sys/fs/cgroup/memory.max": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory.current": f"{GIB}\n",
        },
        Memory(4 * GIB, GIB, 3 * GIB),
    ),
    "the tightest on the way up": (
        {
            "proc/self/cgroup": "0::/user/class/student\n",
            "sys/fs/cgroup/user/class/student/memory.max": "max\n",
            "sys/fs/cgroup/user/class/student/memory.current": f"{GIB}\n",
            "sys/fs/cgroup/user/class/memory.max": f"{2 * GIB}\n",
            "sys/fs/cgroup/user/class/memory.current": f"{GIB}\n",
            "sys/fs/cgroup/user/memory.max": f"{8 * GIB}\n",
            "sys/fs/cgroup/user/memory.current": f"{5 * GIB}\n",
        },
        Memory(2 * GIB, GIB, GIB),
    ),
    "of the first version": (
        {
            "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/of-the-host\n",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": f"{4 * GIB}\n",
            "sys/fs/cgroup/memory/memory.usage_in_bytes": f"{GIB}\n",
        },
        Memory(4 * GIB, GIB, 3 * GIB),
    ),
}


@pytest.mark.parametrize(("contents", "found"), LIMITED.values(), ids=LIMITED)
def test_the_limit_of_a_container_is_read_with_what_is_used_of_it(tmp_path, contents, found):
    assert container(16 * GIB, groups(tmp_path, contents)) == found


@pytest.mark.parametrize("limit", ["max", "9223372036854771712", str(16 * GIB)])
def test_without_a_limit_below_the_machines_memory_there_is_no_row(tmp_path, limit):
    contents = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": limit,
        "sys/fs/cgroup/memory.current": "1",
    }
    assert container(16 * GIB, groups(tmp_path, contents)) is None


def test_where_there_are_no_control_groups_there_is_no_row(tmp_path):
    assert container(16 * GIB, tmp_path) is None


def test_a_containers_limit_has_a_row_of_its_own(tmp_path):
    contents = {
        "proc/self/cgroup": "0::/\n",
        "sys/fs/cgroup/memory.max": str(GIB),
        "sys/fs/cgroup/memory.current": str(GIB // 2),
    }
    lines = report(Nvml(FakeNvml(driver=False)), (), groups(tmp_path, contents)).splitlines()
    assert line(lines, "container")[1:7] == ["512", "MiB", "512", "MiB", "1", "GiB"]


# NVIDIA GPUs.


def test_each_gpu_has_a_row_and_each_process_on_it(told):
    lines = told(FakeGpu("NVIDIA H200", 140 * GIB, 4 * GIB, {ME: 3 * GIB}))
    assert " ".join(line(lines, "NVIDIA GPU 0")) == "NVIDIA GPU 0 4 GiB 136 GiB 140 GiB NVIDIA H200"
    assert " ".join(line(lines, f"process {ME}")) == f"process {ME} 3 GiB this kernel"


def test_a_process_whose_memory_is_not_told_has_no_figure(told):
    assert line(told(FakeGpu(compute={ME: None})), f"process {ME}")[2:4] == ["not", "reported"]


def test_another_process_is_told_by_the_short_name_of_its_program(told, outside_containers):
    parent = os.getppid()
    lines = told(FakeGpu(compute={parent: GIB}))
    assert psutil.Process(parent).name() in " ".join(line(lines, f"process {parent}"))
    assert " ".join(psutil.Process(parent).cmdline()) not in "\n".join(lines)
    assert any(
        f"process {ME}) is not among the processes on a GPU: it has not used a GPU." in x for x in lines
    )


def test_a_process_that_may_not_be_asked_is_another_users(told, outside_containers, monkeypatch):
    def denied(process: psutil.Process) -> str:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "name", denied)
    parent = os.getppid()
    assert line(told(FakeGpu(compute={parent: GIB})), f"process {parent}")[-2:] == ["another", "user's"]


def test_a_process_that_is_gone_is_not_seen_from_here(told, outside_containers):
    assert "not seen from here" in "\n".join(told(FakeGpu(compute={2**30: GIB})))


def test_in_a_container_whose_processes_have_other_numbers_nobody_is_named(told, in_a_container):
    parent = os.getppid()
    lines = told(FakeGpu(compute={parent: GIB}))
    assert psutil.Process(parent).name() not in "\n".join(lines)
    assert any("or the driver and this container number processes differently" in one for one in lines)


def test_in_a_container_where_this_kernel_is_known_the_others_are_named(told, in_a_container):
    parent = os.getppid()
    lines = told(FakeGpu(compute={parent: GIB, ME: GIB}))
    assert psutil.Process(parent).name() in " ".join(line(lines, f"process {parent}"))
    assert not any("not among" in one for one in lines)


def test_of_an_unused_gpu_nothing_is_said_of_processes(told):
    assert not any("process on" in one or "not among" in one for one in told(FakeGpu()))


def test_a_gpu_that_does_not_tell_its_memory_or_processes_says_so(told):
    lines = told(FakeGpu(fails=("MemoryInfo", "ComputeRunningProcesses")))
    assert "NVML does not report the memory of GPU 0 (Not Supported)." in " ".join(
        line(lines, "NVIDIA GPU 0")
    )
    assert "NVML does not report the processes of GPU 0 (Not Supported)." in lines


def test_a_split_gpu_and_several_gpus_are_warned_of(told):
    lines = told(FakeGpu(mig=True), FakeGpu())
    assert (
        "GPU 0 is split (MIG): a framework sees only part of it; the figures are for the whole GPU."
    ) in lines
    assert any("a framework's gpu:0 may be a different GPU" in one for one in lines)


def test_without_a_driver_it_says_so(told):
    said = "NVIDIA GPUs are not known: No NVIDIA driver responds here (NVML Shared Library Not Found)."
    assert said in told(driver=False)


def test_a_mac_is_not_told_of_nvidia(told, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "NVIDIA" not in "\n".join(told(driver=False))


# Allocators.


def test_each_allocator_has_a_row_or_the_reason_why_not(told):
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    backend.holds["gpu:0"] = 3 * GIB
    lines = told(driver=False, backends=[backend])
    assert "not reported" in " ".join(line(lines, "fake cpu:0"))
    assert "The fake holds nothing on cpu:0." in " ".join(line(lines, "fake cpu:0"))
    assert line(lines, "fake gpu:0") == ["fake", "gpu:0", "3", "GiB", "allocator"]


def test_a_framework_that_has_not_started_is_not_started(told):
    backend = FakeBackend()
    backend.started = lambda: False
    backend.devices = lambda: pytest.fail("it was asked for its devices")
    assert "fake has not used a device yet, so its allocator was not queried." in told(backends=[backend])


def test_a_framework_that_fails_costs_its_own_rows_only(told):
    backend = FakeBackend()
    backend.memory = lambda device: 1 / 0
    lines = told(FakeGpu(), backends=[backend])
    assert "fake could not be queried (division by zero)." in lines
    assert line(lines, "NVIDIA GPU 0")


def test_without_a_framework_there_is_no_allocator_to_ask(told):
    assert "No framework is imported, so there is no allocator to query." in told(FakeGpu())
