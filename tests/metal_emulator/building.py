"""Build the emulated Metal plug-in against the TensorFlow at hand.

    python tests/metal_emulator/building.py    # prints the library

What it is made of: the sources in `plugin/`, the registrations in the package's own table of
tensorflow-metal's kernels, and `kept_kernels.txt`, the kernels for a GPU that a TensorFlow without CUDA has
too. The library lies in build/metal_emulator, under a name made from all of these, so it is built once.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import itertools
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = ROOT / "jupyter_mlgpu" / "graphs" / "planning" / "tables" / "metal.json"
KEPT = HERE / "kept_kernels.txt"
SOURCES = sorted((HERE / "plugin").glob("*.cc"))

#: How many kernels the wheel `tensorflow` registers for CUDA beyond those that are kept, by its version.
HIDDEN = {"2.19.1": 4543}

#: The macOS whose registrations are taken; some are made on 13 or later only.
MACOS = 15

_TYPES = {
    "bfloat16": "TF_BFLOAT16",
    "bool": "TF_BOOL",
    "float16": "TF_HALF",
    "float32": "TF_FLOAT",
    "float64": "TF_DOUBLE",
    "int8": "TF_INT8",
    "int16": "TF_INT16",
    "int32": "TF_INT32",
    "int64": "TF_INT64",
    "uint8": "TF_UINT8",
    "uint16": "TF_UINT16",
    "uint32": "TF_UINT32",
    "uint64": "TF_UINT64",
}
# Those of the wheel itself, whose classes are used: Eigen aligns as AVX-512 wants it there.
_FLAGS = ("-std=c++17", "-O1", "-fPIC", "-w", "-D_GLIBCXX_USE_CXX11_ABI=1", "-DEIGEN_MAX_ALIGN_BYTES=64")


class CannotBuildError(Exception):
    """Why there is no emulator here, in one sentence."""


def why_not() -> str | None:
    """Why the emulator cannot be built here; None where it can."""
    if sys.platform != "linux":
        return "the emulated Metal device is built on Linux"
    if shutil.which("g++") is None:
        return "the emulated Metal device is built by g++, which is not here"
    if importlib.util.find_spec("tensorflow") is None:
        return "the emulated Metal device is a plug-in of TensorFlow, which is not installed"
    version = importlib.metadata.version("tensorflow")
    if version not in HIDDEN:
        return f"the emulated Metal device knows TensorFlow {' and '.join(HIDDEN)}; found {version}"
    return None


def library() -> Path:
    """The plug-in, built where it was not. Raises CannotBuildError."""
    reason = why_not()
    if reason is not None:
        raise CannotBuildError(reason)
    version = importlib.metadata.version("tensorflow")
    made_from = [*SOURCES, *sorted((HERE / "plugin").glob("*.h")), TABLE, KEPT, Path(__file__)]
    digest = hashlib.sha256(version.encode() + b"".join(path.read_bytes() for path in made_from))
    target = ROOT / "build" / "metal_emulator" / f"libmetal_emulator-{digest.hexdigest()[:12]}.so"
    if not target.exists():
        _build(target, version)
    return target


def registrations() -> list[str]:
    """Each kernel of tensorflow-metal as a line of C++: operation, types, arguments on the host."""
    table = json.loads(TABLE.read_text("utf-8"))
    return [
        line
        for operation, rows in table["kernels"].items()
        for row in rows
        if (row.get("min_macos") or 0) <= MACOS
        for line in _lines(operation, row)
    ]


def _lines(operation: str, row: dict) -> Iterator[str]:
    hosts = ", ".join(f'"{one}"' for one in row.get("host", ()))
    products = list(itertools.product(*row["types"].values()))
    # A row may count one registration twice, as the plug-in makes it (InTopK).
    for values in products * (row["registrations"] // len(products)):
        types = ", ".join(
            f'{{"{name}", {_TYPES[one]}}}' for name, one in zip(row["types"], values, strict=True)
        )
        yield f'{{"{operation}", {{{types}}}, {{{hosts}}}}},'


def _build(target: Path, version: str) -> None:
    found = importlib.util.find_spec("tensorflow")
    if found is None or found.origin is None:
        raise CannotBuildError("TensorFlow's folder was not found")
    tensorflow = Path(found.origin).parent
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as name:
        folder = Path(name)
        (folder / "registrations.inc").write_text("\n".join(registrations()), "utf-8")
        kept = KEPT.read_text("utf-8").splitlines()
        (folder / "kept_kernels.inc").write_text("\n".join(f'"{one}",' for one in kept), "utf-8")
        flags = (*_FLAGS, f"-DHIDDEN_KERNELS={HIDDEN[version]}", f"-I{tensorflow / 'include'}", f"-I{folder}")

        def compiled(source: Path) -> Path:
            made = folder / f"{source.stem}.o"
            _run("g++", *flags, "-c", str(source), "-o", str(made))
            return made

        with ThreadPoolExecutor(2) as workers:
            parts = [str(one) for one in workers.map(compiled, SOURCES)]
        linked = folder / "linked.so"
        where = (f"-L{tensorflow}", "-l:libtensorflow_framework.so.2", "-Wl,--no-undefined")
        _run("g++", "-shared", *parts, "-o", str(linked), *where)
        linked.replace(target)  # whole, or not there: several may build at once


def _run(*words: str) -> None:
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotBuildError(f"g++ refused the emulated Metal device: {done.stderr.strip()[-2000:]}")


if __name__ == "__main__":
    try:
        print(library())
    except CannotBuildError as error:
        sys.exit(f"{error}.")
