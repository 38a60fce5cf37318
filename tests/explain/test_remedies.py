"""What a receipt advises fits what was called, and can be followed."""

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.judge import with_limit
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.activity import activity, part

pytestmark = pytest.mark.small


def record_of(framework: str | None, outcome: str = "ok"):
    record = example_record(1)
    ran = (
        ()
        if framework is None
        else (RanOn(framework, "cpu:0", "cpu", None, None, None, None, "only device"),)
    )
    return replace(record, outcome=outcome, device=replace(record.device, ran_on=ran))


def advice(*parts, framework="torch", outcome="ok") -> str | None:
    return with_limit(record_of(framework, outcome), activity(*parts)).limit.next


@pytest.mark.parametrize("state", ["interpreter", "idle", "native"])
def test_a_data_loader_is_told_to_index_batches_or_to_use_workers(state):
    told = advice(part(state, doing="loader"))
    assert "index whole batches" in told
    assert "num_workers" in told


def test_other_input_is_told_to_prepare_data_ahead():
    assert "other threads or processes" in advice(part("idle", doing="input"))


@pytest.mark.parametrize("doing", ["input", None])
def test_predict_in_a_loop_is_told_to_call_the_model(doing):
    predicting = part("short calls", calls="model.predict", module="keras.src.models.sequential", doing=doing)
    assert "`model(x)`" in advice(predicting, framework="tensorflow")


def test_a_predict_of_another_library_is_not_told_of_keras():
    predicting = part("short calls", calls="model.predict", module="torch.something", doing="input")
    assert "`model(x)`" not in advice(predicting)


@pytest.mark.parametrize(("framework", "profiled"), [("torch", True), (None, False)])
def test_only_operations_of_a_framework_with_a_profiler_are_to_be_profiled(framework, profiled):
    computing = part("native", calls="np.sort", module="numpy")
    told = advice(computing, framework=framework)
    assert ("--ops" in told) == profiled
    assert ("jupyter_mlgpu.trace(name)" in told) == (not profiled)


def test_of_mlx_layers_are_to_be_profiled_and_other_parts_are_to_be_timed_with_what_computes_them():
    told = advice(part("native", calls="mx.eval", module="mlx.core"), framework="mlx")
    assert "`%%mlc_trace --ops` at the top of the cell times layers of `mlx.nn`" in told
    assert "`with jupyter_mlgpu.trace(name):` and end it with `mx.eval`" in told


def test_a_loop_in_the_cell_is_to_be_replaced_or_profiled_as_a_cell():
    told = advice(part("interpreter", module="builtins"))
    assert told.startswith("Replace the loop")
    assert "`%%prun` at the top of the cell" in told


def test_python_code_of_a_library_is_to_be_profiled_for_nobody_sees_a_loop():
    told = advice(part("interpreter", calls="sympy.simplify", module="sympy.simplify.simplify"))
    assert "loop" not in told
    assert "`%%prun` at the top of the cell" in told


def test_a_failed_cell_is_told_nothing_beside_its_exception():
    looping = part("interpreter", module="builtins")
    assert advice(looping, outcome="error") is None
    assert advice(looping, outcome="interrupted") is not None
