"""MLX is lazy: what it has not computed yet, which cell computed it, and the times of its layers."""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from types import ModuleType

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.mlx.backend import MlxBackend
from jupyter_mlgpu.measure.frameworks.mlx.unevaluated import UnevaluatedWork, can_tell
from jupyter_mlgpu.measure.ops.profiler import Refused
from jupyter_mlgpu.measure.ops.table import rows
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.testing import FakeClock

pytestmark = pytest.mark.needs("mlx")


@pytest.fixture(scope="module")
def mx():
    import mlx.core as mx
    import mlx.nn  # noqa: F401

    return mx


@pytest.fixture
def work(mx):
    if not can_tell():
        pytest.skip("this version of MLX does not tell what it has not computed")
    return UnevaluatedWork()


@contextmanager
def timed():
    """The times of the layers that are called inside: an object whose `profile` is there afterwards."""

    class Result:
        profile = None

    result, session = Result(), registry.profiler("mlx").start()
    try:
        yield result
        result.profile = session.stop()
    finally:
        session.abandon()


def times(profile):
    return {(row.name, row.type): row.count for row in rows(profile)}


# What is not computed yet.


def test_what_a_cell_did_not_compute_is_named(mx, work):
    lazy, computed = mx.ones((4, 4)) + 1, mx.ones((4, 4)) + 1
    mx.eval(computed)
    left = work.cell_ended({"lazy": lazy, "computed": computed, "n": 3, "constant": mx.array([1, 2])}, 1).left
    assert left == ("lazy",)


def test_to_ask_computes_nothing(mx, work):
    lazy = mx.ones((1000, 1000)) + 1
    before = mx.get_active_memory()
    work.cell_ended({"lazy": lazy}, 1)
    work.cell_begins()
    assert mx.get_active_memory() - before < 1000


def test_the_next_cell_tells_whose_work_it_computed(mx, work):
    x = mx.ones((4, 4)) + 1
    values = {"x": x}
    assert work.cell_ended(values, 3).left == ("x",)
    work.cell_begins()
    print(x)
    told = work.cell_ended(values, 4)
    assert told.left == ()
    sentence = told.computed[3]
    assert "what cell [3] had asked for (`x`)" in sentence
    assert "`mx.eval(x)`" in sentence


def test_a_cell_that_only_names_it_neither_asked_for_it_nor_computed_it(mx, work):
    x = mx.ones((4, 4)) + 1
    work.cell_ended({"x": x}, 3)
    work.cell_begins()
    assert x.shape == (4, 4)
    told = work.cell_ended({"x": x}, 4)
    assert (told.left, told.computed) == ((), {})


def test_what_something_else_computed_between_two_cells_is_no_cells_work(mx, work):
    x = mx.ones((4, 4)) + 1
    work.cell_ended({"x": x}, 3)
    mx.eval(x)  # a browser's list of variables, for example
    work.cell_begins()
    assert work.cell_ended({"x": x}, 4).computed == {}


def test_an_array_that_was_dropped_is_not_kept_and_says_nothing(mx, work):
    import weakref

    x = mx.ones((4, 4)) + 1
    dropped = weakref.ref(x)
    work.cell_ended({"x": x}, 3)
    del x
    assert dropped() is None
    work.cell_begins()
    assert work.cell_ended({}, 4).computed == {}


def test_the_weights_of_a_model_and_what_containers_hold_are_found(mx, work):
    from mlx import nn

    model, batches = nn.Linear(4, 4), [{"x": (mx.ones(3) + 1,)}]
    assert work.cell_ended({"model": model, "batches": batches}, 1).left == ("model", "batches")
    mx.eval(model.parameters(), batches)
    assert len(work.cell_ended({}, 2).computed) == 1
    assert work.cell_ended({"model": model, "batches": batches}, 3).left == ()


def test_no_code_of_the_users_runs(mx, work):
    from mlx import nn

    class Evil(nn.Module):
        def values(self):
            raise SystemExit("values was called")

        items = __iter__ = __len__ = values

    class Untouchable:
        def __getattribute__(self, name):
            raise SystemExit(f"{name} was asked for")

    work.cell_ended({"evil": Evil(), "x": Untouchable(), "y": [Untouchable()]}, 1)


def test_a_list_that_contains_itself_ends(mx, work):
    endless = []
    endless.append(endless)
    assert work.cell_ended({"endless": endless}, 1).left == ()


def test_without_the_question_nothing_is_said(mx, work, monkeypatch):
    monkeypatch.delattr(mx, "get_array_buffer_size")
    assert work.cell_ended({"x": mx.ones(3) + 1}, 1) is None


# Where it ran.


def observed(run):
    observation = registry.backend("mlx").observe()
    kept = run()
    found = observation.finish()
    del kept
    return found


def test_a_cell_that_computed_ran_on_the_only_device(mx):
    def run():
        x = mx.ones((200, 200)) + 1
        mx.eval(x)
        return x

    (entry,) = observed(run).ran_on
    assert (entry.device, entry.evidence) == ("cpu:0", "only device")


def test_constants_of_an_expression_do_not_show_that_it_was_computed(mx):
    found = observed(lambda: [mx.zeros((500, 500)) * 2 + number for number in range(50)])
    assert found.ran_on is None
    assert found.only == "cpu:0"
    assert "only when a value is needed" in found.why_missing


def test_what_the_user_reads_of_peaks_and_limits_is_what_it_would_be_without_us(mx):
    mx.reset_peak_memory()
    x = mx.ones((300, 300)) + 1
    mx.eval(x)
    peak = mx.get_peak_memory()
    assert peak >= x.nbytes
    limit = mx.set_memory_limit(1 << 34)
    observed(lambda: None)
    assert mx.get_peak_memory() == peak
    assert mx.set_memory_limit(limit) == 1 << 34
    observed(mx.reset_peak_memory)
    assert mx.get_peak_memory() < peak


def test_on_a_mac_without_a_metal_device_the_record_says_so(mx, work, monkeypatch):
    def fails(*_):
        raise RuntimeError("[metal::load_device] No Metal device available.")

    for name in ("get_active_memory", "get_cache_memory", "get_peak_memory", "get_array_buffer_size"):
        monkeypatch.setattr(mx, name, fails)
    backend = MlxBackend()
    recorder = Recorder(new_run(None), clock=FakeClock(), probes=(), backends=lambda: [backend], versions={})
    record = recorder.start("cell").stop()
    assert "No Metal device available" in record.device.why_missing
    assert not backend.open
    assert work.cell_ended({"x": mx.ones(3)}, 1).left == ()


@pytest.mark.parametrize("state", ["half imported", "no module"])
def test_mlx_that_is_not_there_yet_is_left_alone(state, monkeypatch):
    core = ModuleType("mlx.core") if state == "half imported" else object()
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    assert not registry.backend("mlx").loaded()
    assert registry.backend("mlx") not in registry.created_backends()


def test_mlx_that_a_thread_imports_is_observed_from_the_next_cell_on(mx):
    backend = MlxBackend()
    recorder = Recorder(new_run(None), clock=FakeClock(), probes=(), backends=lambda: [], versions={})
    cell = recorder.start("cell")
    thread = threading.Thread(target=recorder.framework_loaded, args=(backend,))
    thread.start()
    thread.join()
    assert cell.stop().device.ran_on is None
    assert not backend.open


# Times of layers.


def model(nn):
    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(8, 8)

        def __call__(self, x, *, layer=None):
            return nn.relu(self.inner(x))

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.blocks = [Block(), Block()]
            self.out = nn.Linear(8, 2)

        def __call__(self, x):
            for block in self.blocks:
                x = block(x, layer="a name that our own function might have")
            return self.out(x)

    return Model()


def test_each_layer_has_a_row_with_its_name_in_the_model(mx):
    from mlx import nn

    made = model(nn)
    with timed() as result:
        for _ in range(3):
            made(mx.ones((4, 8)))
    assert times(result.profile) == {
        ("Model", "Model"): 3,
        ("blocks.0", "Block"): 3,
        ("blocks.0.inner", "Linear"): 3,
        ("blocks.1", "Block"): 3,
        ("blocks.1.inner", "Linear"): 3,
        ("out", "Linear"): 3,
    }
    assert not result.profile.problems
    assert all(row.device == "layers" and row.share is None for row in rows(result.profile))
    assert "no GPU time" in result.profile.why_no_device_time


def test_what_a_layer_returns_is_computed_before_its_time_ends(mx, work):
    from mlx import nn

    made = nn.Linear(1000, 1000)
    mx.eval(made.parameters())
    x = mx.ones((1000, 1000))
    with timed() as result:
        y = made(x)
    (event,) = result.profile.events
    assert work.cell_ended({"y": y}, 1).left == ()
    assert event.duration_ns > 1_000_000


def test_methods_are_put_back_also_after_an_exception(mx):
    from mlx import nn

    before = {kind: vars(kind)["__call__"] for kind in (nn.Linear, nn.Conv2d)}
    first = nn.Module.__init__
    with pytest.raises(RuntimeError), timed():
        raise RuntimeError(f"replaced: {vars(nn.Linear)['__call__'] is not before[nn.Linear]}")
    assert {kind: vars(kind)["__call__"] for kind in before} == before
    assert nn.Module.__init__ is first


def test_what_a_layer_raises_is_the_users_own(mx):
    from mlx import nn

    class Fails(nn.Module):
        def __call__(self, x):
            raise KeyError("mine")

    with timed() as result, pytest.raises(KeyError, match="mine"):
        Fails()(mx.ones(3))
    assert result.profile is None or not result.profile.events


def test_a_class_of_the_cell_itself_is_timed(mx):
    from mlx import nn

    with timed() as result:
        model(nn)(mx.ones((4, 8)))
    assert ("blocks.0", "Block") in times(result.profile)


def test_training_is_timed_under_value_and_grad_and_gives_the_same_gradients(mx):
    from mlx import nn

    made, x = model(nn), mx.ones((4, 8))
    step = nn.value_and_grad(made, lambda made, x: made(x).sum())
    _, plain = step(made, x)
    with timed() as result:
        _, gradients = step(made, x)
    assert ("out", "Linear") in times(result.profile)
    assert mx.array_equal(plain["out"]["weight"], gradients["out"]["weight"])
    assert mx.array_equal(plain["blocks"][0]["inner"]["weight"], gradients["blocks"][0]["inner"]["weight"])


def test_calls_that_mlx_compiles_are_left_out_and_counted(mx):
    from mlx import nn

    made, x = model(nn), mx.ones((4, 8))
    compiled = mx.compile(lambda x: made(x))
    expected = made(x)
    with timed() as result:
        found = compiled(x)
    assert mx.allclose(found, expected)
    assert not result.profile.events
    (told,) = result.profile.problems
    assert told.startswith("6 calls of layers were not timed: nothing can be computed inside mx.compile")


def test_a_cell_without_layers_says_so(mx):
    with timed() as result:
        mx.eval(mx.ones(3) + 1)
    (told,) = result.profile.problems
    assert told.startswith("No call of a layer of `mlx.nn` was seen in this cell")


def test_without_layers_at_all_it_says_what_helps(mx, monkeypatch):
    monkeypatch.delitem(sys.modules, "mlx.nn")
    refused = registry.profiler("mlx").start()
    assert isinstance(refused, Refused)
    assert refused.reason.startswith("MLX has no profiler, so there are no times per operation: ")
    assert "jupyter_mlgpu.trace(name)" in refused.reason
    assert "mx.eval" in refused.reason


def test_a_method_that_the_user_replaces_meanwhile_is_left_to_them(mx):
    from mlx import nn

    class Layer(nn.Module):
        def __call__(self, x):
            return x

    def other(self, x):
        return x + 1

    with timed():
        Layer.__call__ = other
    assert Layer.__call__ is other
