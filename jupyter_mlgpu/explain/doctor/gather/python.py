"""Reads the facts about the interpreter: its build, its environment, and files that hide packages from it."""

from __future__ import annotations

import platform
import sys
import sysconfig
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import Python
from jupyter_mlgpu.explain.doctor.gather.tools import fact, run, version_of
from jupyter_mlgpu.measure.frameworks import registry

#: Packages, besides the frameworks, whose names a file in the current folder must not have.
SHADOWED = ("keras", "numpy", "pandas", "matplotlib", "IPython", "ipykernel", "jupyter_mlgpu")
# Standard modules that frameworks import: a student's random.py breaks all of them.
_STANDARD = (
    "random",
    "types",
    "typing",
    "math",
    "statistics",
    "code",
    "queue",
    "copy",
    "logging",
    "json",
    "string",
)


def read() -> Python:
    """Return the facts about the running interpreter."""
    mac = sys.platform == "darwin"
    return Python(
        # A Python built between two releases has a + at the end, which is not valid in a version.
        version=platform.python_version().rstrip("+"),
        implementation=platform.python_implementation(),
        architecture=platform.machine(),
        translated=fact(_translated) if mac else None,
        kind=fact(lambda: kind(Path(sys.prefix), sys.prefix != sys.base_prefix, Path(sys.base_prefix))),
        prefix=sys.prefix,
        executable=sys.executable,
        tag=sysconfig.get_platform(),
        macos_seen=platform.mac_ver()[0] or None,
        pip=fact(lambda: version_of("pip")),
        shadows=fact(lambda: shadows(Path.cwd())),
    )


def kind(prefix: Path, virtual: bool, base: Path) -> str:
    """Return venv, conda, pyenv or system; a venv made with pyenv's Python is a venv."""
    if (prefix / "conda-meta").is_dir():
        return "conda"
    if virtual:
        return "venv"
    return "pyenv" if ".pyenv" in base.parts else "system"


def shadows(folder: Path) -> tuple[str, ...]:
    """Return the files of a folder that would be imported instead of a package."""
    found = []
    for name in (*registry.FRAMEWORKS, *SHADOWED, *_STANDARD):
        module, package = folder / f"{name}.py", folder / name / "__init__.py"
        if module.is_file():
            found.append(module.name)
        # The folder of a package's own source code has a pyproject.toml.
        elif package.is_file() and not (folder / "pyproject.toml").exists():
            found.append(f"{name}/__init__.py")
    return tuple(found)


def _translated() -> bool:
    # Apple's "About the Rosetta translation environment": 1 for a translated process, 0 for a native one; an
    # Intel Mac does not know the name.
    try:
        return run(["/usr/sbin/sysctl", "-n", "sysctl.proc_translated"]).strip() == "1"
    except Exception:
        return False
