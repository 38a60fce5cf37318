"""A framework that is older than its backend supports: one sentence says so, and cells run."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from jupyter_mlgpu.experiment.bench.session import import_backend
from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Framework
from jupyter_mlgpu.measure.frameworks.registry import Registered
from jupyter_mlgpu.measure.ops.profiler import Refused
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import BenchError, DeviceError

NAME = "an_old_framework"
FRAMEWORK = Framework(
    name=NAME,
    title="The Framework",
    backend="jupyter_mlgpu.testing:FakeBackend",
    sample="",
    profiler="jupyter_mlgpu.testing:FakeProfiler",
    oldest="0.31",
    packages=(NAME, f"{NAME}-*", "triton"),
)
WHY = (
    "Found The Framework 0.30.6; receipts need 0.31 or newer: "
    f"run `%pip install -U {NAME}` and restart the kernel."
)


@pytest.fixture
def installed(monkeypatch):
    """Make a framework importable, and known, in a version of choice."""

    def install(version):
        module = ModuleType(NAME)
        if version is not None:
            module.__version__ = version
        module.__spec__ = sys.__spec__
        monkeypatch.setitem(registry.FRAMEWORKS, NAME, Registered(NAME, f"{__name__}:FRAMEWORK"))
        monkeypatch.setitem(registry.MODULES, NAME, NAME)
        monkeypatch.setitem(sys.modules, NAME, module)
        monkeypatch.setattr(registry, "_backends", {})
        monkeypatch.setattr(registry, "_version_checked", set())
        return module

    return install


@pytest.mark.parametrize("version", ["0.31", "0.31.0", "0.32.4", "1.0", "0.31.0.dev1+cpu"])
def test_a_version_in_the_range_has_its_own_backend(installed, version):
    installed(version)
    assert registry.why_too_old(NAME) is None


@pytest.mark.parametrize("version", ["0.30.6", "0.4", "0.29.1+cpu"])
def test_an_older_one_has_no_devices_and_says_what_to_install(installed, version):
    installed(version)
    backend = registry.backend(NAME)
    assert backend.devices() == ()
    assert backend.why_no_gpu() == WHY.replace("0.30.6", version)
    assert backend.versions() == {NAME: version}


def test_packages_of_the_framework_that_are_installed_are_upgraded_with_it(installed, tmp_path, monkeypatch):
    for name in (f"{NAME}-cpu", f"{NAME}_other", "triton"):
        about = tmp_path / f"{name}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    installed("0.30.6")
    assert f"`%pip install -U {NAME} {NAME}-cpu` " in registry.why_too_old(NAME)


def test_a_version_that_comes_later_in_the_import_is_looked_at_then(installed):
    module = installed(None)
    assert registry.why_too_old(NAME) is None
    module.__version__ = "0.30.6"
    assert registry.why_too_old(NAME) == WHY


def test_the_first_record_has_the_sentence_as_a_note_and_each_says_why_nothing_is_known(installed):
    installed("0.30.6")
    recorder = runtime.Runtime().recorder
    first, second = (recorder.start("a cell").stop() for _ in range(2))
    assert list(first.notes) == [WHY]
    assert list(second.notes) == []
    for record in (first, second):
        assert record.device.ran_on is None
        assert WHY in record.device.why_missing


def test_whoever_asks_for_it_is_told_the_same(installed):
    installed("0.30.6")
    for ask in (
        lambda: registry.import_framework(NAME),
        lambda: runtime.Runtime().selection.select(DeviceWord("gpu"), NAME),
    ):
        with pytest.raises(DeviceError, match=r"receipts need 0\.31 or newer"):
            ask()
    with pytest.raises(BenchError, match=r"receipts need 0\.31 or newer"):
        import_backend(NAME)
    refused = registry.profiler(NAME)
    assert isinstance(refused, Refused)
    assert refused.reason == WHY
