"""Names of kernels as written in source code: C++ mangles them."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any


def name_at(address: int) -> str:
    """Return the name at an address in CUPTI's record of a kernel. The library keeps it in memory."""
    return demangle(ctypes.string_at(address)) if address else "?"


def demangle(name: bytes) -> str:
    """Return a C++ name demangled; other names, or all without a C++ library, come back unchanged."""
    if name.startswith(b"_Z") and (function := _cxa_demangle()) is not None:
        status = ctypes.c_int()
        address = function(name, None, None, ctypes.byref(status))
        if status.value == 0 and address:
            text = ctypes.string_at(address)
            ctypes.CDLL(None).free(ctypes.c_void_p(address))
            return text.decode(errors="replace")
    return name.decode(errors="replace")


@cache
def _cxa_demangle() -> Any:
    for library in ("libstdc++.so.6", "libc++abi.so.1"):
        try:
            function = ctypes.CDLL(library).__cxa_demangle
        except (OSError, AttributeError):
            continue
        function.restype = ctypes.c_void_p
        return function
    return None
