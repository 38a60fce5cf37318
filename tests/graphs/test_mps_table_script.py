"""The script that reads MPS's operations from wheels: their kinds, ranges of versions, a library's code."""

import json
import re
import struct

import mps_tables
import pytest
from arm64_dylib import Dylib
from mps_tables import TABLE, Wheel

pytestmark = pytest.mark.needs("yaml")
YAML = """
- func: on_the_gpu(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: on_the_gpu
    MPS: on_the_gpu_mps
- func: on_cpu_only(Tensor self) -> Tensor
  dispatch:
    CPU: on_cpu_only
  autogen: on_cpu_only.out
- func: delegating_(Tensor(a!) self) -> Tensor(a!)
  structured_delegate: on_the_gpu.out
- func: on_the_gpu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  dispatch:
    CPU, CUDA, MPS: on_the_gpu_out
- func: delegating_missing(Tensor self) -> Tensor
  structured_delegate: missing.out
- func: missing.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU, CUDA: missing_out
- func: implicit(Tensor self) -> Tensor
- func: sent_to_the_cpu(Tensor self) -> Tensor
"""


def test_an_operation_is_what_its_own_keys_or_its_delegates_say():
    assert mps_tables.kinds(YAML, {"sent_to_the_cpu"}) == {
        "on_the_gpu": "gpu",
        "on_the_gpu.out": "gpu",
        "delegating_": "gpu",
        "on_cpu_only": "missing",
        "on_cpu_only.out": "composite",
        "delegating_missing": "missing",
        "missing.out": "missing",
        "implicit": "composite",
        "sent_to_the_cpu": "fallback",
    }


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        ({"2.8", "2.9", "2.10"}, ["2.8-"]),
        ({"2.8"}, ["2.8-2.8"]),
        ({"2.8", "2.10"}, ["2.8-2.8", "2.10-"]),
        (set(), []),
    ],
)
def test_versions_in_a_row_are_one_range(held, expected):
    versions = ["2.8", "2.9", "2.10"]
    spans = list(mps_tables.spans(held, versions))
    assert spans == expected
    assert {version for span in spans for version in mps_tables.unspanned(span, versions)} == held


def test_the_table_in_the_package_comes_back_from_the_wheels_that_it_holds():
    text = TABLE.read_text("utf-8")
    assert mps_tables.packed(mps_tables.to_table(mps_tables.from_table(json.loads(text)))) == text


def test_a_version_is_added_behind_the_others():
    wheels = mps_tables.from_table(json.loads(TABLE.read_text("utf-8")))
    wheels["2.16"] = Wheel("2.16.0", "torch-2.16.0-x.whl", "0", "1", wheels["2.15"].kinds | {"mode": "gpu"})
    table = mps_tables.to_table(wheels)
    assert list(table["builds"])[-1] == "2.16"
    assert "mode" in table["operations"]["gpu"]["2.16-"]
    assert "mode" in table["operations"]["missing"]["2.8-2.15"]
    assert "add.Tensor" in table["operations"]["gpu"]["2.8-"]


@pytest.mark.parametrize(
    ("mangled", "name"),
    [
        ("__ZN2at6native8mode_mpsERKNS_6TensorExb", "mode_mps"),
        ("__ZN2at6native21structured_mm_out_mps4implERKNS_6TensorES4_S4_", "structured_mm_out_mps::impl"),
        ("__ZN2at6native3mpsL14svd_kernel_mpsERKNS_6TensorE", "svd_kernel_mps"),
        ("_main", ""),
    ],
)
def test_a_mangled_name_becomes_the_functions_last_names(mangled, name):
    assert mps_tables.readable(mangled) == name


def adrp_add(place, target, register):
    """Two instructions that put the address `target` into a register, for code at `place`."""
    pages = (target >> 12) - (place >> 12)
    adrp = 0x90000000 | (pages & 3) << 29 | (pages >> 2 & 0x7FFFF) << 5 | register
    return struct.pack("<2I", adrp, 0x91000000 | (target & 0xFFF) << 10 | register << 5 | register)


def adr(place, target, register):
    distance = target - place
    return struct.pack("<I", 0x10000000 | (distance & 3) << 29 | (distance >> 2 & 0x7FFFF) << 5 | register)


@pytest.fixture
def library(tmp_path):
    """A library with two functions: one registers two names and one raises an error, with a text for it."""
    text, strings = 0x4000, 0x9000
    texts = [b"embedding_renorm_", b"_slow_conv2d_forward", b"sort is not supported on MPS", b"Expected sort"]
    at, addresses = strings, []
    for one in texts:
        addresses.append(at)
        at += len(one) + 1
    nop = struct.pack("<I", 0xD503201F)
    first = adrp_add(text, addresses[0], 0) + adrp_add(text + 8, addresses[1], 1)
    second = adr(text + 16, addresses[2], 2) + nop + adrp_add(text + 24, addresses[3], 3)
    code = first + second
    names = b"\0__ZN2at12_GLOBAL__N_134TORCH_LIBRARY_IMPL_init_aten_MPS_2ERN5torch7LibraryE\0"
    second_name = len(names)
    names += b"__ZN2at6native8sort_mpsERKNS_6TensorE\0"
    header = 32 + 72 + 2 * 80 + 24
    offset_strings = header + len(code)
    data = b"\0".join(texts) + b"\0"
    offset_symbols = offset_strings + len(data)
    symbols = struct.pack("<IBBHQ", 1, 0x0E, 1, 0, text) + struct.pack(
        "<IBBHQ", second_name, 0x0E, 1, 0, text + 16
    )
    symbols += struct.pack("<IBBHQ", 0, 0x0E, 1, 0, text + len(code))

    def section(name, address, size, offset):
        return struct.pack("<16s16s2QI28x", name, b"__TEXT", address, size, offset)

    segment = struct.pack("<2I16s4Q4I", 0x19, 72 + 2 * 80, b"__TEXT", 0, 0, 0, 0, 7, 5, 2, 0)
    content = struct.pack("<8I", 0xFEEDFACF, 0x100000C, 0, 6, 2, 72 + 2 * 80 + 24, 0, 0) + segment
    content += section(b"__text", text, len(code), header) + section(
        b"__cstring", strings, len(data), offset_strings
    )
    content += struct.pack("<6I", 2, 24, offset_symbols, 3, offset_symbols + len(symbols), len(names))
    path = tmp_path / "library.dylib"
    path.write_bytes(content + code + data + symbols + names)
    return Dylib(path)


def test_what_the_fallback_function_registers_is_told_from_the_operation_that_raises(library):
    assert mps_tables.registrations(library) == (set(), {"embedding_renorm_"})


def test_an_error_text_is_found_with_its_function_however_its_address_is_made(library):
    assert mps_tables.refusals(library) == {"sort is not supported on MPS": "sort_mps"}
    ((address, text),) = library.strings(re.compile(rb"^Expected"))
    assert text == "Expected sort"
    assert [mps_tables.readable(library.function(place)[0]) for place in library.users(address)] == [
        "sort_mps"
    ]


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "library.so"
    path.write_bytes(b"\x7fELF" + bytes(100))
    with pytest.raises(ValueError, match="no 64-bit Mach-O library"):
        Dylib(path)
