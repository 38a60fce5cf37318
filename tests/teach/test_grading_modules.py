"""The modules that a lab imports are looked for once, before the first student."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from jupyter_mlgpu.record.errors import GradingError
from jupyter_mlgpu.teach.grading.modules import imported_modules, require_modules
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES
from jupyter_mlgpu.teach.lessons import shipped

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="labs are graded on Linux and macOS")


def notebook(*cells: str) -> dict[str, object]:
    return {"cells": [{"cell_type": "code", "metadata": {}, "source": [source]} for source in cells]}


def lab(folder: Path, *cells: str) -> Path:
    (folder / "lab.ipynb").write_text(json.dumps(notebook(*cells)), "utf-8")
    return folder


def test_imports_of_all_cells_are_found_but_not_pythons_own_nor_those_that_may_fail() -> None:
    found = imported_modules(
        notebook(
            "%matplotlib inline\nimport numpy as np, json",
            "def answer():\n    from sklearn.svm import SVC",
            "try:\n    import cupy\nexcept ImportError:\n    cupy = None",
            "import jupyter_mlgpu.lessons",
            "this is no Python",
        )
    )
    assert found == {"numpy", "sklearn"}


@pytest.mark.parametrize("path", list(shipped.labs("en")), ids=lambda path: path.stem)
def test_our_labs_need_what_the_extra_classroom_has_and_lab_2_tensorflow(path: Path) -> None:
    needed = {"numpy", "tensorflow"} if path.stem == "lab_2_devices" else {"numpy"}
    assert imported_modules(json.loads(shipped.content(path))) == needed


def test_a_lab_whose_modules_are_there_can_be_graded(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("", "utf-8")
    require_modules(SANDBOXES["same-user"], lab(tmp_path, "import json, own, msgspec"))


def test_a_module_that_is_missing_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(GradingError, match=r"no_such_module \(ModuleNotFoundError.*Install these packages"):
        require_modules(SANDBOXES["same-user"], lab(tmp_path, "import no_such_module"))


def test_for_a_framework_that_is_missing_there_is_a_line_to_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("tensorflow", "numpy"):
        (tmp_path / "hidden").mkdir(exist_ok=True)
        (tmp_path / "hidden" / f"{name}.py").write_text("raise ImportError('not here')", "utf-8")
    sandbox = SANDBOXES["same-user"]
    command = sandbox.command

    def without(words: list[str], folder: Path, files: int) -> list[str]:
        setting = f"import sys; sys.path.insert(0, {str(tmp_path / 'hidden')!r})"
        return command([*words[:2], f"{setting}; {words[2]}"], folder, files)

    monkeypatch.setattr(sandbox, "command", without)
    with pytest.raises(GradingError) as raised:
        require_modules(sandbox, lab(tmp_path, "import numpy, tensorflow as tf"))
    assert "tensorflow (ImportError: not here)" in str(raised.value)
    assert 'pip install "jupyter_mlgpu[classroom,tensorflow]"' in str(raised.value)
