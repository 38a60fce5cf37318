"""What a receipt advises fits what was called, and can be followed."""

import re
from typing import get_args

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.judge import with_limit
from jupyter_mlgpu.explain.limits.remedies import remedy
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.limit import LimitKind
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.activity import activity, part

pytestmark = pytest.mark.small


#: Names that only users of a framework, or of a kind of GPU, can follow.
FRAMEWORK_NAMES = {
    "tensorflow": r"\btf\.|tensorflow|keras|steps_per_execution|jit_compile|model\.fit",
    "torch": r"\btorch\b|pytorch|dataloader|pin_memory|non_blocking|autocast",
    "jax": r"\bjax\b|\bjnp\b|donate_arg|block_until_ready|\blax\b",
    "mlx": r"\bmx\.|\bmlx\b",
}
DEVICE_NAMES = {
    "cuda": r"cuda|nvidia|pin_memory|non_blocking",
    "metal": r"\bmps\b|metal|\bmac\b",
}

CAUSES = sorted({*get_args(LimitKind), "earlier", "importing"})


def record_of(framework: str | None, outcome: str = "ok", kind: str = "cpu"):
    record = example_record(1)
    device = "cpu:0" if kind == "cpu" else "gpu:0"
    ran = (
        () if framework is None else (RanOn(framework, device, kind, None, None, None, None, "only device"),)
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


@pytest.mark.parametrize(
    ("framework", "module", "profiled"),
    [
        ("torch", "torch", True),
        ("torch", "__main__", True),
        ("torch", "numpy", False),
        (None, "numpy", False),
        (None, "torch", True),
    ],
)
def test_only_operations_of_a_framework_with_a_profiler_are_to_be_profiled(framework, module, profiled):
    computing = part("native", calls="sort", module=module)
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


@pytest.mark.parametrize("cause", CAUSES)
@pytest.mark.parametrize("kind", ["cpu", "cuda", "rocm", "metal"])
@pytest.mark.parametrize("framework", registry.OWN)
def test_advice_names_only_what_its_framework_and_device_have(framework, kind, cause):
    record = record_of(framework, kind=kind)
    of_framework = part("native", calls="run", module=f"{framework}.something")
    for parts in ((), (of_framework,), (part("idle", calls="run", module=framework, doing="loader"),)):
        if framework != "torch" and parts and parts[0].doing == "loader":
            continue  # only PyTorch has a loader
        told = str(remedy(cause, record, parts))
        foreign = [names for name, names in FRAMEWORK_NAMES.items() if name != framework]
        foreign += [
            names for name, names in DEVICE_NAMES.items() if name != kind and (name, kind) != ("cuda", "rocm")
        ]
        assert not [found for names in foreign if (found := re.search(names, told, re.IGNORECASE))], told
        assert "--ops" not in told or registry.framework(framework).profiler is not None
        assert "torch.compile" not in told or kind != "metal" or cause == "compiling"


@pytest.mark.parametrize("cause", CAUSES)
def test_without_a_known_framework_no_frameworks_names_are_advised(cause):
    told = str(remedy(cause, record_of(None)))
    assert not [names for names in FRAMEWORK_NAMES.values() if re.search(names, told, re.IGNORECASE)], told


@pytest.mark.parametrize("framework", registry.OWN)
def test_a_framework_lists_remedies_only_for_limits_and_devices_that_exist(framework):
    for key in registry.framework(framework).remedies:
        kind, _, device = key.partition(" on ")
        assert kind in (*get_args(LimitKind), "loader", "values")
        assert device in ("", "cpu", "cuda", "rocm", "metal")


def test_small_operations_of_numpy_are_not_told_to_use_the_framework_of_the_cell():
    told = str(remedy("launch", record_of("torch"), (part("short calls", calls="np.add", module="numpy"),)))
    assert "torch" not in told


def test_the_framework_whose_calls_took_the_time_is_the_one_advised():
    of_jax = part("short calls", calls="jnp.add", module="jax.numpy")
    assert "jax.jit" in str(remedy("launch", record_of(None), (of_jax,)))


def test_files_that_pandas_reads_are_not_told_of_a_frameworks_pipeline():
    reading = part("native", calls="pd.read_csv", module="pandas.io", doing="input")
    assert "tf.data" not in str(remedy("input", record_of("tensorflow"), (reading,)))
