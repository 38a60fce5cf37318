"""Frames of a running thread are read without ending the process; the collector stays as the user has it."""

import gc
import subprocess
import sys
import threading
import time

import pytest

from jupyter_mlgpu.record.other_threads import FramesOfOtherThreads

pytestmark = pytest.mark.small


@pytest.fixture
def beside():
    """A thread that waits in some calls, and its number."""
    there, go = threading.Event(), threading.Event()

    def deep(calls):
        if calls:
            return deep(calls - 1)
        there.set()
        return go.wait(60)

    thread = threading.Thread(target=deep, args=(20,))
    thread.start()
    assert there.wait(60)
    yield thread
    go.set()
    thread.join()


class Counted:
    """What the collector counts each time one is made."""


def outwards(frame):
    while frame is not None:
        yield frame.f_code.co_name
        frame = frame.f_back


def test_no_collection_begins_while_frames_are_made(beside):
    collected = []
    threshold = gc.get_threshold()
    gc.callbacks.append(lambda phase, info: collected.append(phase))
    gc.set_threshold(1)
    try:
        with FramesOfOtherThreads() as frames:
            collected.clear()
            names = list(outwards(frames[beside.ident]))
            assert collected == []
        # No lists: one that the interpreter takes from its store of freed ones does not count as allocated.
        _ = [Counted() for _ in range(10)]
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.pop()
    assert names.count("deep") == 21
    assert collected, "this test can see a collection"


def test_our_own_frame_is_not_among_them_and_all_are_let_go_at_the_end(beside):
    with FramesOfOtherThreads() as frames:
        assert threading.get_ident() not in frames
        assert beside.ident in frames
    assert frames == {}


@pytest.mark.parametrize("on", [True, False])
def test_the_collector_stays_on_or_off_as_the_user_has_it_also_when_reading_fails(on):
    try:
        if not on:
            gc.disable()
        with pytest.raises(KeyError), FramesOfOtherThreads() as frames:
            raise KeyError(frames)
        assert gc.isenabled() is on
    finally:
        gc.enable()


#: Collections give up the interpreter's lock, and the main thread calls functions of many sizes of frame.
STRESS = """
import gc, random, sys, threading, time
from jupyter_mlgpu.record.other_threads import FramesOfOtherThreads

class Node:
    pass

functions = []
for size in range(40):
    values = "".join(f"        v{n} = 1\\n" for n in range(size))
    code = (
        f"def f(n):\\n    if n < 0:\\n{values}        return\\n"
        f"    if n: return functions[(n * 7 + {size}) % 40](n - 1)\\n"
        "    a, b = Node(), Node(); a.b, b.a = b, a\\n    return [[] for _ in range(20)]\\n"
    )
    names = {"Node": Node, "functions": functions}
    exec(code, names)
    functions.append(names["f"])

def look():
    while time.monotonic() < until:
        with READ as frames:
            frame = frames[threading.main_thread().ident]
            while frame is not None:
                frame.f_code.co_name
                frame = frame.f_back
        time.sleep(0.0002)

until = time.monotonic() + 4
sys.setswitchinterval(0.0005)
gc.callbacks.append(lambda phase, info: time.sleep(0.0005))
thread = threading.Thread(target=look)
thread.start()
while thread.is_alive():
    random.choice(functions)(random.randrange(40))
"""


@pytest.mark.slow
def test_a_thread_that_collects_garbage_and_goes_on_is_looked_at_without_ending_the_process():
    done = subprocess.run(
        [sys.executable, "-c", STRESS.replace("READ", "FramesOfOtherThreads()")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python 3.12 collects between instructions alone")
def test_that_program_ends_python_3_11_where_collections_are_not_held_back():
    unguarded = STRESS.replace("READ", "contextlib.nullcontext(sys._current_frames())")
    until = time.monotonic() + 100
    while time.monotonic() < until:
        if (
            subprocess.run([sys.executable, "-c", "import contextlib" + unguarded], timeout=120).returncode
            < 0
        ):
            return
    pytest.fail("it survived, so the test above shows nothing")
