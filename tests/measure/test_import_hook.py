"""The import watch tells when a framework arrives and leaves no trace of itself."""

import importlib
import importlib.util
import sys

import pytest

from jupyter_mlgpu.measure.frameworks.imports import ImportHook


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module that can be imported in this test."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name: str, code: str) -> str:
        (tmp_path / f"{name}.py").write_text(code)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, name, raising=False)
        return name

    return write


@pytest.fixture
def watching():
    heard: list[str] = []
    watch = ImportHook(["framework_a", "framework_b"], heard.append)
    watch.start()
    yield heard
    watch.stop()
    assert watch not in sys.meta_path
    for name in ("framework_a", "framework_b"):
        sys.modules.pop(name, None)


def test_it_tells_when_a_watched_module_has_been_imported(module, watching):
    importlib.import_module(module("framework_a", "x = 1"))
    assert watching == ["framework_a"]


def test_the_module_is_complete_when_it_tells(module):
    heard = []
    watch = ImportHook(["framework_a"], lambda name: heard.append(sys.modules[name].x))
    watch.start()
    importlib.import_module(module("framework_a", "x = 1"))
    watch.stop()
    assert heard == [1]


def test_other_modules_are_none_of_its_business(module, watching):
    importlib.import_module(module("something_else", "x = 1"))
    assert watching == []


def test_a_module_that_does_not_exist_still_raises_as_ever(watching):
    with pytest.raises(ModuleNotFoundError, match="framework_b"):
        importlib.import_module("framework_b")


def test_a_module_that_fails_raises_its_own_error(module, watching):
    with pytest.raises(ZeroDivisionError):
        importlib.import_module(module("framework_a", "1 / 0"))
    assert watching == []


def test_a_failure_of_ours_does_not_fail_the_import(module, capsys):
    def broken(name):
        raise RuntimeError("no")

    watch = ImportHook(["framework_a"], broken)
    watch.start()
    assert importlib.import_module(module("framework_a", "x = 1")).x == 1
    watch.stop()
    assert "could not start tracing framework_a: no" in capsys.readouterr().err


def test_the_loader_gets_its_own_method_back(module, watching):
    imported = importlib.import_module(module("framework_a", "x = 1"))
    assert "exec_module" not in vars(imported.__spec__.loader)
    assert importlib.reload(imported).x == 1
