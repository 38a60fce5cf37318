"""The names we ask zeus-apple-silicon for are those of its wheel for a Mac; asks a package index."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import uv

from jupyter_mlgpu.measure.probes.energy import apple


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel for a Mac with Apple silicon, unpacked; nothing of it can run here."""
    target = tmp_path_factory.mktemp("zeus")
    done = subprocess.run(
        [
            *(uv.find_uv_bin(), "pip", "install", "--no-deps", "--only-binary", ":all:"),
            *("--python-platform", "aarch64-apple-darwin", "--python-version", "3.12"),
            *("--target", str(target), "zeus-apple-silicon>=1"),
        ],
        capture_output=True,
        text=True,
    )
    if re.search(r"client error|timed out|network was disabled", done.stderr):
        pytest.skip("No package index answers, so zeus-apple-silicon's names are not checked here.")
    assert done.returncode == 0, done.stderr
    return target


def test_the_monitor_is_exported(package: Path) -> None:
    text = (package / "zeus_apple_silicon" / "__init__.py").read_text()
    assert re.search(r"^from \.\w+ import .*\bAppleEnergyMonitor\b", text, re.MULTILINE)


def test_the_methods_and_fields_we_use_are_in_the_binary(package: Path) -> None:
    (binary,) = (package / "zeus_apple_silicon").glob("*.so")
    names = set(re.findall(rb"[a-z_]{5,}(?=\0)", binary.read_bytes()))
    wanted = {name.encode() for name in ("begin_window", "end_window", *apple.PARTS)}
    assert wanted <= names


def test_the_fields_are_documented_in_millijoules_and_may_be_none(package: Path) -> None:
    (folder,) = package.glob("zeus_apple_silicon-*.dist-info")
    documented = (folder / "METADATA").read_text()
    for name in apple.PARTS:
        assert re.search(rf"^\| `{name}` \|.*\| `Optional\[int\]` \|", documented, re.MULTILINE), name
    assert re.search(r"All energy values are reported in \*\*mJ\*\*", documented)
