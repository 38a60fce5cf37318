"""C's buffers are written out, and C's locks stay free for the user's threads."""

import ctypes
import subprocess
import sys
import threading

import pytest

from jupyter_mlgpu.measure.capture import flushing as flushing_module
from jupyter_mlgpu.measure.capture.flushing import flush_native
from tests.support.interrupts import interrupted_at_each_line


def in_another_thread(ask):
    answers = []
    thread = threading.Thread(target=lambda: answers.append(ask()), daemon=True)
    thread.start()
    thread.join(10.0)
    return answers[0] if answers else "it hangs"


def is_free(stream):
    libc = ctypes.CDLL(None)
    held = libc.ftrylockfile(stream)
    if held == 0:
        libc.funlockfile(stream)
    return held == 0


def test_a_ctrl_c_while_cs_stream_is_flushed_leaves_it_free_for_other_threads():
    stream = ctypes.c_void_p.in_dll(ctypes.CDLL(None), "__stdoutp" if sys.platform == "darwin" else "stdout")
    flush_native((1,))
    lines = 0
    for _ in interrupted_at_each_line(lambda: flush_native((1,)), flushing_module):
        lines += 1
        assert in_another_thread(lambda: is_free(stream)) is True, f"interrupted at line {lines} of them"
    assert lines > 5


#: A thread prints from C and keeps the GIL, as extension modules do, while the main thread flushes.
FLUSHES_BESIDE_A_PRINTER = """
import ctypes, os, threading
from jupyter_mlgpu.measure.capture.flushing import flush_native

os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
puts, ended = ctypes.PyDLL(None).puts, False

def prints():
    while not ended: puts(b"from an extension module")

thread = threading.Thread(target=prints)
thread.start()
for _ in range(20_000): flush_native((1,))
ended = True
thread.join()
"""


def test_a_thread_that_prints_from_c_while_it_holds_the_gil_hangs_nothing():
    try:
        subprocess.run([sys.executable, "-c", FLUSHES_BESIDE_A_PRINTER], check=True, timeout=30)
    except subprocess.TimeoutExpired:
        pytest.fail("both threads wait for each other")
