"""Names of kernels as people write them: C++'s own names are mangled."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def name_at(address: int) -> str:
    """The name at an address that CUPTI's record of a kernel gave; the library keeps it."""
    return demangled(ctypes.string_at(address)) if address else "?"


def demangled(name: bytes) -> str:
    """A name as C++ writes it; as it is where it is none of C++'s, or where nothing here can tell."""
    if name.startswith(b"_Z") and (demangle := _demangle()) is not None:
        status = ctypes.c_int()
        found = demangle(name, None, None, ctypes.byref(status))
        if status.value == 0 and found:
            text = ctypes.string_at(found)
            ctypes.CDLL(None).free(ctypes.c_void_p(found))
            return text.decode(errors="replace")
    return name.decode(errors="replace")


@cache
def _demangle() -> Any:
    for library in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            function = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        return function
    return None
