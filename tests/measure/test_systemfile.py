"""Files of the system's that are read while the user's code may want the interpreter's lock."""

import os
import sys
import threading
import time

import pytest

from jupyter_mlgpu.measure.memory_samples import MemorySamples
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.systemfile import SystemFile

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has such files")


@linux_only
def test_a_file_that_is_read_again_and_again_is_told_as_it_is_now(tmp_path):
    path = tmp_path / "told"
    path.write_bytes(b"first")
    file = SystemFile(path, 8)
    first = file.read()
    path.write_bytes(b"second, and longer")
    assert (first, file.read()) == (b"first", b"second, ")
    file.close()
    assert file.read() == b"", "it is closed"


@linux_only
def test_a_file_of_the_users_that_has_its_number_now_is_left_open(tmp_path):
    for name in ("ours", "users"):
        (tmp_path / name).write_bytes(name.encode())
    file = SystemFile(tmp_path / "ours", 8)
    file.read()
    number = file._descriptor
    users = os.open(tmp_path / "users", os.O_RDONLY)
    os.dup2(users, number)
    file.close()
    assert os.read(number, 8) == b"users"
    os.close(number)
    os.close(users)


@linux_only
def test_a_file_whose_path_has_gone_is_closed_all_the_same(tmp_path):
    path = tmp_path / "gone"
    path.write_bytes(b"told")
    file = SystemFile(path, 8)
    file.read()
    number = file._descriptor
    path.unlink()
    file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(number)


def test_of_a_file_that_is_not_there_nothing_is_told(tmp_path):
    file = SystemFile(tmp_path / "none", 8)
    assert file.read() == b""
    file.close()


@linux_only
@pytest.mark.parametrize("what", ["a file", "a file just opened", "all memory"])
def test_the_users_code_does_not_go_on_while_it_is_read(what):
    samples = MemorySamples(Lazy(lambda: None))
    samples.sample(0.0, afresh=True)
    file, opened = SystemFile("/proc/vmstat", 1 << 16), []

    def open_another() -> None:
        opened.append(SystemFile("/proc/self/schedstat", 64))
        opened[-1].read()

    sample = {
        "a file": file.read,
        "a file just opened": open_another,
        "all memory": lambda: samples.sample(1.0, afresh=False),
    }[what]
    steps, ended = 0, threading.Event()

    def user() -> None:
        nonlocal steps
        while not ended.is_set():
            steps += 1
            time.sleep(0)  # gives the lock away; it takes it as soon as it is free

    thread = threading.Thread(target=user)
    every = sys.getswitchinterval()
    sys.setswitchinterval(10)  # nobody is asked to give it away
    try:
        thread.start()
        went_on = 0
        for _ in range(500):
            time.sleep(0.001)
            before = steps
            sample()
            went_on += steps != before
    finally:
        ended.set()
        sys.setswitchinterval(every)
        thread.join()
        for one in (samples, file, *opened):
            one.close()
    assert steps > 500
    # Some thread of the test run's own may have asked for the lock before. With each file that gives it away
    # the user's code goes on in 30 and more of the 500 looks.
    assert went_on < 6
