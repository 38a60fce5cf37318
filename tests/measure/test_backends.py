"""The small parts of backends, without a framework."""

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.browser.channel import NoChannel
from jupyter_mlgpu.jupyter.notebook.cell.transform import device_line as device_line_of
from jupyter_mlgpu.jupyter.notebook.magics.devices import DeviceCommands
from jupyter_mlgpu.measure.frameworks import hardware, registry
from jupyter_mlgpu.measure.frameworks.base import Details
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.replay import Replay
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import DeviceError, RecordError
from jupyter_mlgpu.record.extras import installed
from jupyter_mlgpu.record.record import DeviceUse
from jupyter_mlgpu.show.receipts import head
from jupyter_mlgpu.testing import FakeBackend, FakeGpu, FakeNvml, example_record


class Memory:
    """An allocator that keeps its peak."""

    def __init__(self) -> None:
        self.used = self.peak = 0

    def use(self, size: int) -> None:
        self.used = size
        self.peak = max(self.peak, size)

    def reset(self) -> None:
        self.peak = self.used


@pytest.fixture
def memory() -> Memory:
    return Memory()


@pytest.fixture
def peaks(memory) -> Peaks:
    return Peaks(lambda: memory.peak, memory.reset)


def test_a_cells_peak_is_its_own_and_not_an_earlier_cells(memory, peaks):
    memory.use(100)
    memory.use(10)
    cell = peaks.start()
    memory.use(30)
    memory.use(0)
    assert peaks.finish(cell) == 30


def test_a_cell_keeps_its_peak_when_one_inside_it_begins_afresh(memory, peaks):
    outer = peaks.start()
    memory.use(100)
    memory.use(10)
    inner = peaks.start()
    memory.use(20)
    assert peaks.finish(inner) == 20
    assert peaks.finish(outer) == 100


def test_what_was_in_use_before_a_cell_counts_in_its_peak(memory, peaks):
    memory.use(50)
    assert peaks.finish(peaks.start()) == 50


def test_a_cell_that_began_before_there_was_an_allocator_has_all_of_its_peak(memory, peaks):
    memory.use(70)
    memory.use(0)
    peaks.finish(peaks.start())
    assert peaks.finish(peaks.started_before()) == 70


def nvidia(*gpus: FakeGpu, driver: bool = True) -> tuple[Details, ...]:
    return hardware.nvidia_gpus(Nvml(FakeNvml(*gpus, driver=driver)))


def test_an_nvidia_gpu_is_described_as_its_driver_tells():
    assert nvidia(FakeGpu("NVIDIA H200", 140 * 1024**3)) == (
        Details("NVIDIA H200", 140 * 1024**3, "NVIDIA driver 580.1"),
    )


def test_memory_that_an_nvidia_gpu_does_not_tell_is_not_known():
    (gpu,) = nvidia(FakeGpu("NVIDIA GB10", fails=("MemoryInfo",)))
    assert gpu == Details("NVIDIA GB10", None, "NVIDIA driver 580.1")


def test_without_a_driver_no_nvidia_gpu_is_described():
    assert nvidia(driver=False) == ()
    assert hardware.common_details(()) == Details()


def test_of_gpus_that_differ_only_the_driver_is_told_for_nobody_knows_which_is_meant():
    same = nvidia(FakeGpu("A"), FakeGpu("A"))
    assert hardware.common_details(same) == same[0]
    assert hardware.common_details(nvidia(FakeGpu("A"), FakeGpu("B"))) == Details(
        driver="NVIDIA driver 580.1"
    )


def test_a_module_that_is_still_importing_is_not_imported_yet(monkeypatch):
    module = ModuleType("a_framework")
    monkeypatch.setitem(sys.modules, "a_framework", module)
    module.__spec__ = ModuleSpec("a_framework", None)
    module.__spec__._initializing = True
    assert not imported("a_framework")
    module.__spec__._initializing = False
    assert imported("a_framework")


class _Hostile:
    """Answers nothing that it is asked; told of in `asked`."""

    asked: ClassVar[list[str]] = []

    def __getattribute__(self, name: str) -> object:
        _Hostile.asked.append(name)
        raise RuntimeError(f"it was asked for its {name}")


class _HostileModule(_Hostile, ModuleType):
    __dict__ = property(lambda self: 1 / 0)


def _by_hand(name: str) -> ModuleType:
    made = ModuleType(name)
    made.__spec__ = _Hostile()
    return made


@pytest.mark.parametrize("kind", [lambda name: _Hostile(), _HostileModule, _by_hand, ModuleType])
def test_what_a_program_has_put_in_the_place_of_a_framework_is_asked_nothing(kind, monkeypatch):
    monkeypatch.setattr(_Hostile, "asked", [])
    for name in registry.MODULES:
        monkeypatch.setitem(sys.modules, name, kind(name))
    assert registry.loaded() == ()
    assert registry.created_backends() == ()
    assert registry.importable() == []
    assert not imported("torch")
    assert _Hostile.asked == []


def test_a_package_that_is_no_package_has_no_parts(monkeypatch):
    monkeypatch.setitem(sys.modules, "no_package", _Hostile())
    assert installed("no_package")
    assert not installed("no_package.part")


def test_a_part_of_a_package_that_is_not_there_is_not_installed():
    assert not installed("no_such_package.core")
    assert installed("json.decoder")


def test_every_framework_has_the_module_by_whose_import_it_is_there():
    assert {name: known.module for name, known in registry.FRAMEWORKS.items()} == {
        name: module for module, name in registry.MODULES.items()
    }
    assert registry.MODULES["mlx.core"] == "mlx"


def test_the_readmes_table_agrees_with_what_was_verified():
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    rows = {
        cells[0]: cells[1:]
        for line in readme.splitlines()
        if line.startswith("| ")
        for cells in [[cell.strip() for cell in line.strip("|").split("|")]]
    }
    columns = next(cells for cells in rows.values() if cells[0].startswith("TensorFlow "))
    kinds = {"on a CPU": "cpu", "on an NVIDIA GPU": "cuda", "on a Mac's GPU": "metal"}
    for name in registry.OWN:
        framework = registry.framework(name)
        column = next(index for index, cell in enumerate(columns) if cell.split()[0] == framework.title)
        for row, kind in kinds.items():
            verified = framework.verified.get(kind)
            word = "not yet run" if verified is None else "emulated" if verified.emulated else "run"
            assert rows[row][column].partition(" (")[0] == word, (row, framework.title)


def test_every_framework_says_on_which_hardware_it_was_verified():
    known = [registry.framework(name) for name in registry.FRAMEWORKS]
    assert [one.name for one in known] == list(registry.FRAMEWORKS)
    assert all(one.verified and all(seen.where for seen in one.verified.values()) for one in known)


def test_what_is_replayed_is_labelled_everywhere():
    replay = Replay([example_record()], "lesson.jsonl")
    (record,) = replay.records
    assert record.origin == "replayed"
    assert "Replayed from lesson.jsonl: nothing ran here." in record.notes
    assert all(one.instrument.startswith("replayed from lesson.jsonl") for one in record.readings)
    (device,) = replay.devices()
    assert (device.framework, device.kind) == ("replay", "replayed cpu")
    assert "replayed from lesson.jsonl" in device.native_name


def test_replayed_devices_are_listed_as_such_and_never_chosen(monkeypatch):
    backend = FakeBackend(devices=("cpu:0",))
    monkeypatch.setattr(registry, "loaded", lambda: (backend,))
    monkeypatch.setattr(registry, "importable", list)
    runtime = Runtime()
    elsewhere = replace(example_record().device.ran_on[0], device="gpu:0", kind="metal")
    saved = replace(example_record(), device=DeviceUse({"*": "gpu:0"}, (elsewhere,)))
    runtime.replays += [Replay([saved], "lesson.jsonl"), Replay([saved], "lesson.jsonl")]
    listed = DeviceCommands(runtime, NoChannel()).list().splitlines()
    (replayed,) = [line for line in listed if "replayed" in line]
    assert replayed.startswith("gpu:0   replayed metal")
    assert replayed.endswith("replayed from lesson.jsonl; cells do not run there")
    with pytest.raises(DeviceError, match="There is no device gpu:0 here: found cpu:0"):
        runtime.selection.select(DeviceWord.parse("gpu"))


def test_without_a_framework_the_list_has_the_hardware_and_what_to_install(monkeypatch):
    monkeypatch.setattr(registry, "loaded", tuple)
    monkeypatch.setattr(registry, "importable", list)
    monkeypatch.setattr(hardware, "nvidia_gpus", lambda nvml: (Details("NVIDIA H200"),))
    automatic, cpu, gpu, install = DeviceCommands(Runtime(), NoChannel()).list().splitlines()
    assert automatic.startswith("auto ")
    assert cpu == f"cpu     {hardware.cpu().hardware or ''}"
    assert gpu == "gpu     NVIDIA H200"
    assert install.startswith("No framework is installed in this kernel's Python")
    assert '`%pip install "jupyter_mlgpu[torch]"`' in install


def test_records_without_a_device_cannot_be_played_back():
    record = replace(example_record(), device=DeviceUse({}, None, "Not known."))
    with pytest.raises(RecordError, match=r"No record of lesson\.jsonl says on which device it ran"):
        Replay([record], "lesson.jsonl")


def test_where_frameworks_were_asked_onto_devices_each_is_compared_with_its_own():
    record = example_record()
    asked = replace(record.device, requested={"tensorflow": "cpu:0", "torch": "gpu:0"})
    assert head.where(replace(record, device=asked)) == "ran on cpu:0"
    elsewhere = replace(record.device, requested={"tensorflow": "gpu:0", "torch": "cpu:0"})
    assert head.where(replace(record, device=elsewhere)).startswith("asked for tensorflow gpu:0")


def device_line(lines, ours=lambda magic: True):
    return device_line_of(lines, ours)


def test_a_cells_own_device_becomes_its_first_line():
    assert device_line(["%%mlc_device cpu\n", "x = 1\n"]) == ["%mlc_device cpu --this-cell\n", "x = 1\n"]


def test_other_cells_are_left_as_they_are():
    for lines in (["x = 1\n"], ["%mlc_device cpu\n", "x\n"], ["%%mlc_devices cpu\n", "x\n"], []):
        assert device_line(lines) == lines


def test_a_python_that_is_too_new_for_a_framework_s_extra_is_told(monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))
    assert registry.too_new_a_python("tensorflow") == (
        "[tensorflow] needs Python 3.13 or older, and this is Python 3.14"
    )
    assert registry.too_new_a_python("torch") == ""
    monkeypatch.setattr(sys, "version_info", (3, 13, 9))
    assert registry.too_new_a_python("tensorflow") == ""
