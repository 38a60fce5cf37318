# ruff: noqa: N802 - the names are Apple's own
"""What is asked of macOS's libraries, and what is given back to them, with functions in their place."""

import ctypes
import plistlib
import sys
from itertools import count
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.gpu.ioregistry import _TRIES, IoRegistry
from jupyter_mlgpu.testing import FakeRegistry


class Libraries:
    """IOKit and CoreFoundation over a `FakeRegistry`, as C has them: numbers, pointers and error codes.

    `changes` is how often an iterator becomes invalid before it is read to its end.
    """

    def __init__(self, registry):
        self.registry = registry
        self.changes = 0
        self.objects, self.iterators = {}, {}
        self.handles = count(0x7F0000000000, 16)
        self.code = 0

    def load(self, path):
        self.functions = {}
        return SimpleNamespace(
            **{name[1:]: self._function(name) for name in dir(type(self)) if name[1:3].isupper()}
        )

    def _function(self, name):
        method = getattr(self, name)

        def function(*arguments):
            assert len(arguments) == len(function.argtypes)
            return method(*arguments)

        return function

    def _hold(self, value):
        handle = next(self.handles)
        self.objects[handle] = value
        return handle

    def _iterator(self, entries, out):
        handle = next(self.handles) & 0xFFFF
        self.iterators[handle] = [entries(), entries]
        out._obj.value = handle
        return self.code

    def _IOServiceMatching(self, name):
        return self._hold(name)

    def _IOServiceGetMatchingServices(self, port, matching, out):
        assert port == 0
        name = self.objects.pop(matching).decode()  # the call takes it over
        return self._iterator(lambda: self.registry.services(name), out)

    def _IORegistryEntryCreateIterator(self, entry, plane, options, out):
        assert (plane, options) == (b"IOService", 1)
        return self._iterator(lambda: self.registry.below(entry), out)

    def _IOIteratorNext(self, iterator):
        rest = self.iterators[iterator][0]
        return rest.pop(0) if rest else 0

    def _IOIteratorIsValid(self, iterator):
        self.changes -= 1
        return int(self.changes < 0)

    def _IOIteratorReset(self, iterator):
        self.iterators[iterator][0] = self.iterators[iterator][1]()

    def _IORegistryEntryGetRegistryEntryID(self, entry, out):
        out._obj.value = self.registry.entry_id(entry)
        return self.code

    def _IORegistryEntryCreateCFProperty(self, entry, name, allocator, options):
        value = self.registry.read(entry, self.objects[name].decode())
        return None if value is None else self._hold(value)

    def _IOObjectRelease(self, handle):
        if self.iterators.pop(handle, None) is None:
            self.registry.release(handle)
        return 0

    def _CFStringCreateWithCString(self, allocator, text, encoding):
        return self._hold(text)

    def _CFPropertyListCreateData(self, allocator, value, form, options, error):
        try:
            return self._hold(plistlib.dumps(self.objects[value], fmt=plistlib.FMT_BINARY))
        except TypeError:
            return None

    def _CFDataGetLength(self, data):
        return len(self.objects[data])

    def _CFDataGetBytePtr(self, data):
        self.buffer = ctypes.create_string_buffer(self.objects[data])
        return ctypes.addressof(self.buffer)

    def _CFRelease(self, handle):
        del self.objects[handle]


@pytest.fixture
def libraries():
    return Libraries(FakeRegistry())


@pytest.fixture
def registry(libraries):
    return IoRegistry(libraries.load)


def test_properties_come_as_python_has_them_and_everything_is_released(libraries, registry):
    client = libraries.registry.open(42)
    libraries.registry.work(client, 0.5)
    client.properties["far"] = 2**64 - 1
    for _ in range(3):
        (gpu,) = registry.services("IOAccelerator")
        (entry,) = registry.below(gpu)
        assert registry.entry_id(entry) == client.number
        assert registry.read(entry, "IOUserClientCreator") == "pid 42, python3.12"
        assert registry.read(entry, "AppUsage")[0]["accumulatedGPUTime"] == 500_000_000
        assert registry.read(entry, "far") == 2**64 - 1
        assert registry.read(entry, "missing") is None
        registry.release(entry)
        registry.release(gpu)
    assert libraries.registry.references() == 0
    assert libraries.iterators == {}
    assert len(libraries.objects) == 4  # the names of the four properties, each made once


def test_an_object_that_no_property_list_holds_is_none(libraries, registry):
    client = libraries.registry.open(42)
    client.properties["IOGeneralInterest"] = object()
    (gpu,) = registry.services("IOAccelerator")
    (entry,) = registry.below(gpu)
    assert registry.read(entry, "IOGeneralInterest") is None
    assert len(libraries.objects) == 1


def test_a_list_that_changes_while_it_is_read_is_read_again(libraries, registry):
    libraries.registry.open(42)
    (gpu,) = registry.services("IOAccelerator")
    libraries.changes = 2
    entries = registry.below(gpu)
    assert len(entries) == 1
    assert libraries.registry.references() == 2


def test_a_list_that_changes_all_the_time_is_an_error_and_leaks_nothing(libraries, registry):
    libraries.registry.open(42)
    (gpu,) = registry.services("IOAccelerator")
    libraries.changes = _TRIES
    with pytest.raises(OSError, match="kept changing"):
        registry.below(gpu)
    assert libraries.iterators == {}
    assert libraries.registry.references() == 2  # the GPU, and what the last reset has listed anew


def test_a_refusal_is_an_error_with_its_code(libraries, registry):
    libraries.code = -536870201
    with pytest.raises(OSError, match="0xe00002c7"):
        registry.services("IOAccelerator")


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac has one")
def test_elsewhere_there_is_none():
    with pytest.raises(OSError, match="IOKit"):
        IoRegistry()
