"""Our threads parse code without making a parse in the user's thread fail (python/cpython#106905)."""

import ast
import gc
import subprocess
import sys
import threading

import pytest

from jupyter_mlgpu.record import parsing

pytestmark = pytest.mark.small

#: The main thread parses as IPython does for a traceback, with collections that give up the GIL, as in a
#: notebook with JAX. A thread of ours parses beside it.
BESIDE = """
import ast, contextlib, gc, sys, threading, time
from jupyter_mlgpu.record.parsing import parse

until = time.monotonic() + 2
done = 0

def ours():
    global done
    while time.monotonic() < until:
        with contextlib.suppress(ValueError):
            PARSE("f(a, [b, (c, d)])")
            done += 1
        time.sleep(0.0002)

gc.callbacks.append(lambda phase, info: time.sleep(0.0005))
thread = threading.Thread(target=ours)
thread.start()
code = "x = f(a, [b, (c, d)], {e: g.h(1) for e in j})\\n" * 100
while thread.is_alive():
    ast.parse(code)
    sum(range(20_000))
print("parsed" if done else "never")
"""


def beside(parse):
    return subprocess.run(
        [sys.executable, "-c", BESIDE.replace("PARSE", parse)], capture_output=True, text=True, timeout=120
    )


def test_a_parse_of_ours_leaves_one_of_another_thread_alone():
    done = beside("parse")
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "parsed\n")


@pytest.mark.skipif(
    not parsing.SHARES_ITS_DEPTH, reason="this Python counts the depth of each parse by itself"
)
def test_that_program_can_see_a_parse_that_fails():
    assert "recursion depth mismatch" in beside("ast.parse").stderr


@pytest.mark.skipif(
    not parsing.SHARES_ITS_DEPTH, reason="this Python counts the depth of each parse by itself"
)
def test_a_parse_in_another_thread_that_does_not_end_is_not_waited_for_long():
    inside, go = threading.Event(), threading.Event()

    def stay(phase, info):
        if threading.current_thread() is other and not inside.is_set():
            inside.set()
            go.wait(60)

    other = threading.Thread(target=ast.parse, args=("x = f(a, [b])\n" * 2_000,))
    gc.callbacks.append(stay)
    try:
        other.start()
        assert inside.wait(60)
        with pytest.raises(ValueError, match="still parsing"):
            parsing.parse("a")
    finally:
        gc.callbacks.remove(stay)
        go.set()
        other.join()
    assert isinstance(parsing.parse("a"), ast.Module)
