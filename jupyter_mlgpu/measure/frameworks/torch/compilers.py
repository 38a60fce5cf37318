"""The tools that torch.compile needs and a fresh system may lack: a compiler, and Python's headers.

Read in PyTorch 2.13 (`torch/_inductor/config.py`, `cpp.cxx`): on a CPU it uses the program that `CXX` names,
else g++, on a Mac clang++. Read in a fork of Triton (`runtime/build.py`) and not tested on a GPU: for an
NVIDIA GPU it uses the program that `CC` names, else gcc, else clang. Both compile code that includes
Python.h. A Mac's GPU needs neither.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

#: The options that use torch.compile.
COMPILING = frozenset(["compile", "compile_layers", "max_autotune", "reduce_overhead"])

_HEADERS = Path(sysconfig.get_paths()["include"])
_REMEDY = "On Debian and Ubuntu `apt install g++ python3-dev` brings it, on a Mac `xcode-select --install`."


def why_not_compiling(
    options: Collection[str],
    device_kind: str,
    *,
    environment: Mapping[str, str] = os.environ,
    which: Callable[[str], str | None] = shutil.which,
    headers: Path = _HEADERS,
    system: str = sys.platform,
) -> str | None:
    """Return why these options cannot compile on this kind of device; None if they can or need not."""
    if device_kind not in ("cpu", "cuda") or COMPILING.isdisjoint(options):
        return None
    on_cpu = device_kind == "cpu"
    named = environment.get("CXX" if on_cpu else "CC")
    usual = ["clang++" if system == "darwin" else "g++"] if on_cpu else ["gcc", "clang"]
    names = [named] if named else usual
    if not any(which(name) for name in names):
        lacking = f"PATH has no {' or '.join(names)}"
    elif not (headers / "Python.h").exists():
        lacking = f"there is no Python.h in {headers}"
    else:
        return None
    language = "C++" if on_cpu else "C"
    return f"torch.compile needs a compiler of {language} and Python's headers, and {lacking}. {_REMEDY}"
