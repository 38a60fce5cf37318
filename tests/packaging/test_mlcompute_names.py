"""The names of ML Compute that we recorded are those of pyobjc's wheel; asks a package index."""

from __future__ import annotations

import json
import re
import subprocess

import pytest
import uv
from ml_compute_names import TABLE, names

RECORDED = json.loads(TABLE.read_text())


@pytest.fixture(scope="module")
def metadata(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the wheel for a Mac tells; nothing of it can run here."""
    target = tmp_path_factory.mktemp("pyobjc")
    version = re.search(r"mlcompute-([\d.]+)-", RECORDED["origin"])
    assert version is not None
    done = subprocess.run(
        [
            *(uv.find_uv_bin(), "pip", "install", "--no-deps", "--only-binary", ":all:"),
            *("--python-platform", "aarch64-apple-darwin", "--python-version", "3.12"),
            *("--target", str(target), f"pyobjc-framework-MLCompute=={version[1]}"),
        ],
        capture_output=True,
        text=True,
    )
    if re.search(r"client error|timed out|network was disabled", done.stderr):
        pytest.skip("No package index answers, so ML Compute's names are not checked here.")
    assert done.returncode == 0, done.stderr
    return (target / "MLCompute" / "_metadata.py").read_text()


def test_the_recorded_names_and_values_are_the_wheels(metadata: str) -> None:
    found = names(metadata)
    assert found["values"] == RECORDED["values"]
    assert found["selectors"] == RECORDED["selectors"]
