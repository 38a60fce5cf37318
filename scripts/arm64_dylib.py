"""Finds in which function of a macOS library for arm64 each constant string is used.

The library is read as data: nothing of it runs, so this works on Linux. Code takes the address of a string
with ADRP and ADD (or with ADR, which the linker makes of them where the string is near); the symbol table
names the function. Formats: Apple's mach-o/loader.h and mach-o/nlist.h, and the Arm Architecture Reference
Manual, C6.2.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy
from numpy.typing import NDArray

_MAGIC = 0xFEEDFACF  # MH_MAGIC_64: a library for one architecture
_SYMTAB, _SEGMENT = 0x2, 0x19
#: Instructions between an ADRP and its ADD that are searched.
_REACH = 12
#: A C string: printable, with a zero byte after it.
_STRING = re.compile(rb"[\t\n\x20-\x7e]+(?=\0)")
_NLIST = numpy.dtype([("name", "<u4"), ("type", "u1"), ("sect", "u1"), ("desc", "<u2"), ("value", "<u8")])
_IN_SECTION, _DEBUG = 0x0E, 0xE0


@dataclass(frozen=True)
class Section:
    """A section of the library: its address when loaded, and where its bytes are in the file."""

    address: int
    size: int
    offset: int


class Dylib:
    """A library whose strings, symbols and references are looked up."""

    def __init__(self, path: Path) -> None:
        self._bytes = numpy.memmap(path, dtype=numpy.uint8, mode="r")
        self._data = self._bytes.data
        self._sections: dict[str, Section] = {}
        magic, *_, commands, _, _, _ = struct.unpack_from("<8I", self._data)
        if magic != _MAGIC:
            raise ValueError(f"{path} is no 64-bit Mach-O library of one architecture")
        at = 32
        for _ in range(commands):
            command, size = struct.unpack_from("<2I", self._data, at)
            if command == _SEGMENT:
                self._read_sections(at)
            elif command == _SYMTAB:
                self._symtab = struct.unpack_from("<4I", self._data, at + 8)
            at += size
        self._read_symbols()
        self._read_references()

    def _read_sections(self, at: int) -> None:
        (count,) = struct.unpack_from("<I", self._data, at + 64)
        for start in range(at + 72, at + 72 + 80 * count, 80):
            name = bytes(self._data[start : start + 16]).rstrip(b"\0").decode()
            address, size, offset = struct.unpack_from("<2QI", self._data, start + 32)
            # __TEXT comes before __DATA_CONST, which has a __const, too.
            self._sections.setdefault(name, Section(address, size, offset))

    def _read_symbols(self) -> None:
        offset, count, self._names, _ = self._symtab
        table = numpy.frombuffer(self._data, _NLIST, count, offset)
        defined = table[((table["type"] & _IN_SECTION) == _IN_SECTION) & ((table["type"] & _DEBUG) == 0)]
        self._symbols = defined[numpy.argsort(defined["value"], kind="stable")]

    def _read_references(self) -> None:
        """Find every address that code computes, with the place of the instruction."""
        text = self._sections["__text"]
        code = numpy.frombuffer(self._data, "<u4", text.size // 4, text.offset)
        (at,) = numpy.nonzero((code & 0x1F000000) == 0x10000000)  # ADR and ADRP
        words = code[at].astype(numpy.int64)
        places = text.address + 4 * at.astype(numpy.int64)
        offsets = ((words >> 5) & 0x7FFFF) << 2 | (words >> 29) & 3
        offsets -= (offsets >> 20) << 21  # 21 bits with a sign
        paged = (words >> 31).astype(bool)
        found = [(places[~paged], (places + offsets)[~paged])]
        pages, registers, at = ((places >> 12) + offsets << 12)[paged], words[paged] & 31, at[paged]
        for step in range(1, _REACH):
            next_words = code[numpy.minimum(at + step, len(code) - 1)].astype(numpy.int64)
            adds = ((next_words & 0xFFC00000) == 0x91000000) & ((next_words >> 5 & 31) == registers)
            found.append((places[paged][adds], (pages + (next_words >> 10 & 0xFFF))[adds]))
        users, targets = (numpy.concatenate(parts) for parts in zip(*found, strict=True))
        # An ADD belongs to the nearest ADRP before it, which comes first here.
        _, first = numpy.unique(users, return_index=True)
        users, targets = users[first], targets[first]
        order = numpy.argsort(targets, kind="stable")
        self._users, self._targets = users[order], targets[order]

    def strings(self, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, str]]:
        """Return the address and the text of each constant string in which `pattern` is found."""
        section = self._sections["__cstring"]
        data = self._bytes[section.offset : section.offset + section.size].tobytes()
        for one in _STRING.finditer(data):
            if pattern.search(one[0]):
                yield section.address + one.start(), one[0].decode()

    def users(self, address: int) -> list[int]:
        """Return the places in the code that compute an address."""
        low, high = numpy.searchsorted(self._targets, [address, address + 1])
        return [int(place) for place in self._users[low:high]]

    def references(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return (place, address) of what the code from `start` to `end` refers to, in the code's order."""
        chosen = (self._users >= start) & (self._users < end)
        return sorted(zip(self._users[chosen].tolist(), self._targets[chosen].tolist(), strict=True))

    def function(self, place: int) -> tuple[str, int, int]:
        """Return the (mangled) name of the function at a place of the code, its start and its end."""
        values: NDArray[numpy.uint64] = self._symbols["value"]
        index = int(numpy.searchsorted(values, place, side="right")) - 1
        start = int(values[index])
        later = int(numpy.searchsorted(values, start, side="right"))
        end = int(values[later]) if later < len(values) else start
        name = self._names + int(self._symbols[index]["name"])
        return bytes(self._bytes[name : name + 4096]).partition(b"\0")[0].decode(), start, end

    def functions(self, pattern: re.Pattern[bytes]) -> Iterator[tuple[int, int]]:
        """Return the start and the end of each function in whose (mangled) name `pattern` is found."""
        _, _, names, size = self._symtab
        table = self._bytes[names : names + size].tobytes()
        text = self._sections["__text"]
        at = [table.rindex(b"\0", 0, found.start()) + 1 for found in pattern.finditer(table)]
        chosen = self._symbols[numpy.isin(self._symbols["name"], at)]
        for start in sorted(set(chosen["value"].tolist())):
            if text.address <= start < text.address + text.size:
                yield start, self.function(start)[2]

    def text(self, address: int) -> str | None:
        """Return the constant string at an address, None where there is none."""
        section = self._sections["__cstring"]
        if not section.address <= address < section.address + section.size:
            return None
        at = section.offset + address - section.address
        return bytes(self._bytes[at : at + 4096]).partition(b"\0")[0].decode(errors="replace")
