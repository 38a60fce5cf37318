"""Read which of PyTorch's operations run on a Mac's GPU from its wheels, and write the forecast's table.

    python scripts/mps_tables.py 2.15.0            # adds one version to the table, or replaces it
    python scripts/mps_tables.py 2.8.0 2.9.1 ...   # several, one after another

For each version the wheel for Apple silicon is downloaded with pip, read as data, and deleted: nothing of it
is imported or run, so this works on Linux. It reads

* torchgen/packaged/ATen/native/native_functions.yaml: every operation of ATen and the devices that it is
  registered for, its own (`dispatch`), its delegate's (`structured_delegate`) and the generated ones
  (`autogen`);
* torch/lib/libtorch_cpu.dylib: the names that the library registers for MPS, which must be those of the yaml,
  the names that aten/src/ATen/mps/MPSFallback.mm registers to run on the CPU, and the error texts of MPS's
  code, each with the function that it stands in;
* torch/version.py: the commit that the wheel was built from.

Everything goes into jupyter_mlgpu/graphs/mps/operations.json, as ranges of versions: `2.9-2.13` holds from
2.9 to 2.13, and `2.14-` up to the newest version in the table. Versions are minor ones: give the last patch
release. What people found out about operations stands in wrong.py, limits.py and composites.py beside it.

The download is 65 to 140 MB a version; reading it takes ten seconds and 1 GB of memory. Where pip's
configuration holds torch back, the variable PIP_CONSTRAINT names another list.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import textwrap
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import yaml
from arm64_dylib import Dylib

TABLE = Path(__file__).resolve().parent.parent / "jupyter_mlgpu" / "graphs" / "mps" / "operations.json"
#: Raised when the table would differ for the same wheels.
SCRIPT_VERSION = 1
_YAML = "torchgen/packaged/ATen/native/native_functions.yaml"
_LIBRARY = "torch/lib/libtorch_cpu.dylib"
_COMPOSITES = {
    "CompositeExplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeImplicitAutograd",
}
#: TORCH_LIBRARY_IMPL(aten, MPS, m): the functions that register kernels when the library is loaded.
_REGISTERS = re.compile(rb"TORCH_LIBRARY_IMPL_init_aten_MPS_\d+")
#: The list of MPSFallback.mm has this name, whose function raises: it is called for no tensor on the GPU.
_RAISES = "_slow_conv2d_forward"
_OPERATION = re.compile(r"[a-z_]\w*(\.\w+)?")
#: Texts about what MPS does not do. Others are about tensors on another device, or for PyTorch's developers.
_REFUSAL = re.compile(
    rb"not (natively |currently )?(supported|implemented|allow)|[Ss]upport|only|requires|[Mm]acOS|doesn't"
    rb"|limit|issue #|larger than|too large|not possible|at most|<= ",
)
_UNINTERESTING = re.compile(
    r"INTERNAL ASSERT|Expected |expected '|must be an? MPS|same device|uninitialized|functional tensor"
    r"|itemsize|_ops::|[Pp]rofil|WATERMARK|allocat|layout|hooks|event"
)
_MPS = re.compile(r"mps|MPS")
#: A name in a mangled one, after its length. L marks a name of one file.
_NAME = re.compile(r"L?(\d+)")
_PLATFORMS = [f"macosx_{version}_0_arm64" for version in range(11, 16)]


@dataclass
class Wheel:
    """The contents of one wheel: its origin, the kind of each operation, and the texts of refusals."""

    version: str
    name: str
    sha256: str
    commit: str
    kinds: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)

    @property
    def minor(self) -> str:
        return ".".join(self.version.split(".")[:2])


def read_wheel(path: Path) -> Wheel:
    """Return what the table holds of a wheel. Raises ValueError if its two lists of registrations differ."""
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    with zipfile.ZipFile(path) as wheel, tempfile.TemporaryDirectory() as folder:
        version = wheel.read("torch/version.py").decode()
        functions = wheel.read(_YAML).decode()
        library = Dylib(Path(wheel.extract(_LIBRARY, folder)))
        found = Wheel(path.name.split("-")[1], path.name, sha256, _one(r"(?m)^git_version.*'(\w+)'", version))
        registered, fallbacks = registrations(library)
        found.kinds = kinds(functions, fallbacks)
        in_yaml = {name for name, kind in found.kinds.items() if kind == "gpu"}
        if in_yaml | fallbacks != registered | fallbacks:
            raise ValueError(f"{path.name}: not in both lists: {sorted(in_yaml ^ registered)}")
        found.refusals = refusals(library)
    return found


def _one(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    if found is None:
        raise ValueError(f"{pattern} is not in {text!r}")
    return found[1]


def kinds(functions: str, fallbacks: set[str]) -> dict[str, str]:
    """Return each operation's kind by the yaml's text: gpu, composite, fallback or missing."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    entries: dict[str, tuple[set[str], str | None]] = {}
    made: set[str] = set()
    for one in yaml.load(functions, loader):
        keys = {key.strip() for keys in one.get("dispatch") or _COMPOSITES for key in keys.split(",")}
        entries[one["func"].partition("(")[0]] = keys, one.get("structured_delegate")
        made.update(name.strip() for name in (one.get("autogen") or "").split(",") if name.strip())
    found = dict.fromkeys(made, "composite")
    for name, (keys, delegate) in entries.items():
        if delegate is not None:
            keys = keys - _COMPOSITES | entries[delegate][0]
        found[name] = "gpu" if "MPS" in keys else "composite" if keys & _COMPOSITES else "missing"
    return found | dict.fromkeys(fallbacks, "fallback")


def registrations(library: Dylib) -> tuple[set[str], set[str]]:
    """Return the operations that a library registers for MPS, and those of them that run on the CPU."""
    registered: set[str] = set()
    fallbacks: set[str] = set()
    for start, end in library.functions(_REGISTERS):
        texts = [library.text(target) for _, target in library.references(start, end)]
        names = {text for text in texts if text and _OPERATION.fullmatch(text)} - {"aten"}
        if _RAISES in names:
            fallbacks |= names - {_RAISES}
        else:
            registered |= names
    return registered, fallbacks


def refusals(library: Dylib) -> dict[str, str]:
    """Return the texts of what MPS's code refuses, each with the function that has it, empty if not known."""
    found = {}
    for address, text in library.strings(_REFUSAL):
        functions = {readable(library.function(place)[0]) for place in library.users(address)}
        of_mps = sorted({name for name in functions if _MPS.search(name)})
        if (
            (of_mps or "MPS" in text or "macOS" in text)
            and " " in text.strip()
            and not _UNINTERESTING.search(text)
        ):
            found[text.strip()] = of_mps[0] if of_mps else ""
    return found


def readable(mangled: str) -> str:
    """Return a mangled C++ name without its namespaces and arguments: `structured_mm_out_mps::impl`."""
    names, at = [], mangled.find("N2at") + 1
    while at and (found := _NAME.match(mangled, at)):
        at = found.end() + int(found[1])
        names.append(mangled[found.end() : at])
    return "::".join(name for name in names if name not in ("at", "native", "mps", "_GLOBAL__N_1"))


def spans(held: set[str], versions: list[str]) -> Iterator[str]:
    """Return the ranges of consecutive versions that hold: `2.9-2.13`, and `2.14-` up to the newest."""
    run: list[str] = []
    for version in [*versions, None]:
        if version in held:
            run.append(str(version))
        elif run:
            yield f"{run[0]}-" if run[-1] == versions[-1] else f"{run[0]}-{run[-1]}"
            run = []


def unspanned(span: str, versions: list[str]) -> list[str]:
    """Return the versions in a range."""
    first, last = span.split("-")
    return versions[versions.index(first) : versions.index(last or versions[-1]) + 1]


def from_table(data: Mapping[str, Any]) -> dict[str, Wheel]:
    """Return the wheels that a table was made of, by their minor versions."""
    wheels = {minor: Wheel(**build) for minor, build in data["builds"].items()}
    for kind, ranges in data["operations"].items():
        for span, names in ranges.items():
            for minor in unspanned(span, list(wheels)):
                wheels[minor].kinds.update(dict.fromkeys(names, kind))
    for span, texts in data["refusals"].items():
        for minor in unspanned(span, list(wheels)):
            wheels[minor].refusals.update(texts)
    return wheels


def to_table(wheels: Mapping[str, Wheel]) -> dict[str, Any]:
    """Return the table of several wheels."""
    minors = sorted(wheels, key=lambda minor: [int(part) for part in minor.split(".")])
    held: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    texts: dict[tuple[str, str], set[str]] = defaultdict(set)
    for minor in minors:
        for name, kind in wheels[minor].kinds.items():
            held[kind][name].add(minor)
        for text, function in wheels[minor].refusals.items():
            texts[text, function].add(minor)
    operations: dict[str, dict[str, list[str]]] = {}
    for kind in sorted(held):
        ranges = defaultdict(list)
        for name in sorted(held[kind]):
            for span in spans(held[kind][name], minors):
                ranges[span].append(name)
        operations[kind] = {span: ranges[span] for span in sorted(ranges, key=_order)}
    refused: dict[str, dict[str, str]] = defaultdict(dict)
    for (text, function), versions in sorted(texts.items()):
        for span in spans(versions, minors):
            refused[span][text] = function
    builds = {minor: asdict(wheels[minor]) for minor in minors}
    for build in builds.values():
        del build["kinds"], build["refusals"]
    refusals_in_order = {span: refused[span] for span in sorted(refused, key=_order)}
    return {
        "script": SCRIPT_VERSION,
        "builds": builds,
        "operations": operations,
        "refusals": refusals_in_order,
    }


def _order(span: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", span)]


def packed(data: Mapping[str, Any]) -> str:
    """Return the table as JSON, with many names on one line."""
    text = json.dumps(data, indent=0, ensure_ascii=False)

    def on_fewer_lines(found: re.Match[str]) -> str:
        return "[\n" + textwrap.fill(found[1].replace("\n", " "), 110, break_on_hyphens=False) + "\n]"

    return re.sub(r"\[\n([^\]]+)\n\]", on_fewer_lines, text) + "\n"


def download(version: str, folder: Path) -> Path:
    """Download the wheel of a version for Apple silicon, without what it needs."""
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    where = [*platforms, "--python-version", "3.11", "--dest", str(folder), f"torch=={version}"]
    subprocess.run([*command, *where], check=True)
    (wheel,) = folder.glob(f"torch-{version}-*.whl")
    return wheel


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("versions", nargs="+", help="versions of PyTorch, such as 2.15.0")
    parser.add_argument(
        "--table", type=Path, default=TABLE, help="the file to change (default: the package's)"
    )
    options = parser.parse_args()
    wheels = from_table(json.loads(options.table.read_text("utf-8"))) if options.table.exists() else {}
    for version in options.versions:
        with tempfile.TemporaryDirectory() as folder:
            wheel = read_wheel(download(version, Path(folder)))
        wheels[wheel.minor] = wheel
        on_gpu = sum(kind == "gpu" for kind in wheel.kinds.values())
        print(f"{wheel.name}: {len(wheel.kinds)} operations, {on_gpu} registered for MPS", flush=True)
    options.table.write_text(packed(to_table(wheels)), "utf-8")


if __name__ == "__main__":
    main()
