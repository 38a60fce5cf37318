"""Installs PyTorch, at the version of constraints/torch.txt, into the environment whose Python runs this.

pip takes it from wherever its own configuration says. On Linux that is a build for CPUs (`2.13.0+cpu`,
190 MB) where the configuration names a place that has one, else the build for CUDA, which brings NVIDIA's
libraries: several GB. That one does not import without them (its libtorch_global_deps.so needs
libcudart.so.13), so leaving them out is no way round. With --announce nothing is installed: pip is asked what
it would take, and a download of several GB is announced.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

CONSTRAINTS = Path(__file__).resolve().parent.parent / "constraints" / "torch.txt"
INSTALL = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--only-binary", ":all:"]
INSTALL += ["--constraint", str(CONSTRAINTS), "torch"]
CUDA_IS_LARGE = (
    "==> pip finds no build of PyTorch for CPUs, only {version} for CUDA: several GB are downloaded now, "
    "with NVIDIA's libraries. To avoid that, stop here (Ctrl-C) and name a place that has {version}+cpu in "
    "pip's configuration (PIP_FIND_LINKS or PIP_EXTRA_INDEX_URL)."
)


def brings_cuda(metadata: dict[str, Any], platform: str) -> bool:
    """Whether a wheel with these metadata asks for NVIDIA's libraries on `platform` (sys.platform)."""
    asked = metadata.get("requires_dist", [])
    return platform == "linux" and any(re.match(r"(nvidia|cuda)-", name) for name in asked)


def what_pip_takes() -> dict[str, Any] | None:
    """The metadata of the wheel of PyTorch that pip would install, or None where it is installed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        asking = [*INSTALL, "--dry-run", "--quiet", "--no-deps", "--report", str(report)]
        subprocess.run(asking, check=True)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    return found[0]["metadata"] if found else None


def announce() -> int:
    """Say so where pip would download several GB; the exit status is pip's."""
    try:
        metadata = what_pip_takes()
    except subprocess.CalledProcessError as error:
        return error.returncode
    if metadata is not None and brings_cuda(metadata, sys.platform):
        print(CUDA_IS_LARGE.format(version=metadata["version"]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(announce() if sys.argv[1:] == ["--announce"] else subprocess.run(INSTALL).returncode)
