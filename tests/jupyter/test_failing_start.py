"""Loading that fails half-way says why and leaves the kernel as it was found; unloading ends every part."""

import json

import pytest

from tests.jupyter.test_magics import STATE

pytestmark = pytest.mark.kernel

#: What is started, part after part: the kernel's expression of where the function stands, and its name.
PARTS = [
    ("ip", "register_magics"),
    ("type(ip.events)", "register"),
    ("hooks.PythonHooks", "start"),
    ("tap.Tap", "start"),
    ("capture_kernel.KernelEnvironment", "attach"),
    ("imports.ImportHook", "start"),
    ("atexit", "register"),
    ("store.Store", "subscribe"),
    ("widget_pages.WidgetPages", "open"),
    ("channel.KernelChannel", "open"),
]

ENDS = [
    ("live_counters.LiveCounters", "stop"),
    ("doctor_light.DoctorLight", "stop"),
    ("channel.KernelChannel", "close"),
    ("store.Store", "unsubscribe"),
    ("imports.ImportHook", "stop"),
    ("cell_callbacks.CellCallbacks", "unregister"),
    ("events.CellEvents", "stop"),
    ("commands.Commands", "restore_environment"),
]

IMPORTS = """
import atexit
from jupyter_mlgpu.measure import runtime; from jupyter_mlgpu.record import store
from jupyter_mlgpu.measure.frameworks import imports
from jupyter_mlgpu.measure.capture import hooks, tap
from jupyter_mlgpu.jupyter.notebook.browser import channel
from jupyter_mlgpu.jupyter.notebook.capture import capture_kernel
from jupyter_mlgpu.jupyter.notebook.cell import cell_callbacks
from jupyter_mlgpu.jupyter.notebook.magics import commands
from jupyter_mlgpu.jupyter.notebook import extension
from jupyter_mlgpu.jupyter.notebook.browser import doctor_light, live_counters, widget_pages
from jupyter_mlgpu.jupyter.notebook.cell import events
ip = get_ipython()
"""

#: Loads us while a function fails, `after` or before it has done its work: at its `times`-th call.
LOAD = (
    IMPORTS
    + """
place, name, after, times = {place}, {name!r}, {after}, [{times}]
original = getattr(place, name)
def fails(*arguments, **named):
    times[0] -= 1
    if times[0] == 0 and not after:
        raise RuntimeError("planted")
    done = original(*arguments, **named)
    if times[0] == 0:
        raise RuntimeError("planted")
    return done
setattr(place, name, fails)
try:
    extension.load(ip)
except RuntimeError as error:
    print(error, extension.loaded_in(ip), runtime.current() is before_us)
finally:
    setattr(place, name, original)
"""
)

#: Loads us, and unloads us while a function fails when it has done its work.
UNLOAD = (
    IMPORTS
    + """
place, name = {place}, {name!r}
original = getattr(place, name)
def fails(*arguments, **named):
    original(*arguments, **named)
    raise RuntimeError("planted")
setattr(place, name, fails)
extension.load(ip)
try:
    extension.unload(ip)
except RuntimeError as error:
    print(error, extension.loaded_in(ip))
finally:
    setattr(place, name, original)
"""
)


def state(notebook):
    """What loading changes, as `STATE` has it; and streams, descriptors, hooks and IPython's own lists."""
    found = notebook.run(STATE)
    assert found.status == "ok", found
    more = notebook.run("""
import logging, os, sys, warnings
ip = get_ipython()
print(
    [os.fstat(n).st_ino for n in (1, 2)], type(sys.stdout).__qualname__, type(sys.stderr).__qualname__,
    "send" in vars(ip.kernel.session), logging.Logger.callHandlers.__qualname__,
    warnings.showwarning.__name__, len(ip.configurables), sorted(ip.magics_manager.registry),
    len(sys.meta_path),
)
""")
    return json.loads(found.text), more.text


@pytest.fixture
def fresh(start_kernel):
    notebook = start_kernel(extension=False)
    # What importing alone brings (IPython's caches, atexit's callbacks) is not what loading has changed.
    notebook.run("%load_ext jupyter_mlgpu\n%unload_ext jupyter_mlgpu")
    notebook.run("from jupyter_mlgpu.measure import runtime\nbefore_us = runtime.current()")
    return notebook


def test_where_a_part_cannot_begin_the_kernel_is_as_it_was_found(fresh):
    before = state(fresh)
    for place, name in PARTS:
        for after in (False, True):
            for times in (1, 2) if name in ("register", "subscribe") and place != "atexit" else (1,):
                said = fresh.run(LOAD.format(place=place, name=name, after=after, times=times))
                assert said.text == "planted None True\n", (place, name, after, times, said)
                assert state(fresh) == before, (place, name, after, times)
    assert fresh.run("1").receipts == []
    fresh.run("%load_ext jupyter_mlgpu")
    assert len(fresh.run("1").receipts) == 1


def test_a_part_that_fails_to_end_keeps_no_other_from_ending(fresh):
    before = state(fresh)
    for place, name in ENDS:
        assert fresh.run(UNLOAD.format(place=place, name=name)).text == "planted None\n", (place, name)
        assert state(fresh) == before, (place, name)
