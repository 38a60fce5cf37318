"""Makes the tables of the kernels that TensorFlow, or the community's Metal plug-in, registers for a GPU.

    .venv/bin/python -m tests.support.kernel_table cuda
    .venv/bin/python -m tests.support.kernel_table metal SOURCE

The tables are package data of `jupyter_mlgpu.graphs.planning`; `compact` gives them their form, in which rows
that differ in one attribute alone become one row. No GPU is needed: registration happens when TensorFlow is
loaded.

Run `cuda` with the Linux wheel `tensorflow`, which is built with CUDA: a build for a Mac or for the CPU alone
registers no CUDA kernels, and the script refuses.

For `metal`, SOURCE is an unpacked source distribution of tensorflow-metal-plugin. Its `Register...` functions
and `RegisterAllMetalKernels` itself are cut out of the Objective-C++ as they stand, with a null pointer in
the place of every kernel's code, and run on this machine with stand-ins for TensorFlow's kernel API that
write down what they are given. It needs g++ and TensorFlow's headers, but no Mac.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[2] / "jupyter_mlgpu" / "graphs" / "planning" / "tables"

Row = dict[str, Any]

KERNELS = Path("src/tensorflow/core/common_runtime/metal/kernels")

# A registering function, from the first column to the brace that closes it there.
_FUNCTION = re.compile(r"^void Register\w*\([^;]*?\{\n.*?^\}$", re.M | re.S)
_CALL = re.compile(r"\bTF_(?:NewKernelBuilder|KernelBuilder_\w+|RegisterKernelBuilder)\b")
_CODE = re.compile(r"&\w+_(?:Create|Compute|Delete)\b(?:<[^<>]*>)?")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)

_BEFORE = r"""
#include <iostream>
#include <string>
#include <vector>
#include "tensorflow/c/kernels.h"

struct TSL_Status {};  // what TF_Status is another name of
struct TF_KernelBuilder {
  std::string operation, device, types, host;
  int priority = 0;
};
static std::string quoted(const char* text) { return "\"" + std::string(text) + "\""; }
static void add(std::string& list, const std::string& one) { list += (list.empty() ? "" : ",") + one; }

extern "C" {
TF_Status* TF_NewStatus() { return new TSL_Status; }
void TF_DeleteStatus(TF_Status* status) { delete status; }
TF_Code TF_GetCode(const TF_Status*) { return TF_OK; }
const char* TF_Message(const TF_Status*) { return ""; }
TF_KernelBuilder* TF_NewKernelBuilder(const char* operation, const char* device,
                                      void* (*)(TF_OpKernelConstruction*),
                                      void (*)(void*, TF_OpKernelContext*), void (*)(void*)) {
  return new TF_KernelBuilder{operation, device};
}
void TF_DeleteKernelBuilder(TF_KernelBuilder* builder) { delete builder; }
void TF_KernelBuilder_TypeConstraint(TF_KernelBuilder* builder, const char* attribute,
                                     const TF_DataType type, TF_Status*) {
  add(builder->types, "[" + quoted(attribute) + "," + std::to_string(type) + "]");
}
void TF_KernelBuilder_HostMemory(TF_KernelBuilder* builder, const char* argument) {
  add(builder->host, quoted(argument));
}
void TF_KernelBuilder_Priority(TF_KernelBuilder* builder, int32_t priority) { builder->priority = priority; }
void TF_RegisterKernelBuilder(const char* name, TF_KernelBuilder* builder, TF_Status*) {
  std::cout << "{\"kernel\":" << quoted(name) << ",\"op\":" << quoted(builder->operation.c_str())
            << ",\"device\":" << quoted(builder->device.c_str()) << ",\"types\":[" << builder->types
            << "],\"host\":[" << builder->host << "],\"priority\":" << builder->priority << "}\n";
}
}
#define LOG(level) std::cerr

static bool variables = false;
namespace tensorflow::metal {
inline constexpr char kMetalDeviceType[] = "GPU";
bool ResourceVariableApiAvailable() { return variables; }
"""
_AFTER = """
}
int main(int count, char**) {
  variables = count > 1;
  tensorflow::metal::RegisterAllMetalKernels();
}
"""


def compact(rows: Iterable[tuple[str, Row]]) -> dict[str, list[Row]]:
    """The rows by operation, those merged that differ in the values of one attribute alone.

    A row stands for every combination of its lists, so such a merge loses nothing. `registrations`
    counts what a row was made of.
    """
    table: dict[str, list[Row]] = {}
    for operation, row in rows:
        table.setdefault(operation, []).append(row)
    return {operation: _merged(table[operation]) for operation in sorted(table)}


def _merged(rows: list[Row]) -> list[Row]:
    attributes = sorted({name for row in rows for name in row["types"]})
    for attribute in attributes:
        groups: dict[str, Row] = {}
        for row in rows:
            rest = {name: values for name, values in row["types"].items() if name != attribute}
            key = json.dumps(
                [{**row, "types": rest, "registrations": 0}, attribute in row["types"]], sort_keys=True
            )
            if key not in groups:
                groups[key] = row
                continue
            kept = groups[key]
            values = sorted({*kept["types"].get(attribute, []), *row["types"].get(attribute, [])})
            groups[key] = {
                **kept,
                "types": {**rest, attribute: values} if values else rest,
                "registrations": kept["registrations"] + row["registrations"],
            }
        rows = list(groups.values())
    return rows


def registered() -> list[tuple[str, Row]]:
    """Every kernel for a GPU, or for any device, that this TensorFlow registers."""
    from tensorflow.python.framework import dtypes, kernels

    rows = []
    for kernel in kernels.get_all_registered_kernels().kernel:
        if kernel.device_type not in ("GPU", "DEFAULT"):
            continue
        types = {}
        for constraint in kernel.constraint:
            allowed = constraint.allowed_values.list
            values = [dtypes.as_dtype(one).name for one in allowed.type]
            values += [text.decode() for text in allowed.s]
            types[constraint.name] = sorted(values + [str(one) for one in [*allowed.i, *allowed.b]])
        row: Row = {"device": kernel.device_type, "types": types, "registrations": 1}
        if kernel.host_memory_arg:
            row["host"] = sorted(kernel.host_memory_arg)
        if kernel.priority:
            row["priority"] = kernel.priority
        if kernel.label:
            row["label"] = kernel.label
        rows.append((kernel.op, row))
    return rows


def write(path: Path, head: dict[str, str], rows: Iterable[tuple[str, Row]]) -> None:
    """The table as JSON, an operation a line, so that a change can be read."""
    lines = [
        f"{json.dumps(operation)}: {json.dumps(found, separators=(',', ':'))}"
        for operation, found in compact(rows).items()
    ]
    opening = json.dumps(head, indent=0).removesuffix("\n}")
    path.write_text(opening + ',\n"kernels": {\n' + ",\n".join(lines) + "\n}\n}\n")


def functions(text: str) -> str:
    """The registering functions of one file, with no kernel's code in them."""
    cut = "\n".join(_FUNCTION.findall(text))
    if len(_CALL.findall(cut)) != len(_CALL.findall(text)):
        raise SystemExit("Not every registration is in a function that could be cut out: change the pattern.")
    return _CODE.sub("nullptr", cut)


def program(source: Path) -> str:
    """One C++ program that registers all kernels, each file's helpers in a namespace of their own."""
    parts = [_BEFORE]
    last = ""
    for path in sorted((source / KERNELS).glob("*.mm")):
        cut = functions(_COMMENT.sub("", path.read_text(encoding="utf-8")))
        if path.stem == "metal_kernels":
            last = cut
            continue
        names = re.findall(r"^void (RegisterMetal\w+)\(\)", cut, re.M)
        shown = [f"using {path.stem}::{name};" for name in names]
        parts.append("\n".join([f"namespace {path.stem} {{", cut, "}", *shown]))
    return "\n".join([*parts, last, _AFTER])


def registered_by_plugin(source: Path, headers: Path, *, variables: bool = False) -> list[tuple[str, Row]]:
    """Every kernel that the plug-in registers; with `variables` as if TensorFlow exported the entry points
    for variables, which 2.20 and 2.21 do not (the plug-in's README)."""
    from tensorflow.python.framework import dtypes

    with tempfile.TemporaryDirectory() as folder:
        code, binary = Path(folder, "register.cc"), Path(folder, "register")
        code.write_text(program(source), encoding="utf-8")
        subprocess.run(["g++", "-std=c++17", "-w", "-I", headers, code, "-o", binary], check=True)
        command = [str(binary), *(["variables"] if variables else [])]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = []
    for line in said.splitlines():
        found = json.loads(line)
        row: Row = {
            "device": found["device"],
            "types": {name: [dtypes.as_dtype(number).name] for name, number in found["types"]},
            "registrations": 1,
        }
        if found["host"]:
            row["host"] = sorted(found["host"])
        if found["priority"]:
            row["priority"] = found["priority"]
        rows.append((found["op"], row))
    return rows


def make_cuda_table() -> None:
    """Write the table of TensorFlow's kernels for CUDA."""
    import tensorflow as tf

    if not tf.test.is_built_with_cuda():
        raise SystemExit("This TensorFlow was built without CUDA and registers no CUDA kernels: use Linux.")
    head = {
        "name": "tensorflow",
        "version": tf.__version__,
        "origin": "what the Linux wheel tensorflow, built with CUDA, registers for GPU and for DEFAULT",
    }
    write(TABLES / "cuda.json", head, registered())


def make_metal_table(source: Path) -> None:
    """Write the table of the plug-in's kernels."""
    tensorflow = importlib.util.find_spec("tensorflow")
    if tensorflow is None or tensorflow.origin is None:
        raise SystemExit("TensorFlow is not installed here; its C headers and type numbers are needed.")
    headers = Path(tensorflow.origin).parent / "include"
    version = re.search(r"^Version: (\S+)$", (source / "PKG-INFO").read_text(encoding="utf-8"), re.M)
    if version is None:
        raise SystemExit(f"{source / 'PKG-INFO'} names no version: give an unpacked source distribution.")
    rows = registered_by_plugin(source, headers)
    left_out = {name for name, _ in registered_by_plugin(source, headers, variables=True)} - {
        name for name, _ in rows
    }
    head = {
        "name": "tensorflow-metal-plugin",
        "version": version[1],
        "origin": "the registration functions of its source distribution, compiled on Linux without the "
        "kernels' code and run against stand-ins for TensorFlow's C kernel API that write down each call; "
        f"{len(left_out)} operations are left out that it registers only where TensorFlow exports entry "
        "points for variables, which the release it is for does not",
    }
    write(TABLES / "metal-community.json", head, rows)
    print("Left out:", ", ".join(sorted(left_out)))


def main(arguments: list[str]) -> None:
    """Make the table that is asked for."""
    match arguments:
        case ["cuda"]:
            make_cuda_table()
        case ["metal", source]:
            make_metal_table(Path(source))
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
