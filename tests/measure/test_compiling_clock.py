"""What JAX says of its compiling is added up: each moment once, of one thread, while somebody hears."""

import sys
import threading
from types import ModuleType, SimpleNamespace

import pytest

from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.frameworks.jax import compiling
from jupyter_mlgpu.measure.frameworks.jax.compiling import CompilingClock

pytestmark = pytest.mark.small

TRACE = "/jax/core/compile/jaxpr_trace_duration"
PROGRAM = "/jax/core/compile/backend_compile_duration"


class FakeMonitoring(SimpleNamespace):
    """`jax.monitoring`: listeners, and a way to tell them of a phase that ends now."""

    def __init__(self):
        super().__init__(listeners=[])

    def register_event_duration_secs_listener(self, listener):
        self.listeners.append(listener)

    def unregister_event_duration_listener(self, listener):
        self.listeners.remove(listener)

    def get_event_duration_listeners(self):
        return list(self.listeners)

    def ends(self, event, seconds):
        for listener in self.listeners:
            listener(event, seconds, fun_name="step")


@pytest.fixture
def jax(monkeypatch):
    made = FakeMonitoring()
    modules = {name: ModuleType(name) for name in ("jax", "jax._src")}
    for module in modules.values():
        module.monitoring = made
    for name, module in {**modules, "jax._src.monitoring": made}.items():
        monkeypatch.setitem(sys.modules, name, module)
    return made


@pytest.fixture
def time(monkeypatch):
    clock = SimpleNamespace(now=100.0)
    monkeypatch.setattr(compiling, "real_time", SimpleNamespace(perf_counter=lambda: clock.now))
    return clock


def test_nothing_is_told_before_somebody_listens(jax):
    assert CompilingClock().compiled() is None


def test_phases_add_up_and_one_within_another_counts_once(jax, time):
    clock = CompilingClock()
    clock.listen()
    assert clock.compiled() == Compiled(0.0, 0)
    time.now = 101.0
    jax.ends(PROGRAM, 0.25)  # a constant, while the function around it is traced
    time.now = 102.0
    jax.ends(TRACE, 1.5)
    time.now = 105.0
    jax.ends(PROGRAM, 2.5)
    jax.ends("/jax/compilation_cache/cache_retrieval_time_sec", 2.0)
    assert clock.compiled() == Compiled(4.0, 2)


def test_another_thread_s_compiling_is_not_what_the_cell_waits_for(jax):
    clock = CompilingClock()
    clock.listen()
    thread = threading.Thread(target=jax.ends, args=(PROGRAM, 1.0))
    thread.start()
    thread.join()
    assert clock.compiled() == Compiled(0.0, 0)


def test_it_listens_once_again_after_a_rest_and_where_the_user_has_cleared_all_listeners(jax):
    clock = CompilingClock()
    clock.listen()
    clock.listen()
    assert len(jax.listeners) == 1
    clock.release()
    assert jax.listeners == []
    clock.release()
    clock.listen()
    jax.ends(PROGRAM, 0.5)
    jax.listeners.clear()
    clock.listen()
    jax.ends(PROGRAM, 0.5)
    assert clock.compiled().programs == 2
