"""Buffers for CUPTI's activity records, handed out and taken back without running Python.

CUPTI requests an empty buffer and returns a full one on threads of its own, or in the middle of the user's
launch. A Python function there would wait for the GIL: launches that hold it would hang, and an interrupt
that arrives in it would be lost. So both callbacks are a few machine instructions that exchange words with a
control block and never wait (`callbacks_x86_64.s`, `callbacks_aarch64.s`; a test assembles them).

A returned buffer that is none of these belongs to another profiler, and is left alone.

The code lies in a memory file that is mapped for execution: no page is ever writable and executable.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import struct
from collections.abc import Iterator

#: Bytes of a buffer, some 4,800 records of kernels, and the number of buffers. Unused ones take no memory.
SIZE, COUNT = 1024**2, 64

#: The two callbacks by CPU architecture. Each contains the address of the control block as `_ADDRESS`.
_CODE = {
    "x86_64": bytes.fromhex(
        "49b8887766554433221131c931c0498784c8000100004885c07519ffc1413b481075e9f049ff401831c04889074889064889"
        "02c3498b4008488906480fafc149030048890731c0488902c349b988776655443322114889d0492b0131d249f77108493b41"
        "10730b49ffc04d8984c100090000c3"
    ),
    "aarch64": bytes.fromhex(
        "88030058090080d20a0104914b0d098b6cfd5fc87ffd0dc8cdffff35cc0100b5290500910e0940f93f010eeb01ffff540b61"
        "00916cfd5fc88c0500916cfd0dc8adffff351f0000f93f0000f95f0000f9c0035fd60c0540f92c0000f90d0140f98c35099b"
        "0c0000f95f0000f9c0035fd68877665544332211c8010058090140f94a0009cb0b0540f94a09cb9a0d0940f95f010deba200"
        "00548c04009108012491080d0a8b0cfd9fc8c0035fd61f2003d58877665544332211"
    ),
}
_COMPLETE = {"x86_64": 0x4B, "aarch64": 0x78}
_ADDRESS = struct.pack("<Q", 0x1122334455667788)

#: Words of the control block: the address of the buffers, the bytes of each, their number, and how often none
#: was free. Then two words for each buffer: 1 while it is free; and the bytes in it plus 1 once it is full.
_BASE, _BYTES, _NUMBER, _REFUSED, _FREE, _FULL = 0, 1, 2, 3, 0x100 // 8, 0x900 // 8
_CONTROL_BYTES = 0x2000


class ActivityBuffers:
    """The buffers of this process. They are never unmapped: CUPTI may hold one until the process ends.

    Raises OSError on other CPU architectures, or if the system does not allow such a mapping.
    """

    def __init__(self) -> None:
        processor = platform.machine()
        if processor not in _CODE:
            raise OSError(f"there is no code for the processor {processor}")
        self._control = mmap.mmap(-1, _CONTROL_BYTES)
        self._memory = mmap.mmap(-1, SIZE * COUNT)
        self._words = memoryview(self._control).cast("Q")
        self._base = _address(self._memory)
        self._words[_BASE], self._words[_BYTES], self._words[_NUMBER] = self._base, SIZE, COUNT
        for number in range(COUNT):
            self._words[_FREE + number] = 1
        code = _CODE[processor].replace(_ADDRESS, struct.pack("<Q", _address(self._control)))
        self.request = _executable(code)
        self.complete = self.request + _COMPLETE[processor]

    @property
    def refused(self) -> int:
        """Number of requests for which no buffer was free. CUPTI's records are lost then."""
        return self._words[_REFUSED]

    def full(self) -> Iterator[tuple[int, int]]:
        """Yield the address and the number of bytes of each full buffer, and free it afterwards."""
        for number in range(COUNT):
            filled = self._words[_FULL + number]
            if filled:
                yield self._base + number * SIZE, filled - 1
                self._words[_FULL + number] = 0
                self._words[_FREE + number] = 1


def _address(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _executable(code: bytes) -> int:
    """Return the address of a new mapping that holds this code. It stays until the process ends."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    ]
    file = os.memfd_create("jupyter_mlgpu-callbacks")
    try:
        os.write(file, code)
        address = libc.mmap(None, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC, mmap.MAP_SHARED, file, 0)
    finally:
        os.close(file)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "the system does not allow executable memory")
    return int(address)
