"""The names that we use on a Mac are those of wheels for a Mac, read as data; asks a package index."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import uv

from constraints import ROOT
from jupyter_mlgpu.measure.probes.energy import apple

#: What tests hold our names of ML Compute against. Selectors stand as pyobjc spells them, `_` for `:`.
ML_COMPUTE = json.loads((ROOT / "tests" / "data" / "mlcompute_names.json").read_text(encoding="utf-8"))


def unpacked(requirement: str, folder: Path) -> Path:
    """Return a folder with the wheel for Apple silicon; nothing of it can run here."""
    done = subprocess.run(
        [
            *(uv.find_uv_bin(), "pip", "install", "--no-deps", "--only-binary", ":all:"),
            *("--python-platform", "aarch64-apple-darwin", "--python-version", "3.12"),
            *("--target", str(folder), requirement),
        ],
        capture_output=True,
        text=True,
    )
    if re.search(r"client error|timed out|network was disabled", done.stderr):
        pytest.skip(f"No package index answers, so the names of {requirement} are not checked here.")
    assert done.returncode == 0, done.stderr
    return folder


def test_the_energy_monitor_has_the_methods_and_the_fields_in_millijoules_that_we_use(tmp_path: Path) -> None:
    folder = unpacked("zeus-apple-silicon>=1", tmp_path)
    package = folder / "zeus_apple_silicon"
    exported = (package / "__init__.py").read_text(encoding="utf-8")
    assert re.search(r"^from \.\w+ import .*\bAppleEnergyMonitor\b", exported, re.MULTILINE)
    (binary,) = package.glob("*.so")
    names = set(re.findall(rb"[a-z_]{5,}(?=\0)", binary.read_bytes()))
    assert {name.encode() for name in ("begin_window", "end_window", *apple.PARTS)} <= names
    (about,) = folder.glob("zeus_apple_silicon-*.dist-info")
    documented = (about / "METADATA").read_text(encoding="utf-8")
    for name in apple.PARTS:
        assert re.search(rf"^\| `{name}` \|.*\| `Optional\[int\]` \|", documented, re.MULTILINE), name
    assert "All energy values are reported in **mJ**" in documented


def test_the_recorded_names_and_values_of_ml_compute_are_those_of_pyobjcs_wheel(tmp_path: Path) -> None:
    version = re.search(r"mlcompute-([\d.]+)-", ML_COMPUTE["origin"])
    assert version is not None
    folder = unpacked(f"pyobjc-framework-MLCompute=={version[1]}", tmp_path)
    tree = ast.parse((folder / "MLCompute" / "_metadata.py").read_text(encoding="utf-8"))
    values: dict[str, int] = {}
    selectors: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "enums":
            pairs = re.findall(r"(\w+)@(-?\d+)", ast.literal_eval(node.value))
            values = {name: int(number) for name, number in pairs}
    for owner, selector in selectors_in(tree):
        selectors.setdefault(owner, set()).add(selector)
    assert values == ML_COMPUTE["values"]
    assert {owner: sorted(own) for owner, own in selectors.items()} == ML_COMPUTE["selectors"]


def selectors_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Return classes and selectors of `r(class, selector, {...})`, and of `registerNewKeywords`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name == "r":
                owner, selector = (ast.literal_eval(one).decode() for one in node.args[:2])
                yield owner, selector.replace(":", "_")
            elif name == "registerNewKeywords":
                yield ast.literal_eval(node.args[0]), ast.literal_eval(node.args[2])
