"""Reads CUPTI's activity records: turns a buffer of them into columns of numbers.

A record's size depends on its kind and on CUPTI's version, so it is learned from CUPTI once. After that NumPy
reads a buffer wherever many records of one kind follow each other: 20,000 launches take 3 ms instead of 19.

Offsets: CUpti_ActivityKernel4 and later, CUpti_ActivityMemcpy, CUpti_ActivityMemset and
CUpti_ActivityMemcpyPtoP in cupti_activity.h. Later versions only add fields at the end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jupyter_mlgpu.measure.gpu.cupti import COPY, KERNEL, PEER_COPY, SET
from jupyter_mlgpu.measure.gpu.driver import MARK

#: Offsets in bytes. `start` and `end` are 64-bit words, the device and the correlation id 32-bit words.
_START, _END = 16, 24
_DEVICE = {KERNEL: 40, COPY: 32, SET: 32, PEER_COPY: 32}
_CORRELATION = {KERNEL: 92, COPY: 44, SET: 44, PEER_COPY: 60}
_KERNEL_NAME, _BYTES, _COPY_KIND, _SET_VALUE = 104, 8, 4, 4
#: If the record this many places later is of the same kind, those between most likely are, too. NumPy then
#: reads up to so many at once. Graphs and training steps mix kinds and are faster to read one by one.
_RUN, _LONGEST = 16, 4096


@dataclass(frozen=True, eq=False, slots=True)
class ActivityColumns:
    """Records of one kind as columns of equal length.

    `start` and `end` are ticks of CUPTI's clock. `name` holds the addresses of kernels' names, `size` the
    bytes of copies and sets, `detail` a copy's direction (CUpti_ActivityMemcpyKind) or a set's value. A
    column that does not apply to the kind is empty.
    """

    kind: int
    start: Any
    end: Any
    device: Any
    correlation: Any
    name: Any
    size: Any
    detail: Any

    def __len__(self) -> int:
        return len(self.start)

    def where(self, mask: Any) -> ActivityColumns:
        """Return the records for which a column of booleans is true."""
        columns = (self.start, self.end, self.device, self.correlation, self.name, self.size, self.detail)
        return ActivityColumns(self.kind, *(column[mask] if len(column) else column for column in columns))

    def marks(self) -> Any:
        """Return a column that is true for the marks of `driver.Driver.mark`."""
        if self.kind != SET:
            return np.zeros(len(self), bool)
        return (self.detail >> 16 == MARK) & (self.size == 4)

    def mark_numbers(self) -> Any:
        """Return the numbers of marks; all records must be marks."""
        return self.detail & 0xFFFF


class UnknownKindError(Exception):
    """A buffer holds a record of a kind whose size is not known."""


def read(words: Any, sizes: Mapping[int, int]) -> list[ActivityColumns]:
    """Return the records of a buffer, given as 64-bit words; `sizes` has a record's size in words by kind.

    Raises UnknownKindError for a kind that is not in `sizes`.
    """
    runs: dict[int, list[Any]] = {}
    single: dict[int, list[int]] = {}
    kinds = words & 0xFFFFFFFF
    at, end, kind_list = 0, len(words), None
    while at < end:
        kind = int(kinds[at]) if kind_list is None else kind_list[at]
        if kind not in sizes:
            raise UnknownKindError(kind)
        size = sizes[kind]
        if at + _RUN * size < end and kinds[at + _RUN * size] == kind:
            same = kinds[at : at + _LONGEST * size : size] == kind
            length = len(same) if same.all() else int(same.argmin())
            runs.setdefault(kind, []).append(np.arange(at, at + length * size, size))
        else:
            kind_list = kinds.tolist() if kind_list is None else kind_list
            length = 1
            single.setdefault(kind, []).append(at)
        at += length * size
    for kind, places in single.items():
        runs.setdefault(kind, []).append(np.array(places))
    return [_columns(words, kind, np.concatenate(parts)) for kind, parts in runs.items() if kind in _DEVICE]


def words_at(address: int, size: int) -> Any:
    """Return a copy of the bytes at an address, as 64-bit words."""
    source = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint64))
    return np.ctypeslib.as_array(source, (size // 8,)).copy()


def sizes_of(words: Any, places: Sequence[int]) -> dict[int, int]:
    """Return sizes in words by kind, from the positions in words at which a buffer's records begin."""
    ends: Iterable[int] = [*places[1:], len(words)]
    return {int(words[at]) & 0xFFFFFFFF: end - at for at, end in zip(places, ends, strict=True)}


def _columns(words: Any, kind: int, places: Any) -> ActivityColumns:
    def long(offset: int) -> Any:
        return words[places + offset // 8]

    def short(offset: int) -> Any:
        return (words[places + offset // 8] >> (offset % 8 * 8)) & 0xFFFFFFFF

    none, is_kernel = words[:0], kind == KERNEL
    detail = none if is_kernel else short(_SET_VALUE) if kind == SET else short(_COPY_KIND) & 0xFF
    return ActivityColumns(
        kind,
        long(_START),
        long(_END),
        short(_DEVICE[kind]),
        short(_CORRELATION[kind]),
        long(_KERNEL_NAME) if is_kernel else none,
        none if is_kernel else long(_BYTES),
        detail,
    )
