"""The callbacks hand buffers out and take them back without Python, and are what their source says."""

import ctypes
import platform
import shutil
import subprocess
import threading
from pathlib import Path

import pytest

from jupyter_mlgpu.measure.gpu import activity_buffers
from jupyter_mlgpu.measure.gpu.activity_buffers import COUNT, SIZE, ActivityBuffers

REQUEST = ctypes.CFUNCTYPE(
    None, *[ctypes.POINTER(kind) for kind in (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)]
)
COMPLETE = ctypes.CFUNCTYPE(
    None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t
)


@pytest.fixture
def buffers():
    return ActivityBuffers()


def asked(buffers):
    """What CUPTI is given when it asks: the buffer's address, its size, and the most records."""
    address, size, most = ctypes.c_void_p(), ctypes.c_size_t(7), ctypes.c_size_t(7)
    REQUEST(buffers.request)(ctypes.byref(address), ctypes.byref(size), ctypes.byref(most))
    return address.value, size.value, most.value


def returned(buffers, address, filled):
    COMPLETE(buffers.complete)(None, 0, address, SIZE, filled)


def test_each_buffer_is_given_once_and_then_none(buffers):
    given = [asked(buffers) for _ in range(COUNT)]
    assert len({address for address, _, _ in given}) == COUNT
    assert {(size, most) for _, size, most in given} == {(SIZE, 0)}
    assert asked(buffers) == (None, 0, 0)
    assert buffers.refused == 1


def test_a_full_buffer_is_read_once_and_given_again(buffers):
    first, second = asked(buffers)[0], asked(buffers)[0]
    ctypes.memmove(second, b"records", 7)
    returned(buffers, second, 7)
    assert [(address, ctypes.string_at(address, size)) for address, size in buffers.full()] == [
        (second, b"records")
    ]
    assert list(buffers.full()) == []
    assert asked(buffers)[0] == second
    assert first != second


def test_an_empty_buffer_that_comes_back_is_free_again(buffers):
    address = asked(buffers)[0]
    returned(buffers, address, 0)
    assert list(buffers.full()) == [(address, 0)]
    assert asked(buffers)[0] == address


def test_a_buffer_of_another_profilers_is_left_alone(buffers):
    mine = asked(buffers)[0]
    before = bytes(buffers._control)
    for foreign in (mine + COUNT * SIZE, mine - SIZE, 4096, 2**64 - SIZE):
        returned(buffers, foreign, 100)
    assert bytes(buffers._control) == before
    assert list(buffers.full()) == []


def test_threads_that_ask_at_once_are_never_given_the_same(buffers):
    given = []

    def ask():
        given.extend(asked(buffers)[0] for _ in range(COUNT // 4))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(given)) == COUNT


def test_another_processor_is_a_reason(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    with pytest.raises(OSError, match="no code for the processor riscv64"):
        ActivityBuffers()


@pytest.mark.parametrize(
    ("processor", "assembler", "objcopy"),
    [
        ("x86_64", "as", "objcopy"),
        ("aarch64", "aarch64-linux-gnu-as", "aarch64-linux-gnu-objcopy"),
    ],
)
def test_the_code_is_what_its_source_says(tmp_path, processor, assembler, objcopy):
    if shutil.which(assembler) is None or (processor == "x86_64" and platform.machine() != processor):
        pytest.skip(f"there is no assembler for {processor} here")
    source = Path(activity_buffers.__file__).parent / f"callbacks_{processor}.s"
    subprocess.run([assembler, source, "-o", tmp_path / "code.o"], check=True)
    subprocess.run(
        [objcopy, "-O", "binary", "-j", ".text", tmp_path / "code.o", tmp_path / "code"], check=True
    )
    assert (tmp_path / "code").read_bytes() == activity_buffers._CODE[processor]
