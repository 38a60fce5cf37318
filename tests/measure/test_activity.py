"""A running thread is looked at from outside: what it calls, in which line, and how it is at work."""

import gc
import hashlib
import sys
import threading
import time
import weakref

import pytest

from jupyter_mlgpu.measure.activity.calls import call_at
from jupyter_mlgpu.measure.activity.markers import RULES, Markers, below_its_root
from jupyter_mlgpu.measure.activity.stack import read
from jupyter_mlgpu.measure.activity.watch import AFTER, ActivityWatch, Asked, state_of
from jupyter_mlgpu.measure.probes.sampler import Sampler
from tests.support.cell_files import run_as_cell

pytestmark = pytest.mark.small

MARKERS = Markers(lambda: [RULES])


@pytest.fixture
def sampler():
    made = Sampler(linger=0.0)
    yield made
    made.close()


def watch(sampler, of_user=lambda filename: None, called_back=lambda: False):
    return ActivityWatch(
        sampler, MARKERS, Asked(of_user, lambda since: {}, lambda since: None, lambda: None, called_back)
    )


def seen(sampler, code, **names):
    """What was seen of some code, run as a cell."""
    with run_as_cell(code, **names) as (run, filename):
        watching = watch(sampler, {filename: 7}.get)
        run()
        return watching.finish()


def most(activity):
    return max((*activity.parts, *activity.unseen_in), key=lambda part: part.seconds)


def test_a_cell_that_sleeps_is_seen_idle_in_the_line_and_the_call_that_it_sleeps_in(sampler):
    activity = seen(sampler, "import time\n\ntime.sleep(0.4)\n")
    part = most(activity)
    assert (part.state, part.line.number, part.line.cell) == ("idle", 3, 7)
    assert (part.call.text, part.call.module) == ("time.sleep", "time")
    assert activity.looks >= 1


def test_a_cell_that_computes_in_python_is_seen_in_its_loop(sampler):
    code = (
        "import time\nend = time.thread_time() + 0.4\nwhile time.thread_time() < end:\n    sum(range(50))\n"
    )
    activity = seen(sampler, code)
    assert most(activity).line.number in (3, 4)
    assert activity.thread_time > 0.3


@pytest.mark.parametrize(
    ("own", "asked", "running", "went_on", "state"),
    [
        (1.0, 1.0, False, 0.0, "interpreter"),
        (1.0, 0.02, False, 0.0, "short calls"),
        (1.0, 0.3, False, 0.0, "kept lock"),
        (1.0, 0.02, True, 0.9, "native"),
        # Late because a processor was lacking, and not the lock.
        (1.0, 2.0, True, 0.9, "native"),
        (0.1, 0.02, True, 0.9, "native"),
        (0.4, 0.02, True, 0.0, "no processor"),
        (0.0, 0.02, False, 0.0, "idle"),
        # Late because a processor was lacking: it worked too little to have kept the lock.
        (0.2, 1.0, False, 0.0, "idle"),
        # No clock of another thread (macOS), and nothing that tells whether it runs.
        (None, 0.02, False, None, "short calls"),
        (None, 1.0, True, None, "no processor"),
    ],
)
def test_how_a_thread_works_follows_from_its_clock_and_from_how_long_the_lock_was_waited_for(
    own, asked, running, went_on, state
):
    assert state_of(own, asked, running=running, went_on=went_on) == state


def test_native_code_that_needs_no_lock_is_seen_in_its_call(sampler):
    # A hash of a large block gives the lock up while it is computed.
    activity = seen(
        sampler,
        "end = time.thread_time() + 0.4\nwhile time.thread_time() < end:\n    hashlib.sha256(block)\n",
        time=time,
        hashlib=hashlib,
        block=bytes(1 << 25),
    )
    assert most(activity).call.text == "hashlib.sha256"


def test_a_cell_that_never_gives_the_lock_up_is_told_of_by_its_clock(sampler):
    activity = seen(sampler, "total = sum(range(40_000_000))\n")
    assert activity.unseen > 0.5 * activity.seconds
    assert activity.thread_time > 0.1


def test_a_short_cell_is_not_looked_at(sampler):
    watching = watch(sampler)
    assert AFTER == 0.05
    assert watching.finish() is None


def test_while_the_cell_waits_the_user_s_code_in_another_thread_is_seen(sampler):
    code = (
        "def work():\n    global count\n    while not stop.is_set():\n        count += 1\n"
        "thread = threading.Thread(target=work)\nthread.start()\nready.wait(0.4)\nstop.set()\nthread.join()\n"
    )
    names = {"threading": threading, "stop": threading.Event(), "ready": threading.Event(), "count": 0}
    activity = seen(sampler, code, **names)
    assert any(part.thread and part.line.number in (3, 4) for part in activity.parts)


def test_a_loader_that_sleeps_gets_data_ready_and_what_imports_prepares():
    assert MARKERS.doing("/x/site-packages/PIL/Image.py", "open") == "input"
    assert MARKERS.doing("<frozen importlib._bootstrap>", "_find_and_load") == "importing"
    assert MARKERS.doing("/x/site-packages/mine.py", "open") is None
    assert below_its_root(threading.__file__) == "threading.py"


def test_a_framework_that_comes_later_brings_its_rules():
    rules = [dict(RULES)]
    markers = Markers(lambda: rules)
    assert markers.doing("/x/site-packages/abacus/feed.py", "next") is None
    rules.append({"abacus/feed.py": "input"})
    markers.refresh()
    assert markers.doing("/x/site-packages/abacus/feed.py", "next") == "input"


@pytest.mark.parametrize(
    ("line", "text", "module"),
    [
        ("here(1)", "here", "tests.measure.test_activity"),
        ("box.here(1, 'a secret')", "box.here", "types"),
        ("[here(n) for n in (1,)]", "here", "tests.measure.test_activity"),
        ("here(1).bit_length() and here(2)", "here", "tests.measure.test_activity"),
    ],
)
def test_what_a_line_calls_is_told_by_its_name_and_never_with_its_arguments(line, text, module):
    places = []

    def here(number, *secrets):
        places.append(read(sys._getframe(1), {filename: 1}.get, MARKERS).users)
        return number

    box = __import__("types").SimpleNamespace(here=here)
    with run_as_cell(line, here=here, box=box) as (run, filename):
        run()
        call = call_at(places[0])
    assert (call.text, call.module) == (text, module)


def test_a_function_s_own_variables_are_neither_read_nor_taken_for_names_of_the_notebook():
    places = []

    def here():
        places.append(read(sys._getframe(1), {filename: 1}.get, MARKERS).users)

    with run_as_cell("def f(time):\n    time.sleep()\n", time=time) as (run, filename):
        run()
        run.names["f"](type("Sleeper", (), {"sleep": staticmethod(here)}))
        assert call_at(places[0]).module is None


def test_looking_keeps_no_value_of_the_user_s_alive(sampler):
    class Thing:
        pass

    gone = []
    code = "def f():\n    thing = Thing()\n    gone.append(ref(thing))\n    sleep(0.3)\nf()\n"
    gc.disable()  # what only a collection lets go of was kept alive
    try:
        assert seen(sampler, code, Thing=Thing, gone=gone, ref=weakref.ref, sleep=time.sleep).looks > 1
        assert gone[0]() is None
    finally:
        gc.enable()
