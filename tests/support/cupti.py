"""Public fakes of CUPTI and of CUDA's driver: records are written as the real library writes them."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from pathlib import Path

from jupyter_mlgpu.measure.gpu.cupti import COPY, KERNEL, PEER_COPY, SET
from jupyter_mlgpu.measure.gpu.driver import MARK

#: Recorded on an H200 with CUPTI 13.0: a training step and six copies each way (PyTorch 2.11), and JAX 0.11.
RECORDED = Path(__file__).parent.parent / "data" / "cupti"
#: Words of a record there, by kind.
SIZES = {KERNEL: 27, COPY: 12, SET: 11, PEER_COPY: 12}


def kernel(start: int, end: int, *, device: int = 0, name: int = 1, correlation: int = 1) -> bytes:
    """A kernel's record; `name` is the address of its name."""
    data = bytearray(8 * SIZES[KERNEL])
    struct.pack_into("<I", data, 0, KERNEL)
    struct.pack_into("<QQ", data, 16, start, end)
    struct.pack_into("<I", data, 40, device)
    struct.pack_into("<I", data, 92, correlation)
    struct.pack_into("<Q", data, 104, name)
    return bytes(data)


def copy(start: int, end: int, size: int, direction: int = 1, *, device: int = 0, kind: int = COPY) -> bytes:
    """A copy's record; `direction` is CUpti_ActivityMemcpyKind's."""
    data = bytearray(8 * SIZES[kind])
    struct.pack_into("<IBxxxQQQI", data, 0, kind, direction, size, start, end, device)
    return bytes(data)


def memory_set(start: int, end: int, *, value: int = 0, size: int = 4096, device: int = 0) -> bytes:
    """The record of a set."""
    data = bytearray(8 * SIZES[SET])
    struct.pack_into("<IIQQQI", data, 0, SET, value, size, start, end, device)
    return bytes(data)


#: Where a record's correlation id stands, by kind.
_CORRELATION = {KERNEL: 92, COPY: 44, SET: 44, PEER_COPY: 60}


class FakeCupti:
    """CUPTI with a clock of its own. `happen` gives it records; a flush puts them into buffers.

    Launches are numbered in their order. While the GPU is `at_work`, no buffer is returned.
    """

    def __init__(self) -> None:
        self.ticks = 1_000
        self.enabled: set[int] = set()
        self.lost = 0
        self.is_ours = True
        self.at_work = False
        self.launched = 100
        self._pending = b""
        self._full: list[bytes] = []

    def happen(self, *records: bytes) -> None:
        """These are recorded, if somebody has asked for records."""
        for record in records:
            self.launched += 1
            stamped = bytearray(record)
            struct.pack_into("<I", stamped, _CORRELATION[stamped[0]], self.launched & 0xFFFFFFFF)
            if self.enabled and self.is_ours:
                self._pending += stamped

    def fill(self) -> None:
        """The buffer is full, and is given back without a flush."""
        if self._pending:
            self._full.append(self._pending)
            self._pending = b""

    def fill_with(self, words, shifted_by: int) -> None:
        """A buffer that was recorded, given as 64-bit words, comes again so many ticks later."""
        words, at = words.copy(), 0
        while at < len(words):
            kind = int(words[at]) & 0xFFFFFFFF
            words[at + 2 : at + 4] += shifted_by
            self.launched += 1
            struct.pack_into("<I", words, 8 * at + _CORRELATION[kind], self.launched)
            at += SIZES[kind]
        self._full.append(words.tobytes())

    def hand_over(self, buffers: object) -> None:
        self.is_ours = True

    def enable(self, kind: int) -> None:
        self.enabled.add(kind)

    def disable(self, kind: int) -> None:
        self.enabled.discard(kind)

    def flush(self, *, forced: bool = False) -> None:
        if forced or not self.at_work:
            self.fill()

    def clock(self) -> tuple[int, int]:
        self.ticks += 1
        return self.ticks, self.ticks

    def dropped(self) -> int:
        lost, self.lost = self.lost, 0
        return lost

    def records(self, buffer: int, size: int) -> Iterator[int]:
        at = buffer
        while at < buffer + size:
            yield at
            at += 8 * SIZES[ctypes.c_uint32.from_address(at).value]

    def full(self) -> Iterator[tuple[int, int]]:
        """What `ActivityBuffers.full` gives."""
        full, self._full = self._full, []
        for data in full:
            held = ctypes.create_string_buffer(data, len(data))
            yield ctypes.addressof(held), len(data)


class FakeDriver:
    """CUDA's driver, with these GPUs in use."""

    def __init__(self, cupti: FakeCupti, *devices: int) -> None:
        self.cupti = cupti
        self.devices = list(devices)
        self.waited: list[int] = []

    def active(self) -> list[int]:
        return self.devices

    def synchronize(self, device: int) -> None:
        self.waited.append(device)

    def mark(self, device: int, number: int) -> None:
        ticks = self.cupti.ticks
        self.cupti.happen(memory_set(ticks, ticks + 1, value=MARK << 16 | number, size=4, device=device))


class FakeProfilers:
    """The frameworks' profilers: `begin` is one of the user's that begins."""

    def __init__(self) -> None:
        self.on = False
        self.told = None

    def is_on(self) -> bool:
        return self.on

    def before(self, tell) -> None:
        self.told = tell

    def leave(self) -> None:
        self.told = None

    def begin(self) -> None:
        if self.told is not None:
            self.told()
        self.on = True
