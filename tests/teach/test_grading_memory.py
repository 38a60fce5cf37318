"""Which memory counts, and what the filter of system calls says: without a sandbox."""

import mmap
import os
import platform
import struct
import subprocess
import sys

import psutil
import pytest

from jupyter_mlgpu.teach.grading import memory, syscalls
from jupyter_mlgpu.teach.grading.sandbox import SANDBOXES, Path
from tests.support.waiting import until

needs_proc = pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="this system has no /proc")
HERE = [psutil.Process()]


@needs_proc
def test_memory_that_processes_share_counts_though_nothing_has_touched_it():
    before = memory.shared(HERE)
    with mmap.mmap(-1, 50 * 1024**2):
        assert memory.shared(HERE) - before == 50 * 1024**2
        assert memory.shared(HERE * 2) == memory.shared(HERE)
    assert memory.shared(HERE) == before


@needs_proc
def test_what_forked_processes_share_counts_once():
    code = (
        "import os, signal\nheld = b'x' * 200_000_000\nchild = os.fork()\nos.write(1, b'.')\nsignal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        try:
            assert parent.stdout.read(2) == b".."  # both are there
            processes = [psutil.Process(parent.pid), *psutil.Process(parent.pid).children()]
            assert len(processes) == 2
            assert memory.resident(processes) > 400_000_000
            assert 200_000_000 < memory.proportional(processes) < 300_000_000
        finally:
            for one in psutil.Process(parent.pid).children():
                one.kill()
            parent.kill()


@needs_proc
@pytest.mark.parametrize("shared", [False, True])
def test_a_process_whose_first_thread_has_ended_is_not_empty(shared):
    kept = "mmap.mmap(-1, 100 << 20)" if shared else "b'x' * (100 << 20)"
    code = (
        "import ctypes, mmap, os, platform, threading, time\n"
        f"def hold():\n    held = {kept}; os.write(1, b'.'); time.sleep(60)\n"
        "threading.Thread(target=hold).start()\n"
        "ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[platform.machine()], 0)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout.read(1) == b"."
            (held,) = processes = [psutil.Process(process.pid)]
            until(lambda: held.status() == psutil.STATUS_ZOMBIE)
            assert held.memory_info().rss == 0, "the kernel shows the memory after all"
            if shared:
                assert memory.shared(processes) >= 100 << 20
            else:
                assert memory.resident(processes) > 100 << 20
                assert memory.proportional(processes) > 100 << 20
        finally:
            process.kill()


@needs_proc
def test_what_lies_in_folders_in_memory_counts_and_none_is_no_bytes():
    used = os.statvfs("/dev/shm")
    found = memory.in_folders(os.getpid(), ["/dev/shm"])
    assert 0 <= found <= used.f_blocks * used.f_frsize
    assert memory.in_folders(os.getpid(), []) == 0
    assert memory.in_folders(None, ["/dev/shm"]) == 0


def answer(program, machine, number, first=0):
    """What a filter answers to a call, as the kernel would run it."""
    data = {0: number, 4: machine, 16: first}
    lines = list(struct.iter_unpack("=HBBI", program))
    at, value = 0, 0
    while True:
        code, yes, no, k = lines[at]
        at += 1
        if code == 0x20:
            value = data[k]
        elif code == 0x06:
            return k
        else:
            at += yes if {0x15: value == k, 0x35: value >= k, 0x45: value & k}[code] else no


REFUSED, ALLOWED = 0x00050026, 0x7FFF0000


@pytest.mark.parametrize(
    ("machine", "named", "calls"),
    [
        ("x86_64", 0xC000003E, {"read": 0, "clone": 56, "memfd": 319, "unshare": 272, "clone3": 435}),
        ("aarch64", 0xC00000B7, {"read": 63, "clone": 220, "memfd": 279, "unshare": 97, "clone3": 435}),
    ],
)
def test_the_filter_refuses_namespaces_and_hidden_memory_and_allows_the_rest(machine, named, calls):
    program = syscalls.program(machine)
    for name, number in calls.items():
        wanted = ALLOWED if name in ("read", "clone") else REFUSED
        assert answer(program, named, number) == wanted, name
    threads, new_user = 0x003D0F00, 0x10000000
    assert answer(program, named, calls["clone"], threads) == ALLOWED
    assert answer(program, named, calls["clone"], new_user | 17) == REFUSED
    # Another way to call the same kernel: programs of 32 bits.
    assert answer(program, 0x40000003, calls["read"]) == REFUSED
    if machine == "x86_64":
        assert answer(program, named, 0x40000000 | calls["memfd"]) == REFUSED


def test_on_a_processor_whose_calls_are_not_known_bubblewrap_is_not_taken(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert "riscv64" in SANDBOXES["bubblewrap"].missing()
