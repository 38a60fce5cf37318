"""Whether a race's first run used PyTorch, which counts nothing by itself."""

from __future__ import annotations

import os
import threading
import warnings
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from jupyter_mlgpu.experiment.race import cell
from jupyter_mlgpu.experiment.race.result import Lane
from jupyter_mlgpu.experiment.race.runner import RaceRunner
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import SystemClock
from tests.measure.contract.conftest import framework

pytestmark = pytest.mark.needs("torch")


@pytest.fixture(scope="module")
def torch() -> Any:
    torch = framework("torch")
    if torch.cuda.device_count():
        pytest.skip("PyTorch's profiler is left alone where there is a GPU")
    return torch


@pytest.fixture
def short_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_mlgpu.measure.frameworks.torch import counting

    monkeypatch.setattr(counting, "SLICE_S", 0.001)


def lane(body: str, **names: Any) -> Lane:
    """The CPU's lane in a race of a cell that finds `names`."""
    raced = cell.PlainCell(cell.from_source(body, "<cell>"), setup=None, variable=None)
    raced.namespace.update(names)
    backend = registry.backend("torch")
    runner = RaceRunner(backend, raced, sizes=(None,), repeats=1, clock=SystemClock())
    made, error = runner.lane(backend.devices()[0])
    assert error is None
    return made


def profiled(torch: Any, work: Any) -> list[str]:
    with torch.profiler.profile() as profile:
        work()
    return [event.name for event in profile.events()]


def test_a_product_of_numpy_arrays_is_no_work_of_pytorchs(torch):
    made = lane("y = x @ x", x=numpy.ones((50, 50)))
    assert (made.unused, made.use_known, made.notes) == (True, True, ())


def test_a_product_of_tensors_is(torch):
    made = lane("y = x @ x", x=torch.ones(50, 50))
    assert (made.unused, made.use_known, made.notes) == (False, True, ())


@pytest.mark.usefixtures("short_slices")
@pytest.mark.parametrize("when", ["before", "after"])
def test_of_a_single_operation_in_a_long_run_it_is_never_said_that_there_was_none(torch, when):
    numpys = "for _ in range(300): y = a @ a"
    steps = [numpys, "z = x @ x"] if when == "after" else ["z = x @ x", numpys]
    made = lane("\n".join(steps), x=torch.ones(5, 5), a=numpy.ones((100, 100)))
    # Between two profiles it may be missed, and then it is not said that there was none.
    assert not made.unused
    assert made.use_known or when == "after"


@pytest.mark.usefixtures("short_slices")
def test_a_long_run_is_not_said_to_have_none_for_one_may_have_been_missed(torch):
    made = lane("for _ in range(300): y = a @ a", a=numpy.ones((100, 100)))
    assert (made.unused, made.use_known) == (False, False)


def test_operations_of_other_threads_count(torch):
    x = torch.ones(5)

    def elsewhere() -> None:
        thread = threading.Thread(target=lambda: x + 1)
        thread.start()
        thread.join()

    assert not lane("elsewhere()", elsewhere=elsewhere).unused


def test_what_was_compiled_before_counts(torch):
    compiled = torch.compile(lambda x: x * 2 + 1, backend="aot_eager")
    x = torch.ones(5)
    compiled(x)
    assert not lane("compiled(x)", compiled=compiled, x=x).unused


def test_a_function_first_called_in_a_race_is_compiled_once_and_for_good(torch):
    graphs = []

    def backend(graph: Any, inputs: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    compiled = torch.compile(lambda x: x * 2 + 1, backend=backend)
    assert not lane("compiled(x)", compiled=compiled, x=torch.ones(5)).unused
    assert len(graphs) == 1


def test_gradients_are_computed_as_without_a_race(torch):
    w = torch.ones(3, requires_grad=True)
    made = lane("w.grad = None; (w * w).sum().backward()", w=w)
    assert not made.unused
    assert w.grad.tolist() == [2, 2, 2]


def test_a_profiler_of_the_users_own_keeps_its_events_and_then_nothing_is_known(torch):
    x = torch.ones(5)
    made = []
    assert "aten::add" in profiled(torch, lambda: made.append(lane("x + 1", x=x)) or x + 1)
    assert (made[0].unused, made[0].use_known) == (False, False)
    assert made[0].notes == ("cpu:0: If PyTorch ran anything, it ran on cpu:0.",)


@pytest.mark.parametrize(("before", "known"), [("x * x", True), ("0", False)])
def test_a_profiler_that_the_cell_begins_has_its_events(torch, before, known):
    seen: list[str] = []
    x = torch.ones(5)
    body = f"{before}\nseen += profiled(torch, lambda: x + 1)"
    made = lane(body, torch=torch, profiled=profiled, seen=seen, x=x)
    runs = made.timings[0].warmups + len(made.timings[0].samples)
    assert seen.count("aten::add") == runs
    assert "aten::mul" not in seen
    assert (made.unused, made.use_known) == (False, known)


def test_afterwards_nothing_of_it_is_left(torch):
    profiler = torch.autograd.profiler
    before = dict(vars(profiler)), set(threading.enumerate()), dict(os.environ)
    lane("y = x @ x", x=torch.ones(5, 5))
    assert (dict(vars(profiler)), set(threading.enumerate()), dict(os.environ)) == before
    assert "aten::add" in profiled(torch, lambda: torch.ones(5) + 1)


def test_another_version_whose_profiler_has_other_parts_leaves_it_unknown(torch, monkeypatch):
    parts = torch._C._profiler
    monkeypatch.setattr(parts, "_ExperimentalConfig", lambda: SimpleNamespace())
    made = lane("y = x @ x", x=torch.ones(5, 5))
    assert (made.unused, made.use_known) == (False, False)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_records_nothing(torch, capfd):
    def forks() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fork beside threads
            child = os.fork()
        if not child:
            torch.ones(5) + 1
            try:
                left = torch._C._autograd._disable_profiler().events()
            except RuntimeError:  # PyTorch 2.8 raises it where no profiler is on
                left = []
            os._exit(len(left))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    lane("forks()", forks=forks)
