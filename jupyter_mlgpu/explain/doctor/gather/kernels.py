"""Reads the kernels that Jupyter offers, the packages of each one's Python, and ipykernel's settings.

A kernelspec is a folder with a kernel.json in `kernels/` of Jupyter's data path. For a bare `python` Jupyter
uses its own interpreter (jupyter_client's KernelManager.format_kernel_cmd); we assume that this is ours.
Jupyter passes its own environment variables to the kernel and adds the kernelspec's (`env`, in which
`${NAME}` stands for a variable; LocalProvisioner.pre_launch). With PYTHONPATH, or the user's site-packages, a
kernel may find packages that are not installed in its virtual environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from jupyter_mlgpu.explain.doctor.facts import KernelFacts, KernelSpec
from jupyter_mlgpu.explain.doctor.gather import environment
from jupyter_mlgpu.explain.doctor.gather.tools import fact, run, table_of, text_of
from jupyter_mlgpu.explain.doctor.maybe import Maybe, Unknown
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.sentence import say

#: Most installed kernelspecs that are read.
MOST = 20
#: Seconds within which all their Pythons must answer, from the start of the first.
TOGETHER_S = 3.0
#: The reason where no kernel's Python may be started: a kernelspec may name any program of the user's.
NOT_STARTED = Unknown(say("The kernels' Pythons were not started."), asked=False)
#: Programs that Jupyter replaces by its own interpreter. Another minor version is a different program.
_BARE = frozenset(f"python{version}" for version in ("", "3", f"3.{sys.version_info.minor}"))
_CAPTURE = re.compile(r"^\s*c\.IPKernelApp\.capture_fd_output\s*=\s*(True|False)", re.MULTILINE)

# Runs in another Python, version 3.8 or later, and imports only its standard library.
_ASK = """
import sys
sys.path[:] = [one for one in sys.path if one]  # as ipykernel's launcher: without the current folder
import json, platform
from importlib import metadata
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
        pass
print(json.dumps([platform.python_version().rstrip('+'), sys.prefix, found]))
"""


@dataclass(frozen=True, slots=True)
class KernelsOwnFacts:
    """A fact that only the kernel itself knows: if ipykernel captures native output in it."""

    capture: Maybe[bool]


def read(inside: KernelsOwnFacts | None = None, *, start: bool = True) -> KernelFacts:
    """Return the facts about all kernels; `inside` is the calling kernel's own.

    Outside a kernel, the capture of native output is read from ipykernel's configuration files. With
    start=False no kernel's Python is started, and what only it knows is unknown.
    """
    return KernelFacts(
        specs=fact(specs) if start else NOT_STARTED,
        capture=fact(lambda: configured(_profiles())) if inside is None else inside.capture,
        inside=inside is not None,
        imported=tuple(
            name for module, name in (registry.MODULES | {"keras": "keras"}).items() if module in sys.modules
        ),
    )


def packages() -> tuple[str, ...]:
    """Return the packages that are looked up in a kernel's Python."""
    return ("jupyter-mlgpu", "ipykernel", *registry.FRAMEWORKS, "keras", "numpy")


def specs() -> tuple[KernelSpec, ...]:
    """Return every kernelspec; the first of a name counts, as for Jupyter. Asks their Pythons in parallel."""
    from jupyter_core.paths import jupyter_path

    found: dict[str, dict[str, Any]] = {}
    for folder in map(Path, jupyter_path("kernels")):
        for file in sorted(folder.glob("*/kernel.json")):
            if len(found) < MOST and file.parent.name not in found:
                found[file.parent.name] = table_of(file)
    # Jupyter provides one for its own Python if none is installed under this name.
    found.setdefault("python3", {"argv": ["python", "-m", "ipykernel_launcher"]})
    deadline = real_time.monotonic() + TOGETHER_S
    with ThreadPoolExecutor(max_workers=4) as pool:
        return tuple(pool.map(lambda name: _spec(name, found[name], deadline), found))


def configured(folders: Iterable[Path]) -> bool:
    """Return IPKernelApp.capture_fd_output from ipykernel's configuration files; True by default."""
    value = True
    for folder in folders:
        settings = _CAPTURE.findall(text_of(folder / "ipython_kernel_config.py") or "")
        value = settings[-1] == "True" if settings else value
        section = table_of(folder / "ipython_kernel_config.json").get("IPKernelApp")
        value = bool(section.get("capture_fd_output", value)) if isinstance(section, dict) else value
    return value


def _profiles() -> tuple[Path, ...]:
    own = Path(os.environ.get("IPYTHONDIR", "~/.ipython")).expanduser()
    return Path("/etc/ipython"), Path(sys.prefix) / "etc/ipython", own / "profile_default"


def _spec(name: str, table: Mapping[str, Any], deadline: float) -> KernelSpec:
    command = table.get("argv")
    if not isinstance(command, list) or not command or not isinstance(command[0], str):
        why = Unknown(say("Its kernel.json cannot be read."))
        return KernelSpec(name, why, why, why, why, why, why)
    spec_env = table.get("env")
    variables = {key: str(value) for key, value in spec_env.items()} if isinstance(spec_env, dict) else {}
    env = environment.of_interest(variables.items())
    program = command[0]
    if program in _BARE:
        program = sys.executable
    path = shutil.which(program)
    if not any("ipykernel" in str(word) for word in command):
        why = Unknown(say("This kernel does not use ipykernel."))
        return KernelSpec(name, program, path is not None, False, why, why, env)
    if path is None:
        why = Unknown(say("Its interpreter was not found."))
        return KernelSpec(name, program, False, False, why, why, env)
    answer = fact(lambda: _ask(path, variables, max(0.01, deadline - real_time.monotonic())))
    version, prefix, has = (answer, answer, answer) if isinstance(answer, Unknown) else answer
    same = os.path.realpath(str(prefix)) == os.path.realpath(sys.prefix)
    return KernelSpec(name, program, True, prefix if isinstance(prefix, Unknown) else same, version, has, env)


def _ask(path: str, variables: Mapping[str, str], seconds: float) -> tuple[str, str, dict[str, str]]:
    added = {name: Template(value).safe_substitute(os.environ) for name, value in variables.items()}
    version, prefix, has = json.loads(run([path, "-c", _ASK, *packages()], seconds, **added))
    return version, prefix, has
