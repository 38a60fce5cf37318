"""macOS's registry of devices and drivers (IORegistry), read through ctypes without administrator rights.

Written from Apple's public headers (IOKit/IOKitLib.h, CFPropertyList.h). Properties come as property lists,
which Python reads. Not yet run on a Mac. `jupyter_mlgpu.testing.FakeRegistry` is a fake.
"""

from __future__ import annotations

import ctypes
import plistlib
from collections.abc import Callable
from typing import Any, Protocol

_IOKIT = "/System/Library/Frameworks/IOKit.framework/IOKit"
_FOUNDATION = "/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation"
#: kIOServicePlane and kIORegistryIterateRecursively of IOKitLib.h.
_PLANE, _RECURSIVELY = b"IOService", 1
#: kCFStringEncodingUTF8, and kCFPropertyListBinaryFormat_v1_0.
_UTF8, _BINARY = 0x08000100, 200
#: An iterator becomes invalid when an entry is added or removed, which other programs do all the time.
_TRIES = 5


class Registry(Protocol):
    """The functions used of the registry. An entry is a number to be released. All may raise OSError."""

    def services(self, name: str) -> list[int]:
        """Return the services of a driver class or of classes derived from it."""
        ...

    def below(self, entry: int) -> list[int]:
        """Return all entries below one, at any depth."""
        ...

    def entry_id(self, entry: int) -> int:
        """Return a number that is unique since the machine was started."""
        ...

    def read(self, entry: int, name: str) -> Any:
        """Return a property as a Python object, None if the entry has none or no longer exists."""
        ...

    def release(self, entry: int) -> None:
        """Release an entry."""


class IoRegistry:
    """The registry of this Mac. Raises OSError elsewhere."""

    def __init__(self, load: Callable[[str], Any] = ctypes.CDLL) -> None:
        runtime, foundation = load(_IOKIT), load(_FOUNDATION)
        number, pointer, text = ctypes.c_uint32, ctypes.c_void_p, ctypes.c_char_p
        self._IOServiceMatching = _function(runtime.IOServiceMatching, pointer, text)
        self._IOServiceGetMatchingServices = _function(
            runtime.IOServiceGetMatchingServices, ctypes.c_int, number, pointer, pointer
        )
        self._IOIteratorNext = _function(runtime.IOIteratorNext, number, number)
        self._IOIteratorIsValid = _function(runtime.IOIteratorIsValid, ctypes.c_int, number)
        self._IOIteratorReset = _function(runtime.IOIteratorReset, None, number)
        self._IORegistryEntryCreateIterator = _function(
            runtime.IORegistryEntryCreateIterator, ctypes.c_int, number, text, number, pointer
        )
        self._IORegistryEntryGetRegistryEntryID = _function(
            runtime.IORegistryEntryGetRegistryEntryID, ctypes.c_int, number, pointer
        )
        self._IORegistryEntryCreateCFProperty = _function(
            runtime.IORegistryEntryCreateCFProperty, pointer, number, pointer, pointer, number
        )
        self._IOObjectRelease = _function(runtime.IOObjectRelease, ctypes.c_int, number)
        self._CFStringCreateWithCString = _function(
            foundation.CFStringCreateWithCString, pointer, pointer, text, number
        )
        self._CFPropertyListCreateData = _function(
            foundation.CFPropertyListCreateData,
            pointer,
            pointer,
            pointer,
            ctypes.c_long,
            ctypes.c_ulong,
            pointer,
        )
        self._CFDataGetLength = _function(foundation.CFDataGetLength, ctypes.c_long, pointer)
        self._CFDataGetBytePtr = _function(foundation.CFDataGetBytePtr, pointer, pointer)
        self._CFRelease = _function(foundation.CFRelease, None, pointer)
        #: Names of properties as CFStrings, each made once.
        self._names: dict[str, int] = {}

    def services(self, name: str) -> list[int]:
        """Return the services of a driver class or of classes derived from it."""
        # The call takes ownership of the dictionary, so it is not released here.
        matching = self._IOServiceMatching(name.encode())
        iterator = ctypes.c_uint32()
        _check(self._IOServiceGetMatchingServices(0, matching, ctypes.byref(iterator)))
        return self._entries(iterator.value)

    def below(self, entry: int) -> list[int]:
        """Return all entries below one, at any depth.

        Clients are not registered as services, so a search for their class finds none of them.
        """
        iterator = ctypes.c_uint32()
        _check(
            self._IORegistryEntryCreateIterator(entry, _PLANE, _RECURSIVELY, ctypes.byref(iterator)),
        )
        return self._entries(iterator.value)

    def entry_id(self, entry: int) -> int:
        """Return a number that is unique since the machine was started."""
        found = ctypes.c_uint64()
        _check(self._IORegistryEntryGetRegistryEntryID(entry, ctypes.byref(found)))
        return found.value

    def read(self, entry: int, name: str) -> Any:
        """Return a property as a Python object, None if the entry has none or no longer exists."""
        if name not in self._names:
            self._names[name] = self._CFStringCreateWithCString(None, name.encode(), _UTF8)
        value = self._IORegistryEntryCreateCFProperty(entry, self._names[name], None, 0)
        if not value:
            return None
        try:
            data = self._CFPropertyListCreateData(None, value, _BINARY, 0, None)
        finally:
            self._CFRelease(value)
        if not data:  # an object that a property list cannot hold
            return None
        try:
            found = ctypes.string_at(self._CFDataGetBytePtr(data), self._CFDataGetLength(data))
        finally:
            self._CFRelease(data)
        try:
            return plistlib.loads(found, fmt=plistlib.FMT_BINARY)
        except (plistlib.InvalidFileException, ValueError, OverflowError):
            return None

    def release(self, entry: int) -> None:
        """Release an entry."""
        self._IOObjectRelease(entry)

    def _entries(self, iterator: int) -> list[int]:
        try:
            for _ in range(_TRIES):
                entries = []
                while entry := self._IOIteratorNext(iterator):
                    entries.append(entry)
                if self._IOIteratorIsValid(iterator):
                    return entries
                # Entries after the change are missing, so all are read again.
                for entry in entries:
                    self._IOObjectRelease(entry)
                self._IOIteratorReset(iterator)
            raise OSError("the registry kept changing")
        finally:
            self._IOObjectRelease(iterator)


def _function(function: Any, result: Any, *arguments: Any) -> Any:
    function.restype, function.argtypes = result, arguments
    return function


def _check(code: int) -> None:
    if code:
        raise OSError(f"IOKit answered {code & 0xFFFFFFFF:#010x}")
