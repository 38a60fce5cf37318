"""Make the table of the kernels that the community's Metal plug-in registers, from its source.

    .venv/bin/python scripts/community_kernel_table.py SOURCE [PATH]

SOURCE is an unpacked source distribution of tensorflow-metal-plugin. Its `Register...` functions and
`RegisterAllMetalKernels` itself are cut out of the Objective-C++ as they stand, with a null pointer in the
place of every kernel's code, and run on this machine with stand-ins for TensorFlow's kernel API that write
down what they are given. Needs g++ and TensorFlow's headers; no Mac, no Metal, no GPU.
"""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from kernel_table import TABLES, Row, write

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


def registered(source: Path, headers: Path, *, variables: bool = False) -> list[tuple[str, Row]]:
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


def main() -> None:
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    source = Path(sys.argv[1])
    path = Path(sys.argv[2]) if len(sys.argv) > 2 else TABLES / "metal-community.json"
    tensorflow = importlib.util.find_spec("tensorflow")
    if tensorflow is None or tensorflow.origin is None:
        raise SystemExit("TensorFlow is not installed here; its C headers and type numbers are needed.")
    headers = Path(tensorflow.origin).parent / "include"
    version = re.search(r"^Version: (\S+)$", (source / "PKG-INFO").read_text(encoding="utf-8"), re.M)
    if version is None:
        raise SystemExit(f"{source / 'PKG-INFO'} names no version: give an unpacked source distribution.")
    rows = registered(source, headers)
    left_out = {name for name, _ in registered(source, headers, variables=True)} - {name for name, _ in rows}
    head = {
        "name": "tensorflow-metal-plugin",
        "version": version[1],
        "origin": "the registration functions of its source distribution, compiled on Linux without the "
        "kernels' code and run against stand-ins for TensorFlow's C kernel API that write down each call; "
        f"{len(left_out)} operations are left out that it registers only where TensorFlow exports entry "
        "points for variables, which the release it is for does not",
    }
    write(path, head, rows)
    print(f"{path} written: {len(rows)} kernels of {len({name for name, _ in rows})} operations.")
    print("Left out:", ", ".join(sorted(left_out)))


if __name__ == "__main__":
    main()
