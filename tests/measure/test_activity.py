"""A running thread is looked at from outside: what it calls, in which line, and how it is at work."""

import gc
import gzip
import hashlib
import sys
import tarfile
import textwrap
import threading
import time
import weakref
import zipfile

import pytest

from jupyter_mlgpu.measure.activity import counters, native_callbacks
from jupyter_mlgpu.measure.activity.activity import Call
from jupyter_mlgpu.measure.activity.calls import call_at
from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders
from jupyter_mlgpu.measure.activity.gil_wait import GilWaitEstimator
from jupyter_mlgpu.measure.activity.markers import RULES, Markers, below_its_root
from jupyter_mlgpu.measure.activity.sample_counts import SampleCounts
from jupyter_mlgpu.measure.activity.sampled_thread import SampledThread
from jupyter_mlgpu.measure.activity.sampling_interval import FIRST_SAMPLE_AFTER
from jupyter_mlgpu.measure.activity.stack import Stack, read
from jupyter_mlgpu.measure.activity.stack_sampler import StackSampler
from jupyter_mlgpu.measure.activity.states import WITHOUT_GIL, state_of
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.runtime import Runtime
from tests.support.cell_files import run_as_cell
from tests.support.interrupts import interrupted_at_each_line

pytestmark = pytest.mark.small

MARKERS = Markers(lambda: [RULES])


@pytest.fixture
def sampler():
    made = Sampler(linger=0.0)
    yield made
    made.close()


def watch(
    sampler,
    of_user=lambda filename: None,
    called_back=lambda: False,
    compiled=lambda: None,
    gpus=lambda since: {},
    gpu_others=lambda since: None,
    gpu_neighbours=lambda: None,
    readings_take=0.0,
    gil_wait=None,
):
    asked = ExternalReaders(
        of_user=of_user,
        gpus=gpus,
        gpu_others=gpu_others,
        gpu_neighbours=gpu_neighbours,
        retries=lambda: None,
        compiled=compiled,
        called_back=called_back,
    )
    watch = StackSampler(sampler, MARKERS, gil_wait or GilWaitEstimator(), asked)
    time.sleep(readings_take)
    watch.starts()
    return watch


def seen(sampler, code, **names):
    """What was seen of some code, run as a cell."""
    with run_as_cell(code, **names) as (run, filename):
        watching = watch(sampler, {filename: 7}.get)
        run()
        return watching.finish()


def test_first_readings_that_take_long_are_no_part_of_the_cell(sampler):
    with run_as_cell("import time\ntime.sleep(0.3)\n") as (run, filename):
        watching = watch(sampler, {filename: 7}.get, readings_take=0.5)
        run()
        slept = watching.finish()
    assert slept.samples >= 1
    assert slept.seconds < 0.3 + 0.4
    assert {part.line.number for part in slept.parts if part.line} == {2}


class NotedLateness(GilWaitEstimator):
    def __init__(self):
        super().__init__()
        self.noted = []

    def estimate(self, late):
        self.noted.append(late)
        return super().estimate(late)


@pytest.mark.parametrize("readings_take", [0.0, 0.003, 0.07])
def test_no_look_seems_punctual_because_it_came_early(sampler, readings_take):
    """By the most punctual one all others are judged: who is later has waited for the interpreter's lock."""
    gil_wait = NotedLateness()
    with run_as_cell("import time\ntime.sleep(0.3)\n") as (run, _):
        watching = watch(sampler, readings_take=readings_take, gil_wait=gil_wait)
        run()
        watching.finish()
    assert gil_wait.noted
    assert min(gil_wait.noted) > 0


def ignored(*told):
    pass


def most(activity):
    return max((*activity.parts, *activity.unsampled_in), key=lambda part: part.seconds)


def test_a_cell_that_sleeps_is_seen_idle_in_the_line_and_the_call_that_it_sleeps_in(sampler):
    activity = seen(sampler, "import time\n\ntime.sleep(0.4)\n")
    part = most(activity)
    assert (part.state, part.line.number, part.line.cell) == ("idle", 3, 7)
    assert (part.call.text, part.call.module) == ("time.sleep", "time")
    assert activity.samples >= 1


def test_the_gpus_driver_is_asked_where_the_thread_was_seen_elsewhere_than_in_python(sampler):
    told = {
        "gpus": lambda since: {"GPU 0": (0.5, 2)},
        "gpu_others": lambda since: 0.25,
    }

    with run_as_cell("import time\ntime.sleep(0.5)\n") as (run, _):
        watching = watch(sampler, **told)
        run()
        slept = watching.finish()
    assert (slept.gpus, slept.gpu_others) == ({"GPU 0": (0.5, 2)}, 0.25)


def test_one_look_in_which_a_machine_was_halted_or_garbage_collected_leaves_time_for_others(sampler):
    dear = iter([True])

    def of_user(filename):
        if next(dear, False):
            worked = time.thread_time()
            while time.thread_time() < worked + 0.02:
                pass
        return

    with run_as_cell("import time\ntime.sleep(0.8)\n") as (run, _):
        watching = watch(sampler, of_user)
        run()
        assert watching.finish().samples >= 3


def test_where_the_driver_does_not_tell_who_used_a_busy_gpu_it_is_asked_who_is_there(sampler):
    with run_as_cell("import time\ntime.sleep(0.5)\n") as (run, _):
        watching = watch(sampler, gpus=lambda since: {"GPU 0": (0.9, 2)}, gpu_neighbours=lambda: 2)
        run()
        slept = watching.finish()
    assert (slept.gpu_others, slept.gpu_neighbours) == (None, 2)


def test_who_else_uses_a_busy_gpu_is_asked_again_at_the_end_where_it_was_not_told(sampler):
    told = []  # by the driver, as soon as the cell has ended

    with run_as_cell("import time\ntime.sleep(0.5)\n") as (run, _):
        watching = watch(
            sampler,
            gpus=lambda since: {"GPU 0": (0.9, 2)},
            gpu_others=lambda since: told[0] if told else None,
        )
        run()
        told.append(0.6)
        assert watching.finish().gpu_others == 0.6


def test_looks_tell_the_part_of_them_that_saw_a_thread_at_work_in_some_way():
    samples = SampleCounts()
    assert samples.share(WITHOUT_GIL) == 0
    for state in ("interpreter", "native", "idle", "interpreter"):
        samples.add(Stack(None, None, None, 0), state, 0.1, 0.0)
    assert samples.share(WITHOUT_GIL) == 0.5


@pytest.mark.skipif(sys.platform == "win32", reason="Windows counts no waits for pages")
def test_waits_for_pages_are_counted(sampler):
    sampled = threading.Event()
    with run_as_cell("sampled.wait(60)\n", sampled=sampled) as (run, _):
        watching = watch(sampler, compiled=sampled.set)
        run()
        assert watching.finish().major_faults >= 0


def test_what_frameworks_compile_meanwhile_is_counted_and_one_that_comes_meanwhile_begins_at_nothing(sampler):
    def compiled_in_a_cell(*told):
        sampled, told = threading.Event(), iter(told)

        def compiled():
            sampled.set()
            return next(told)

        with run_as_cell("sampled.wait(60)\n", sampled=sampled) as (run, _):
            watching = watch(sampler, compiled=compiled)
            run()
            activity = watching.finish()
        return activity.compile_time, activity.compiled

    assert compiled_in_a_cell(Compiled(3.0, 2), Compiled(3.5, 6)) == (0.5, 4)
    assert compiled_in_a_cell(None, Compiled(0.25, 1)) == (0.25, 1)
    assert Compiled(0.25, None, 2.0).since(Compiled(0.5, 3, 0.5)) == (0.0, None, 1.5)


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
    assert state_of(own, asked, running=running, progress=went_on) == state


@pytest.mark.parametrize(
    ("told", "state", "own", "waited"),
    [
        ((1.0, 1.3), "native", 0.6, 0.3),
        ((1.0, 1.3), "no processor", 0.6, 0.3),
        # Some of it was before these seconds: it had a processor for the rest of them.
        ((1.0, 1.9), "native", 0.6, 0.4),
        ((1.0, 1.9), "no processor", 2.0, 0.0),
        # The system does not tell: then it is what it was seen in.
        ((None, None), "native", 0.6, 0.0),
        ((None, None), "no processor", 0.6, 0.4),
        ((None, None), "no processor", None, 1.0),
        ((1.0, 1.3), "idle", 0.1, 0.0),
        ((1.0, 1.3), "interpreter", 0.6, 0.0),
    ],
)
def test_native_code_waits_for_a_processor_as_long_as_the_system_says(monkeypatch, told, state, own, waited):
    values = iter(told)
    monkeypatch.setattr(counters, "attempt", lambda sample: next(values))
    thread = SampledThread(threading.get_ident(), threading.get_native_id())
    assert thread.waited(state, 1.0, own) == pytest.approx(waited)
    thread.close()


MS = 1e-3


@pytest.fixture
def switch_interval():
    before = sys.getswitchinterval()
    sys.setswitchinterval(5 * MS)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("own", [0.05, 0.2, 0.35, 1.5])
def test_what_a_look_comes_late_by_itself_on_a_machine_is_no_waiting_for_the_lock(own, switch_interval):
    gil_wait = GilWaitEstimator()
    for late in (own, own + 0.05, own + 0.09, own + 0.02):
        asked = gil_wait.estimate(late * MS) / sys.getswitchinterval()
        assert state_of(1.0, asked, running=False, progress=0.0) == "short calls"
    assert gil_wait.estimate((own + 0.4) * MS) == pytest.approx(0.4 * MS)


def test_code_of_python_alone_keeps_the_lock_in_every_look_from_the_first_on(switch_interval):
    gil_wait = GilWaitEstimator()
    for late in (5.2, 5.3, 10.1):
        asked = gil_wait.estimate(late * MS) / sys.getswitchinterval()
        assert state_of(1.0, asked, running=False, progress=0.0) == "interpreter", late


def test_a_machine_whose_timers_became_slower_is_known_after_a_second_or_two(switch_interval):
    gil_wait = GilWaitEstimator()
    gil_wait.estimate(0.1 * MS)
    waited = [gil_wait.estimate(0.9 * MS) for _ in range(40)]
    assert waited[0] == pytest.approx(0.8 * MS)
    assert waited[-1] == 0


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
    assert activity.unsampled > 0.5 * activity.seconds
    assert activity.thread_time > 0.1


def test_a_short_cell_is_not_looked_at(sampler, monkeypatch):
    assert FIRST_SAMPLE_AFTER == 0.05
    # On a busy machine, to begin and to end may take longer than that.
    monkeypatch.setattr(sys.modules[StackSampler.__module__], "FIRST_SAMPLE_AFTER", 60.0)
    watching = watch(sampler)
    assert watching.finish() is None


WORKS = "over = time.perf_counter() + 0.4\nwhile time.perf_counter() < over:\n    pass\n"


def test_a_profile_function_that_was_on_before_or_stays_on_is_told(sampler):
    try:
        left_on = seen(sampler, "import sys\nsys.setprofile(note)\n" + WORKS, note=ignored, time=time)
        before = seen(sampler, WORKS + "import sys\nsys.setprofile(None)\n", time=time)
    finally:
        sys.setprofile(None)
    assert (left_on.traced, before.traced) == (True, True)
    assert not seen(sampler, WORKS, time=time).traced


def test_a_trace_function_that_was_on_within_the_cell_alone_is_told_by_its_frames(sampler):
    def trace(frame, event, argument):
        return trace

    works = textwrap.indent(WORKS, "    ")
    code = f"import sys\ndef work():\n{works}\nsys.settrace(trace)\nwork()\nsys.settrace(None)"
    before = sys.gettrace()
    try:
        activity = seen(sampler, code, trace=trace, time=time)
    finally:
        sys.settrace(before)
    assert "profiler" in {part.doing for part in activity.parts}


def test_while_the_cell_waits_the_user_s_code_in_another_thread_is_seen(sampler):
    code = (
        "def work():\n    global count\n    while not stop.is_set():\n        count += 1\n"
        "thread = threading.Thread(target=work)\nthread.start()\nready.wait(0.4)\nstop.set()\nthread.join()\n"
    )
    names = {"threading": threading, "stop": threading.Event(), "ready": threading.Event(), "count": 0}
    activity = seen(sampler, code, **names)
    assert any(part.thread and part.line.number in (3, 4) for part in activity.parts)


#: Native threads, each of which runs 4 ms of Python and starts the next one, while the cell waits in C.
CALLED_BACK = """
import ctypes, time

libc = ctypes.CDLL(None)
pthread_create = ctypes.PyDLL(None).pthread_create  # the lock is given up at a thread's end alone
over = time.perf_counter() + 0.5

@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
def batch(_):
    begun = time.perf_counter()
    while time.perf_counter() < begun + 0.004:
        pass
    if begun < over:
        pthread_create(ctypes.byref(ctypes.c_ulong()), None, batch, None)

batch(None)
libc.usleep(600_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone tells how long our own thread waited")
def test_python_in_native_threads_is_told_by_the_lock_that_it_keeps(sampler, monkeypatch):
    # Beside other programs these threads may have little of a processor.
    monkeypatch.setattr(sys.modules[StackSampler.__module__], "WORKING", 0.05)

    def states(called_back):
        with run_as_cell(CALLED_BACK) as (run, filename):
            watching = watch(sampler, {filename: 7}.get, called_back=lambda: called_back)
            run()
            return {part.state for part in watching.finish().parts}

    assert "idle beside Python" not in states(called_back=False), "nobody can have called Python"
    # There, most looks come late for want of a processor, and tell nothing.
    given_up = time.monotonic() + 60
    while "idle beside Python" not in states(called_back=True):
        assert time.monotonic() < given_up


def test_a_look_that_came_late_for_want_of_a_processor_tells_of_no_python(monkeypatch):
    waited = iter([0, 0, 2_000_000, 2_000_000])
    monkeypatch.setattr(native_callbacks.SystemFile, "read", lambda file: b"5000 %d 7\n" % next(waited))
    found = native_callbacks.NativeCallbackDetector(lambda: True)
    found.ask()
    assert found.ran_python(0.002), "it had a processor at once, and not the lock"
    assert not found.ran_python(0.0021), "it waited 2 ms of them for a processor"
    assert not found.ran_python(0.0001), "it is that late by itself"


def test_where_the_system_tells_no_waits_python_in_native_threads_is_not_guessed(monkeypatch):
    monkeypatch.setattr(native_callbacks.SystemFile, "read", lambda file: b"")
    found = native_callbacks.NativeCallbackDetector(lambda: True)
    found.ask()
    assert found.called_back
    assert not found.ran_python(0.004)


def test_a_loader_that_sleeps_gets_data_ready_and_what_imports_prepares():
    assert MARKERS.doing("/x/site-packages/PIL/Image.py", "open") == "input"
    assert MARKERS.doing("<frozen importlib._bootstrap>", "_find_and_load") == "importing"
    assert MARKERS.doing("/x/site-packages/mine.py", "open") is None
    assert below_its_root(threading.__file__) == "threading.py"


@pytest.mark.parametrize(
    ("file", "reads", "writes"),
    [
        (gzip.__file__, "read", "write"),
        (zipfile.__file__, "read", "writestr"),
        (tarfile.__file__, "extractall", "add"),
        ("/x/site-packages/pandas/io/parsers/readers.py", "read_csv", "to_csv"),
        ("/x/site-packages/h5py/_hl/dataset.py", "__getitem__", "__setitem__"),
        ("/x/site-packages/numpy/lib/_npyio_impl.py", "loadtxt", "savetxt"),
    ],
)
def test_who_reads_a_file_gets_data_ready_and_who_writes_one_does_not(file, reads, writes):
    assert MARKERS.doing(file, reads) == "input"
    assert MARKERS.doing(file, writes) is None


def stack_in(*files, of_user=lambda filename: None):
    """The stack in a function of the last of these files, which that of the one before has called."""
    call = sys._getframe
    for file in reversed(files):
        names = {"call": call}
        exec(compile("def f(): return call()", file, "exec"), names)
        call = names["f"]
    return read(call(), of_user, MARKERS)


IMPORTS, DEBUGGER = "<frozen importlib._bootstrap>", "/usr/lib/site-packages/pdb.py"


def test_a_debugger_that_is_imported_debugs_nothing_and_one_that_imports_does():
    assert stack_in(IMPORTS, DEBUGGER).doing == "importing"
    assert stack_in(DEBUGGER, IMPORTS).doing == "profiler"
    mine = {"mine.py": 0}.get
    assert stack_in(IMPORTS, "mine.py", DEBUGGER, of_user=mine).doing == "profiler", (
        "the user's module does it"
    )


def test_a_framework_that_is_being_imported_has_its_rules_and_no_backend(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlx.core", sys)
    monkeypatch.setattr(registry, "_backends", {})
    assert "mlx" in registry.imported_or_importing()
    assert registry.created_backends() == ()
    Runtime()._markers.refresh()
    assert registry._backends == {}, "its import takes a while, which no look has"


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


def test_a_function_that_torch_has_compiled_is_of_torch_though_it_says_it_is_the_user_s(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    places = []

    def here():
        places.append(read(sys._getframe(2), {filename: 1}.get, MARKERS).users)

    names = {"__name__": "torch._dynamo.eval_frame", "here": here}
    exec("def compiled(): here()", names)
    names["compiled"].__module__ = "__main__"
    with run_as_cell("step()", step=names["compiled"]) as (run, filename):
        run()
        assert call_at(places[0]) == Call("step", "torch._dynamo.eval_frame")


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
    code = "def f():\n    thing = Thing()\n    gone.append(ref(thing))\n    sleep(0.8)\nf()\n"
    gc.disable()  # what only a collection lets go of was kept alive
    try:
        assert seen(sampler, code, Thing=Thing, gone=gone, ref=weakref.ref, sleep=time.sleep).samples > 1
        assert gone[0]() is None
    finally:
        gc.enable()


class SamplerByHand:
    """A sampler that looks when the test does."""

    def add(self, sample, *_):
        self.sample = sample
        return lambda: None


def test_a_ctrl_c_at_the_end_of_a_cell_leaves_the_samplers_thread_free():
    sampler, lines = SamplerByHand(), 0
    watches = [watch(sampler)]
    for _ in interrupted_at_each_line(lambda: watches[-1].finish(), sys.modules[StackSampler.__module__]):
        lines += 1
        looking = threading.Thread(target=sampler.sample, daemon=True)
        looking.start()
        looking.join(10.0)
        assert not looking.is_alive(), f"interrupted at line {lines} of them"
        watches.append(watch(sampler))
    assert lines > 5


FAILS = "import time\ntime.sleep(0.3)\n"


def seen_until_an_exception(sampler, code, shown_in, *, goes_on=False):
    """What was seen of code that fails, where somebody shows its exception for so many seconds."""
    with run_as_cell(code) as (run, filename):
        watching = watch(sampler, {filename: 7}.get)
        run()
        watching.code_may_end()
        over = time.perf_counter() + shown_in
        while time.perf_counter() < over:
            pass
        return watching.finish(code_ended=not goes_on)


def test_what_comes_after_the_exception_that_ends_the_code_is_not_seen(sampler):
    activity = seen_until_an_exception(sampler, FAILS, 0.6)
    assert activity.seconds < 0.45
    assert most(activity).state.startswith("idle")
    assert activity.thread_time < 0.2
    assert sum(spent.seconds for spent in activity.lane.spent) < 0.45


def test_code_that_goes_on_after_an_exception_was_shown_is_seen_to_its_end(sampler):
    activity = seen_until_an_exception(sampler, FAILS, 0.6, goes_on=True)
    assert activity.seconds > 0.8
    assert sum(part.seconds for part in (*activity.parts, *activity.unsampled_in)) > 0.4, "more than it slept"


def test_code_that_fails_before_the_first_look_was_too_short_however_long_its_traceback_takes(sampler):
    assert seen_until_an_exception(sampler, "x = 1\n", 0.6) is None


def test_code_that_kept_the_lock_until_it_failed_is_told_of_by_its_clock_alone(sampler):
    activity = seen_until_an_exception(sampler, "total = sum(range(20_000_000))\n", 0.6)
    assert activity.unsampled > 0.5 * activity.seconds
    assert activity.seconds < 1.5
    assert {part.call.text for part in activity.unsampled_in if part.call} <= {"sum"}
